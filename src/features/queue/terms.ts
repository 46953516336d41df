import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { type Loaded, type Needs, prefixed } from '../../ledger/decision.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';
import { type Caller, isOver } from '../../ledger/lease.ts';
import { DUE, TASK, type TaskState } from './state.ts';

/**
 * What a team's rules say about handing out work to this caller. Plain JSON, because it travels with the
 * command.
 */
export interface Terms {
  /** How many tasks it may have claimed at once. */
  readonly at_most?: number | undefined;
  /** By author: the only agents that may review that author's work. */
  readonly reviewers?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** Counts an agent's claims, so that two of its sessions never both take the last one allowed. */
interface HolderState {
  claims: number;
}

const HOLDER = 'work_holder';

function holderKey({ agent_id }: Caller): EntityKey {
  return { kind: HOLDER, id: agent_id };
}

export const holderEntity: EntityType<HolderState> = {
  kind: HOLDER,
  evolve: (state) => ({ claims: (state?.claims ?? 0) + 1 }),
  index: () => ({}),
};

/** All claimed tasks are in this range, among the delayed ones. */
const claimed = prefixed('sort', TASK, DUE, limits.range_rows_max);

export function termsNeeds(terms: Terms | undefined, caller: Caller): Needs {
  return terms?.at_most === undefined ? {} : { keys: [holderKey(caller)], ranges: [claimed] };
}

/** How many more tasks the caller may take; a refusal: none. */
export function roomFor(
  terms: Terms | undefined,
  caller: Caller,
  count: number,
  loaded: Loaded,
  now_ms: number,
): number | Refusal {
  if (terms?.at_most === undefined) return count;
  const held = loaded
    .list<TaskState>(claimed)
    .filter(({ state: { lease } }) => lease?.agent_id === caller.agent_id && !isOver(lease, now_ms)).length;
  if (held < terms.at_most) return Math.min(count, terms.at_most - held);
  const message = `You have claimed ${held} tasks, and teams.yaml allows ${terms.at_most} at once.`;
  return refuse('team_limit_reached', message, { claimed: held, at_most: terms.at_most });
}

export function countClaim(terms: Terms | undefined, caller: Caller): EventBody[] {
  if (terms?.at_most === undefined) return [];
  return [{ ...holderKey(caller), type: 'work_counted', data: {} }];
}

/** The task itself says whose work it is; else it is the submitter's. */
export function mayReview(terms: Terms | undefined, agent_id: string, task: TaskState): boolean {
  if (terms?.reviewers === undefined || task.task_type !== 'review') return true;
  const { author } = (task.input_data ?? {}) as JsonObject;
  const name = typeof author === 'string' ? author : task.submitted_by;
  const by = Object.hasOwn(terms.reviewers, name) ? terms.reviewers[name] : undefined;
  return by === undefined || by.includes(agent_id);
}
