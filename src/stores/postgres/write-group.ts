import type { JsonObject } from '../../kernel/json.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { keyText } from '../../ledger/entity.ts';
import type { Request, Unplaced } from '../../ledger/log.ts';
import type { Seen } from '../../ledger/optimistic.ts';
import { type Proposal, type RecordWrite, stateTooLarge } from '../../ledger/proposal.ts';
import type { Job } from './lane.ts';

/** Raised together with `meta.epoch` when older processes must stop writing. */
export const EPOCH = 2;

/**
 * A proposal or a take on its way into `coxswain.commit_group`. Everything is JSON text already, made when the caller
 * asked; a group only puts the pieces together, each with the number of its job in front.
 */
export interface WriteJob extends Job {
  readonly project: string;
  readonly not_after_ms: number | undefined;
  readonly item: string;
  readonly touches: readonly string[];
  readonly creates: readonly string[];
  readonly updates: readonly string[];
  readonly links: readonly string[];
  readonly row: string;
  readonly take: string | undefined;
}

/** A record as the server sends it: id, version, born, state. */
export type RawRecord = readonly [string, number, number, JsonObject];

export type WriteResult =
  | {
      readonly status: 'committed';
      readonly position: number;
      /** Of a take: its answer, and the tasks as they are now. */
      readonly answer?: JsonObject | undefined;
      readonly records?: readonly RawRecord[] | undefined;
    }
  | { readonly status: 'conflict' }
  | { readonly status: 'seen'; readonly seen: Seen }
  /** The same as a `take` finds them: nothing was handed out, and why. */
  | { readonly status: 'due'; readonly now_ms: number; readonly record: RawRecord }
  | { readonly status: 'none'; readonly now_ms: number; readonly ready: boolean };

const encode = JSON.stringify;

export function commitJob(request: Request, proposal: Proposal, row: Unplaced): WriteJob {
  const project = encode(request.project);
  const touches: string[] = [];
  const creates: string[] = [];
  const updates: string[] = [];
  const links: string[] = [];
  for (const write of proposal.writes) {
    const entity = `"p":${project},"k":${encode(write.kind)},"d":${encode(write.id)}`;
    touches.push(`${entity},"v":${write.expected},"w":true}`);
    (write.expected === 0 ? creates : updates).push(`${entity}${encodeWrite(write)}`);
    for (const link of write.keys.links ?? [])
      links.push(`${entity},"b":${write.born ?? null},"l":${encode(link)}}`);
  }
  for (const { kind, id, version } of proposal.expects)
    touches.push(`"p":${project},"k":${encode(kind)},"d":${encode(id)},"v":${version},"w":false}`);
  return {
    project: request.project,
    not_after_ms: proposal.not_after_ms,
    item: `${itemOf(request)},"c":${creates.length},"u":${updates.length}`,
    weight: 1 + touches.length,
    writes: [operationText(request), ...proposal.writes.map((write) => entityText(request, keyText(write)))],
    reads: proposal.expects.map((key) => entityText(request, keyText(key))),
    touches,
    creates,
    updates,
    links,
    row: encode(row).slice(1),
    take: undefined,
  };
}

/** `row` lacks what only the server knows: the result, the events and the time. */
export function takeJob(request: Request, args: JsonObject, row: Unplaced): WriteJob {
  const { task_types: types, count, lease_ms, settled } = args;
  const { agent_id, agent_type, session_id, schema, sequence, operation, parameters, duration_ms } = row;
  const audit = { agent_id, agent_type, session_id, schema, sequence, operation, parameters, duration_ms };
  return {
    project: request.project,
    not_after_ms: undefined,
    item: `${itemOf(request)},"t":true`,
    // A taken task is a lock as well.
    weight: 1 + (count as number),
    writes: [operationText(request)],
    reads: [],
    touches: [],
    creates: [],
    updates: [],
    links: [],
    row: '',
    take: `${itemOf(request)},${encode({ types, count, lease_ms, settled, ...audit }).slice(1)}`,
  };
}

function itemOf({ project, actor, operation_id, input_digest }: Request): string {
  return `"p":${encode(project)},"a":${encode(actor.agent_id)},"o":${encode(operation_id)},"g":${encode(input_digest)}`;
}

function encodeWrite({ kind, version, expected, state, keys }: RecordWrite): string {
  const text = encode(state);
  const tooLarge = stateTooLarge(kind, text);
  if (tooLarge !== undefined) throw new StoreFailure('too_large', tooLarge.message);
  const sort = keys.sort === undefined ? '' : `,"x":${encode(keys.sort)}`;
  const group = keys.group === undefined ? '' : `,"y":${encode(keys.group)}`;
  const linked = (keys.links?.length ?? 0) > 0 ? ',"l":true' : '';
  return `,"v":${version},"e":${expected}${sort}${group}${linked},"s":${text}}`;
}

function entityText(request: Request, key: string): string {
  return `${request.project}\0${key}`;
}

function operationText({ project, actor, operation_id }: Request): string {
  return `${project}\0${actor.agent_id}\0${operation_id}`;
}

/** The parameters of one call: each list as JSON, or null when it is empty so that its statement is left out. */
export function groupValues(
  jobs: readonly WriteJob[],
  until_ms: (index: number) => number,
  notes: readonly string[],
): unknown[] {
  const numbered = (pick: (job: WriteJob) => readonly string[]) =>
    list(jobs.flatMap((job, index) => pick(job).map((piece) => `{"i":${index},${piece}`)));
  const limit = (job: WriteJob, index: number) =>
    Math.min(job.not_after_ms ?? Number.POSITIVE_INFINITY, until_ms(index));
  const items = jobs.map((job, index) => `{"i":${index},"n":${limit(job, index)},${job.item}}`);
  const takes = jobs.flatMap((job, index) =>
    job.take === undefined ? [] : [`{"i":${index},"n":${limit(job, index)},${job.take}`],
  );
  return [
    EPOCH,
    list(items),
    numbered((job) => job.touches),
    numbered((job) => job.creates),
    numbered((job) => job.updates),
    numbered((job) => job.links),
    numbered((job) => (job.row === '' ? [] : [job.row])),
    list(takes),
    list(notes),
  ];
}

export function list(pieces: readonly string[]): string | null {
  return pieces.length === 0 ? null : `[${pieces.join(',')}]`;
}

export interface RawSeen {
  readonly i: number;
  readonly digest: string;
  readonly position: number;
  readonly answer: JsonObject;
}

interface RawTake {
  readonly i: number;
  readonly position?: number;
  readonly answer?: JsonObject;
  readonly records?: readonly RawRecord[];
  readonly due?: RawRecord;
  readonly ready?: boolean;
}

export interface GroupAnswer {
  readonly now: number;
  readonly positions: readonly (number | null)[];
  readonly seen: readonly RawSeen[] | null;
  readonly takes: readonly RawTake[] | null;
}

export function groupResults(jobs: readonly WriteJob[], answer: GroupAnswer): WriteResult[] {
  const seen = new Map(answer.seen?.map((raw) => [raw.i, seenOf(raw)]));
  const takes = new Map(answer.takes?.map((raw) => [raw.i, raw]));
  return jobs.map((job, index) => {
    const before = seen.get(index);
    if (before !== undefined) return { status: 'seen', seen: before };
    if (job.take !== undefined) return takeResult(takes.get(index), answer.now);
    const position = answer.positions[index] ?? null;
    return position === null ? { status: 'conflict' } : { status: 'committed', position };
  });
}

function takeResult(take: RawTake | undefined, now_ms: number): WriteResult {
  if (take === undefined) return { status: 'conflict' };
  if (take.position !== undefined)
    return {
      status: 'committed',
      position: take.position,
      answer: take.answer,
      records: take.records,
    };
  if (take.due !== undefined) return { status: 'due', now_ms, record: take.due };
  return { status: 'none', now_ms, ready: take.ready === true };
}

export function seenOf({ digest, position, answer }: RawSeen): Seen {
  return { input_digest: digest, position, answer };
}
