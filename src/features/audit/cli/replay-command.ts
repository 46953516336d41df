import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Moment } from '../../../kernel/moment.ts';
import type { EntityRecord } from '../../../ledger/entity.ts';
import { isOver } from '../../../ledger/lease.ts';
import { compareWithLive, replay } from '../../../ledger/replay.ts';
import { type Past, stateAt } from '../../../ledger/time-travel/travel.ts';
import { invalid } from '../../../runtime/answer.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { entities } from '../../../runtime/entities.ts';
import { BOOKKEEPING, standingOf, titleOf } from '../../../transports/cli/narration/state-words.ts';
import { withoutSecrets } from '../../../transports/cli/output/mask-typed-secrets.ts';
import { type Choice, chosen, readLimit } from '../../../transports/cli/output/pick.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { type CommonOptions, withStoreThere } from '../../../transports/cli/program/common.ts';
import type { ClaimState } from '../../claims/index.ts';
import { type LockState, placeOf } from '../../locks/index.ts';
import type { TaskState } from '../../queue/index.ts';
import { type History, openHistory, readMoment, refuseMissing } from './read-history.ts';

export interface ReplayOptions extends CommonOptions, Choice {
  readonly at?: string;
  readonly archive?: readonly string[];
  readonly limit?: string;
}

const SET_BACK =
  'Some rows up to here are labelled with a later time: a clock was set back. A position (#123) says exactly which rows are meant.';

/** Records in one answer; a state may have a million. */
const RECORDS_SHOWN = 1000;

export async function replayLog(options: ReplayOptions, terminal: Terminal): Promise<JsonObject> {
  const { at, archive, kind, id } = options;
  const limit = readLimit(options.limit, RECORDS_SHOWN);
  if (limit === undefined) return invalid('limit', 'a whole number, or all');
  const wanted = kind !== undefined || id !== undefined || options.limit !== undefined;
  if (at === undefined && wanted)
    return invalid('at', 'a moment, of which --kind, --id and --limit show a part');
  return await withStoreThere(options, terminal, async (coxswain) => {
    const history = await openHistory(coxswain, terminal, archive);
    const refusal = refuseMissing(history);
    if (refusal !== undefined) return refusal;
    if (at === undefined) return await compare(coxswain, history);
    const read = await readMoment(coxswain, 'at', at);
    if (!read.ok) return read.refusal;
    const rows = await history.rowsUpTo(read.moment);
    const past = await stateAt(rows, entities, read.moment);
    return answer(past, read.moment, options, limit);
  });
}

async function compare({ store, project }: Coxswain, history: History): Promise<JsonObject> {
  const replayed = await replay(store, entities, project, history.rows());
  const { entries, events, state, position } = replayed;
  const counts = { rows: entries, events, entities: state.size, position };
  const differences = await compareWithLive(store, entities, project, replayed);
  if (differences.length === 0) return { success: true, equal: true, ...counts, differences: [] };
  return {
    success: false,
    equal: false,
    ...counts,
    differences: differences.map((difference) => ({ ...difference })),
    message: `${differences.length} of ${counts.entities} entities differ from what the log says.`,
    remedy:
      'Someone changed the store behind the log. Keep a copy of it, then restore one whose replay is equal.',
  };
}

function answer(past: Past, moment: Moment, choice: ReplayOptions, limit: number): JsonObject {
  const { position, rows, events, later_rows, state } = past;
  const at_ms = 'at_ms' in moment ? moment.at_ms : (past.at_ms ?? 0);
  const head = {
    success: true,
    at: isoTime(at_ms),
    position,
    rows,
    events,
    entities: state.size,
    ...(later_rows === 0 ? {} : { later_rows, note: SET_BACK }),
  };
  if (choice.kind === undefined && choice.id === undefined) return { ...head, ...summary(past, at_ms) };
  const matching = [...state.values()].filter((record) => chosen(record, choice));
  const records = matching.slice(0, limit).map((record) => shown(record, at_ms, choice.json === true));
  return { ...head, matching: matching.length, records };
}

/** The whole record for a program, its status for a person. */
function shown(record: EntityRecord, at_ms: number, whole: boolean): JsonObject {
  const { kind, id, version, born } = record;
  const state = withoutSecrets(record.state);
  if (whole) return { kind, id, version, born, state };
  return { kind, name: titleOf(record), state: standingOf(record, at_ms) ?? JSON.stringify(state) };
}

function summary({ state }: Past, at_ms: number): JsonObject {
  const kinds: Record<string, number> = {};
  const tasks: Record<string, number> = {};
  const locks: JsonObject[] = [];
  const claims: JsonObject[] = [];
  for (const record of state.values()) {
    if (!BOOKKEEPING.has(record.kind)) kinds[record.kind] = (kinds[record.kind] ?? 0) + 1;
    if (record.kind === 'lock') locks.push(...heldLocks(record, at_ms));
    else if (record.kind === 'claim') claims.push(...heldClaim(record, at_ms));
    else if (record.kind === 'task') {
      const { status } = record.state as unknown as TaskState;
      tasks[status] = (tasks[status] ?? 0) + 1;
    }
  }
  return { kinds, tasks, locks, claims };
}

function heldLocks({ id, state }: EntityRecord, at_ms: number): JsonObject[] {
  return placeOf(state as LockState)
    .leases.filter((lease) => !isOver(lease, at_ms))
    .map(({ agent_id, expires_at_ms, reason, shared, pattern }) => ({
      file_path: id,
      ...(pattern === undefined ? {} : { pattern }),
      ...(shared === true ? { shared } : {}),
      locked_by: agent_id,
      expires_at: isoTime(expires_at_ms),
      reason,
    }));
}

function heldClaim({ state }: EntityRecord, at_ms: number): JsonObject[] {
  const { feature, edge, lease, agent_role, stale_since_ms } = state as unknown as ClaimState;
  if (lease === undefined || isOver(lease, at_ms)) return [];
  return [{ feature, edge, agent_id: lease.agent_id, agent_role, stale: stale_since_ms !== undefined }];
}
