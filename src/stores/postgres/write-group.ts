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
 * A proposal or a take on its way into `coxswain.write_group`. All parts are encoded as text when the caller
 * asks; a group only joins them.
 */
export interface WriteJob extends Job {
  readonly project: string;
  readonly not_after_ms: number | undefined;
  readonly item: string;
  readonly written: readonly Touched[];
  readonly expected: readonly Touched[];
  readonly links: readonly string[];
  readonly row: Row | undefined;
  readonly take: string | undefined;
}

/** An entity as elements of the server's arrays. */
interface Touched {
  readonly kind: string;
  readonly id: string;
  readonly expected: number;
  readonly version: number | 'NULL';
  readonly sort: string;
  readonly group: string;
  readonly linked: boolean;
  /** JSON; absent for an entity that is only expected. */
  readonly state: string;
}

/** A row of the log, with its large parts separate: the server parses each of them once. */
interface Row {
  readonly body: string;
  readonly parameters: string;
  readonly result: string;
  readonly events: string;
}

/** A record as the server sends it: id, version, born, state. */
export type RawRecord = readonly [string, number, number, JsonObject];

export type WriteResult =
  | {
      readonly status: 'committed';
      readonly position: number;
      /** For a take: its answer, and the tasks as they are now. */
      readonly answer?: JsonObject | undefined;
      readonly records?: readonly RawRecord[] | undefined;
    }
  | { readonly status: 'conflict' }
  | { readonly status: 'seen'; readonly seen: Seen }
  /** The outcomes of a `take` that handed out nothing, with the reason. */
  | { readonly status: 'due'; readonly now_ms: number; readonly record: RawRecord }
  | { readonly status: 'none'; readonly now_ms: number; readonly ready: boolean };

const encode = JSON.stringify;

/** An element of an array as PostgreSQL reads it. */
function element(text: string | undefined): string {
  return text === undefined ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`;
}

export function commitJob(request: Request, proposal: Proposal, row: Unplaced): WriteJob {
  const project = encode(request.project);
  const links: string[] = [];
  for (const { kind, id, born, keys } of proposal.writes)
    for (const link of keys.links ?? [])
      links.push(
        `"p":${project},"k":${encode(kind)},"d":${encode(id)},"b":${born ?? null},"l":${encode(link)}}`,
      );
  const created = proposal.writes.filter(({ expected }) => expected === 0).length;
  const updated = proposal.writes.length - created;
  return {
    project: request.project,
    not_after_ms: proposal.not_after_ms,
    item: `${itemOf(request)},"c":${created},"u":${updated}`,
    weight: 1 + proposal.writes.length + proposal.expects.length,
    writes: [operationText(request), ...proposal.writes.map((write) => entityText(request, keyText(write)))],
    reads: proposal.expects.map((key) => entityText(request, keyText(key))),
    written: proposal.writes.map(writtenOf),
    expected: proposal.expects.map(({ kind, id, version }) => ({
      kind: element(kind),
      id: element(id),
      expected: version,
      version: 'NULL',
      sort: 'NULL',
      group: 'NULL',
      linked: false,
      state: '',
    })),
    links,
    row: rowOf(row),
    take: undefined,
  };
}

function rowOf({ parameters, result, events, ...body }: Unplaced): Row {
  return {
    body: encode(body).slice(1),
    parameters: encode(parameters),
    result: encode(result),
    events: encode(events),
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
    // A taken task also locks.
    weight: 1 + (count as number),
    writes: [operationText(request)],
    reads: [],
    written: [],
    expected: [],
    links: [],
    row: undefined,
    take: `${itemOf(request)},${encode({ types, count, lease_ms, settled, ...audit }).slice(1)}`,
  };
}

function itemOf({ project, actor, operation_id, input_digest }: Request): string {
  const named = input_digest === '' ? '' : ',"m":true';
  return `"p":${encode(project)},"a":${encode(actor.agent_id)},"o":${encode(operation_id)},"g":${encode(input_digest)}${named}`;
}

function writtenOf({ kind, id, version, expected, state, keys }: RecordWrite): Touched {
  const text = encode(state);
  const tooLarge = stateTooLarge(kind, text);
  if (tooLarge !== undefined) throw new StoreFailure('too_large', tooLarge.message);
  return {
    kind: element(kind),
    id: element(id),
    expected,
    version,
    sort: element(keys.sort),
    group: element(keys.group),
    linked: (keys.links?.length ?? 0) > 0,
    state: text,
  };
}

function entityText(request: Request, key: string): string {
  return `${request.project}\0${key}`;
}

function operationText({ project, actor, operation_id }: Request): string {
  return `${project}\0${actor.agent_id}\0${operation_id}`;
}

/** The parameters of one call; null for an empty list, so that its statement is skipped. */
export function groupValues(
  jobs: readonly WriteJob[],
  until_ms: (index: number) => number,
  notes: readonly string[],
  /** Set when the group was sent before and the server did not answer: how far the log was known then. */
  resent_after: number | undefined,
): unknown[] {
  const limit = (job: WriteJob, index: number) =>
    Math.min(job.not_after_ms ?? Number.POSITIVE_INFINITY, until_ms(index));
  const again = resent_after === undefined ? '' : `"s":${resent_after},`;
  const items = jobs.map((job, index) => `{"i":${index},"n":${limit(job, index)},${again}${job.item}}`);
  const links = jobs.flatMap((job, index) => job.links.map((piece) => `{"i":${index},${piece}`));
  const takes = jobs.flatMap((job, index) =>
    job.take === undefined ? [] : [`{"i":${index},"n":${limit(job, index)},${job.take}`],
  );
  return [
    EPOCH,
    list(items),
    ...entityValues(jobs),
    list(links),
    ...rowValues(jobs),
    list(takes),
    list(notes),
  ];
}

/**
 * One array for each column of an entity, and the states: first the writes of all jobs, then the
 * expectations.
 */
function entityValues(jobs: readonly WriteJob[]): (string | null)[] {
  const numbers: number[] = [];
  const projects: string[] = [];
  const entities: Touched[] = [];
  for (const part of ['written', 'expected'] as const)
    for (const [index, job] of jobs.entries()) {
      const project = element(job.project);
      for (const entity of job[part]) {
        numbers.push(index);
        projects.push(project);
        entities.push(entity);
      }
    }
  const column = (name: keyof Touched) => array(entities.map((entity) => entity[name]));
  const names = ['kind', 'id', 'expected', 'version', 'sort', 'group', 'linked'] as const;
  const states = jobs.flatMap(({ written }) => written.map(({ state }) => state));
  return [array(numbers), array(projects), ...names.map(column), lines(states)];
}

function rowValues(jobs: readonly WriteJob[]): (string | null)[] {
  const rows = jobs.flatMap(({ row }, index) => (row === undefined ? [] : [{ index, row }]));
  const part = (name: keyof Row) => lines(rows.map(({ row }) => row[name]));
  const bodies = list(rows.map(({ index, row }) => `{"i":${index},${row.body}`));
  return [bodies, part('parameters'), part('result'), part('events')];
}

function array(elements: readonly (string | number | boolean)[]): string | null {
  return elements.length === 0 ? null : `{${elements.join(',')}}`;
}

/** JSON text contains no raw line breaks. */
function lines(texts: readonly string[]): string | null {
  return texts.length === 0 ? null : texts.join('\n');
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
  /** Committed by the first try of this same call. */
  readonly resent: readonly RawSeen[] | null;
  readonly takes: readonly RawTake[] | null;
}

export function groupResults(jobs: readonly WriteJob[], answer: GroupAnswer): WriteResult[] {
  const known = [...(answer.resent ?? []), ...(answer.seen ?? [])];
  const seen = new Map(known.map((raw) => [raw.i, seenOf(raw)]));
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
