import type { JsonObject } from '../../kernel/json.ts';
import { type Command, type Commands, command, type Decision } from '../../ledger/decision.ts';
import type { Demand } from '../../runtime/access.ts';
import {
  type Consequence,
  decideApproval as decideDecideApproval,
  type PersonsDecision,
} from './approvals/decide-approval.ts';
import {
  claimNotice as decideClaimNotice,
  concludeNotice as decideConcludeNotice,
} from './approvals/notice.ts';
import {
  applyProfiles as decideApplyProfiles,
  assignProfile as decideAssignProfile,
  removeProfile as decideRemoveProfile,
  restoreTrust as decideRestoreTrust,
  setProfile as decideSetProfile,
  unassignProfile as decideUnassignProfile,
} from './change-rulebook.ts';
import { GOVERNED, governed } from './governed.ts';
import { guardOperation as decideGuardOperation, type Guard } from './guard-operation.ts';
import { reportUsage as decideReportUsage } from './usage.ts';

export const setProfile = command('set_profile', decideSetProfile);
export const removeProfile = command('remove_profile', decideRemoveProfile);
export const assignProfile = command('assign_profile', decideAssignProfile);
export const unassignProfile = command('unassign_profile', decideUnassignProfile);
export const restoreTrust = command('restore_trust', decideRestoreTrust);
export const applyProfiles = command('apply_profiles', decideApplyProfiles);
export const reportUsage = command('report_usage', decideReportUsage);
export const claimNotice = command('claim_notice', decideClaimNotice);
export const concludeNotice = command('conclude_notice', decideConcludeNotice);
export const guardOperation = command('guard_operation', (asked: Guard) => decideGuardOperation(asked));

const DECIDE_APPROVAL = 'decide_approval';
const GUARDED = 'guarded';

/** The subject of an approval is decided together with it, in the same commit. */
export function decideApproval(decided: PersonsDecision, consequence: Consequence): Decision<JsonObject> {
  const decision = decideDecideApproval(decided, consequence);
  return { ...decision, command: { name: DECIDE_APPROVAL, args: [decided] } };
}

/**
 * A decision with its dangerous part, judged in the same commit: it takes effect only together with what
 * permits it.
 */
export function guarded(asked: Guard, inner: Decision<JsonObject>): Decision<JsonObject> {
  const decision = decideGuardOperation(asked, inner);
  if (inner.command === undefined) return decision;
  return { ...decision, command: { name: GUARDED, args: [asked, inner.command] } };
}

type Build = (...args: never[]) => Decision<JsonObject>;

/** The commands that wrap another command, which they find by name among all commands. */
export function wrappingCommands(all: Commands, consequence: Consequence): Map<string, Build> {
  const inner = ({ name, args }: Command): Decision<JsonObject> => {
    const build = all.get(name);
    if (build === undefined || name === GOVERNED) throw new Error(`unknown command: ${name}`);
    return build(...(args as never[]));
  };
  return new Map<string, Build>([
    [DECIDE_APPROVAL, (decided: PersonsDecision) => decideDecideApproval(decided, consequence)],
    [GUARDED, (asked: Guard, wrapped: Command) => decideGuardOperation(asked, inner(wrapped))],
    [GOVERNED, (demand: Demand, wrapped: Command) => governed(inner(wrapped), demand)],
  ]);
}
