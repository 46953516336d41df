import { answerOf } from '../../ledger/decision.ts';
import type { InternalCommand } from '../../runtime/operation.ts';
import type { NewChangeset } from '../changesets/index.ts';
import { rulesFor } from '../trust/rules/index.ts';
import { concludeRemote, receiveChange as receive, setVerificationPolicies } from './commands.ts';
import type { RemoteOutcome } from './execute.ts';
import type { ChangeSeen } from './route-changeset.ts';
import type { VerificationPolicy } from './verification-policy.ts';

// What transports do with what they have seen or read themselves. Not in the list of operations: no client can ask for it.

const INNER = { group: 'verification', mutates: true } as const;

export interface ReceivedChange {
  /** Of a changeset that is there, or made from what makes it this change and no other. */
  changeset_id: string;
  changeset: NewChangeset;
  seen: ChangeSeen;
  force?: boolean | undefined;
  operation_id?: string | undefined;
}

/** A commit or a push that a transport has seen is kept and routed to verification. */
export const receiveChange = {
  ...INNER,
  name: 'receive_change',
  async handle({ changeset_id, changeset, seen, force }, step) {
    const { default_trust } = rulesFor(step);
    const routing = { seen, force, is_person: step.authority === 'person', default_trust };
    return answerOf(await step.run(receive(changeset_id, step.caller, changeset, routing)));
  },
} satisfies InternalCommand<ReceivedChange>;

/** What GitHub says came of a run. */
export const concludeRun = {
  ...INNER,
  name: 'conclude_run',
  handle: async ({ run_id, outcome }, step) => answerOf(await step.run(concludeRemote(run_id, outcome))),
} satisfies InternalCommand<{ run_id: string; outcome: RemoteOutcome; operation_id?: string | undefined }>;

/** All policies of a file at once. */
export const applyVerificationPolicies = {
  ...INNER,
  name: 'apply_verification_policies',
  trust: 4,
  async handle({ policies }, step) {
    return answerOf(await step.run(setVerificationPolicies(policies, step.caller.agent_id)));
  },
} satisfies InternalCommand<{ policies: readonly VerificationPolicy[] }>;
