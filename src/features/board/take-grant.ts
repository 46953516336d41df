import { isoTime } from '../../kernel/clock.ts';
import { uuidFromKey } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { Caller } from '../../ledger/lease.ts';
import {
  type BoardClaimRecord,
  type BoardClaimState,
  type BoardGrant,
  boardClaimEvent,
  boardClaimKey,
  grantTo,
  isOutstanding,
} from './board-claim.ts';
import { notGranted, unknownBoardClaim } from './deliver-artefact.ts';

export interface TakeGrant {
  readonly claim_id: string;
  readonly caller: Caller;
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  /** It waits for its turn: its time has not started, and a process that can start it sooner may do so. */
  readonly queued?: boolean | undefined;
  /** It is taken, but its time has not started: its files are not free yet. */
  readonly preparing?: boolean | undefined;
  /** The session that held it and is known to be dead. */
  readonly instead_of?: string | undefined;
}

/**
 * Called before an agent's command is run, and regularly while it runs, so that no other process runs it
 * meanwhile.
 */
export function takeGrant(command: TakeGrant): Decision<JsonObject> {
  const { claim_id, caller, host, pid, queued, preparing, instead_of } = command;
  const { agent_id, session_id } = caller;
  return withGrant(claim_id, agent_id, (record, grant, now_ms) => {
    const { taken } = grant;
    const isOthers =
      taken !== undefined &&
      taken.queued !== true &&
      taken.session_id !== session_id &&
      now_ms < taken.until_ms;
    if (isOthers && taken.session_id !== instead_of) {
      const { until_ms, ...who } = taken;
      return refused(
        refuse('grant_taken', `Another process works on ${agent_id}'s part of claim ${claim_id}.`, {
          claim_id,
          ...who,
          until: isoTime(until_ms),
        }),
      );
    }
    const until_ms = now_ms + limits.grant_lease_ms;
    const next: BoardGrant = {
      ...grant,
      ...timesOf(grant, queued !== true && preparing !== true, until_ms, now_ms),
      taken: { session_id, host, pid, queued, preparing, until_ms },
    };
    const event = takenEvent(record, agent_id, next);
    return commit([event], { success: true, ...grantAnswer(record, next) });
  });
}

/**
 * The limit counts from the start of the work. While the grant waits in the queue of a live process, no time
 * is lost.
 */
function timesOf(grant: BoardGrant, begins: boolean, until_ms: number, now_ms: number) {
  if (grant.started_at_ms !== undefined) return {};
  if (!begins) return { deadline_ms: until_ms + grant.limit_ms };
  return { started_at_ms: now_ms, deadline_ms: now_ms + grant.limit_ms };
}

/** Neither done nor failed: the next process starts it anew. */
export function returnGrant({
  claim_id,
  caller,
}: Pick<TakeGrant, 'claim_id' | 'caller'>): Decision<JsonObject> {
  const { agent_id, session_id } = caller;
  return withGrant(claim_id, agent_id, (record, grant, now_ms) => {
    if (grant.taken?.session_id !== session_id)
      return refused(refuse('not_held', `This process does not work on claim ${claim_id}.`, { claim_id }));
    const { taken: _, started_at_ms: __, ...rest } = grant;
    const event = takenEvent(record, agent_id, { ...rest, deadline_ms: now_ms + grant.limit_ms });
    return commit([event], { success: true, claim_id, returned: true });
  });
}

function withGrant(
  claim_id: string,
  agent_id: string,
  decide: (
    record: BoardClaimRecord,
    grant: BoardGrant,
    now_ms: number,
  ) => ReturnType<Decision<JsonObject>['decide']>,
): Decision<JsonObject> {
  const key = boardClaimKey(claim_id);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const record = loaded.get<BoardClaimState>(key) as BoardClaimRecord | undefined;
      if (record === undefined) return refused(unknownBoardClaim(claim_id));
      const grant = grantTo(record.state, agent_id);
      if (grant === undefined || !isOutstanding(record.state, agent_id))
        return refused(notGranted(record, agent_id));
      return decide(record, grant, now_ms);
    },
  };
}

function takenEvent({ id }: BoardClaimRecord, agent_id: string, grant: BoardGrant): EventBody {
  return boardClaimEvent(id, 'grant_taken', { agent_id, grant: { ...grant } as unknown as JsonObject });
}

/** One name for one attempt at one grant, on any machine. */
export function runIdOf(claim_id: string, agent_id: string, attempt: number): string {
  return uuidFromKey(`board run\0${claim_id}\0${agent_id}\0${attempt}`);
}

export function grantAnswer({ id, state }: BoardClaimRecord, grant: BoardGrant): JsonObject {
  const { phase, role, attempt, granted_at_ms, deadline_ms, limit_ms } = grant;
  return {
    claim_id: id,
    artefact_id: state.artefact_id,
    artefact_type: state.artefact_type,
    phase,
    claim_type: phase === 'parallel' ? 'claim' : phase,
    rework: state.status === 'pending_assignment',
    role,
    attempt,
    granted_at: isoTime(granted_at_ms),
    deadline: isoTime(deadline_ms),
    limit_ms,
  };
}
