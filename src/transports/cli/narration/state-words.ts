import { claimTitle } from '../../../features/board/cli/index.ts';
import { type ArtefactState, type BoardClaimState, outstanding } from '../../../features/board/index.ts';
import type { ClaimState } from '../../../features/claims/index.ts';
import { type LockState, placeOf } from '../../../features/locks/index.ts';
import { filedPath, type TaskState } from '../../../features/queue/index.ts';
import type { SessionState } from '../../../features/sessions/index.ts';
import { type ApprovalState, statusAt } from '../../../features/trust/approvals/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { EntityRecord } from '../../../ledger/entity.ts';
import { isOver } from '../../../ledger/lease.ts';
import { plain } from '../output/text.ts';
import { shortId } from '../output/values.ts';

/** A record at one moment, described for people. */
interface Telling {
  title(record: EntityRecord): string;
  standing(state: JsonObject, at_ms: number): string;
}

const LONG_AGO = 'ran out';

function claimStanding(
  { lease, agent_role, stale_since_ms, escalation, converged }: ClaimState,
  at_ms: number,
) {
  if (lease !== undefined) {
    // Other programs write claims too, so no field is certain to exist.
    const holder = `${plain(lease.agent_id ?? 'somebody')}${agent_role === undefined ? '' : ` (${plain(agent_role)})`}`;
    if (isOver(lease, at_ms)) return `${LONG_AGO}, held by ${holder} until then`;
    const stale = stale_since_ms === undefined ? '' : ', silent';
    return `held by ${holder}${stale}${escalation === undefined ? '' : ', waits for a person'}`;
  }
  return converged === undefined ? 'free' : `converged by ${plain(converged.agent_id)}`;
}

function lockStanding(state: LockState, at_ms: number): string {
  const { leases, waiters } = placeOf(state);
  const held = leases.filter((lease) => !isOver(lease, at_ms));
  const who = (list: readonly { readonly agent_id: string; readonly pattern?: string | undefined }[]) =>
    list
      .map(({ agent_id, pattern }) => plain(pattern === undefined ? agent_id : `${agent_id} (${pattern})`))
      .join(', ');
  const waiting = waiters.length === 0 ? '' : `, waited for by ${who(waiters)}`;
  if (held.length > 0) return `held by ${who(held)}${waiting}`;
  return leases.length > 0 ? `${LONG_AGO}, held by ${who(leases)} until then${waiting}` : `free${waiting}`;
}

function taskStanding({ status, lease, file }: TaskState): string {
  if (file !== undefined && status === 'filed')
    return `${file.status.replace('_', ' ')}, ${plain(file.agent)}’s, in ${plain(filedPath(file))}`;
  return lease === undefined || status !== 'claimed' ? plain(status) : `claimed by ${plain(lease.agent_id)}`;
}

function boardClaimStanding(state: BoardClaimState): string {
  const { status, awaited, termination_reason } = state;
  const who = [...outstanding(state), ...(status === 'pending_review' ? awaited : [])].map(plain).join(', ');
  if (termination_reason !== undefined) return `${status}: ${plain(termination_reason)}`;
  return who === '' ? status : `${status}, waits for ${who}`;
}

/** Each state was built by the fold of its kind. */
const TELLINGS: Readonly<Record<string, Telling>> = {
  claim: {
    title: ({ state }) => `${plain(state.feature ?? '')} ${plain(state.edge ?? '')}`,
    standing: (state, at_ms) => claimStanding(state as unknown as ClaimState, at_ms),
  },
  lock: {
    title: ({ id }) => plain(id),
    standing: (state, at_ms) => lockStanding(state as unknown as LockState, at_ms),
  },
  task: {
    title: ({ id, state }) => `${plain(id)} ${plain(state.task_type ?? '')}`,
    standing: (state) => taskStanding(state as unknown as TaskState),
  },
  session: {
    title: ({ id }) => plain(id.replace('\n', ' / ')),
    standing: (state) =>
      (state as unknown as SessionState).ended_at_ms === undefined
        ? 'here'
        : `gone (${plain(state.end_reason ?? '')})`,
  },
  artefact: {
    title: ({ id, state }) => `${plain(state.type ?? '')} ${shortId(id)}`,
    standing: (state) => {
      const { version, produced_by_agent } = state as unknown as ArtefactState;
      return `version ${version} by ${plain(produced_by_agent)}`;
    },
  },
  board_claim: {
    title: ({ state }) => claimTitle(state as unknown as BoardClaimState),
    standing: (state) => boardClaimStanding(state as unknown as BoardClaimState),
  },
  approval: {
    title: ({ id }) => plain(id),
    standing: (state, at_ms) => statusAt(state as unknown as ApprovalState, at_ms),
  },
};

/** Internal bookkeeping: not shown to people unless they ask for it by name. */
export const BOOKKEEPING: ReadonlySet<string> = new Set([
  'lock_folders',
  'work_line',
  'work_holder',
  'session_changes',
  'notice',
  'thread',
  'violation_count',
  'usage',
  'calls',
]);

function tellingOf(kind: string): Telling | undefined {
  return Object.hasOwn(TELLINGS, kind) ? TELLINGS[kind] : undefined;
}

export function titleOf(record: EntityRecord): string {
  return tellingOf(record.kind)?.title(record) ?? plain(record.id);
}

/** Undefined: no short description exists, only its fields. */
export function standingOf({ kind, state }: EntityRecord, at_ms: number): string | undefined {
  return tellingOf(kind)?.standing(state, at_ms);
}
