import { isObject, type JsonObject } from '../../kernel/json.ts';
import type { ForeignRecord } from '../../ledger/foreign.ts';
import { timeOf } from './foreign-time.ts';
import { isTooDeep } from './parse-line.ts';

const UNNAMED = 'primary';

/**
 * Real logs mix shapes, also within one line: flat fields, everything in `data`, OpenLineage with facets, and
 * OpenLineage that contains the line it was converted from. So each field is looked up in every place where
 * it may be, the most explicit first. Undefined: not a record of an event.
 */
export function readForeign(record: unknown, line_before_ms = 0): ForeignRecord | undefined {
  if (!isObject(record)) return undefined;
  const { original, facets, job, project } = lineageOf(record);
  const event_type = typeOf(record, original, facets);
  if (event_type === undefined) return undefined;
  const places = placesIn(record, original, facets, job);
  const agent_id = firstText(places, ['agent_id']);
  return {
    event_type,
    at_ms:
      timeOf(record.timestamp) ?? timeOf(record.eventTime) ?? timeOf(original.timestamp) ?? line_before_ms,
    project: firstText(places, ['project']) ?? project,
    agent_id: agent_id ?? UNNAMED,
    agent_named: agent_id !== undefined,
    agent_role: firstText(places, ['agent_role']),
    instance_id: firstText(places, ['instance_id']),
    feature: firstText(places, ['feature', 'feature_id']),
    edge: firstText(places, ['edge']),
    data: told(record, facet(facets, 'sdlc:payload'), original),
  };
}

/** What OpenLineage wraps around the facts. Most lines have none of it. */
function lineageOf(record: JsonObject) {
  const job = objectIn(record, 'job');
  const metadata = objectIn(record, '_metadata');
  return {
    original: objectIn(metadata, 'original_data'),
    facets: objectIn(objectIn(record, 'run'), 'facets'),
    job,
    project: firstText([metadata], ['project']) ?? projectOf(job),
  };
}

/** Where a field may be, the most explicit place first. */
function placesIn(
  record: JsonObject,
  original: JsonObject,
  facets: JsonObject,
  job: JsonObject,
): JsonObject[] {
  return [
    record,
    objectIn(record, 'data'),
    facet(facets, 'sdlc:payload'),
    original,
    objectIn(original, 'data'),
    facet(facets, 'sdlc:req_keys'),
    facet(facets, 'sdlc:universal'),
    placeInJob(job),
  ].filter((place) => place !== EMPTY);
}

function typeOf(record: JsonObject, original: JsonObject, facets: JsonObject): string | undefined {
  const named =
    firstText([record, original], ['event_type']) ?? firstText([facet(facets, 'sdlc:event_type')], ['type']);
  if (named !== undefined) return snakeCase(named);
  const standard = firstText([record], ['eventType']);
  return standard === undefined ? undefined : STANDARD_TYPES.get(standard);
}

/** Only the standard's own event type is given: what it means when nothing more specific is said. */
const STANDARD_TYPES = new Map([
  ['START', 'edge_started'],
  ['COMPLETE', 'edge_converged'],
]);

/** `EdgeConverged` and `edge_converged` are the same name. */
function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase();
}

/** Some writers separate the parts of the name by a colon, some by an underscore. */
function facet(facets: JsonObject, name: string): JsonObject {
  if (facets === EMPTY) return EMPTY;
  const found = objectIn(facets, name);
  return found === EMPTY ? objectIn(facets, name.replace(':', '_')) : found;
}

const SCHEME = 'aisdlc://';

function projectOf(job: JsonObject): string | undefined {
  const namespace = firstText([job], ['namespace']);
  return namespace?.startsWith(SCHEME) ? textOrNone(namespace.slice(SCHEME.length)) : undefined;
}

/** `CLAIM:feature:edge`, `feature:edge`, or the edge alone. */
function placeInJob(job: JsonObject): JsonObject {
  const name = firstText([job], ['name']);
  if (name === undefined) return EMPTY;
  const parts = name.split(':');
  if (parts.length === 1) return { edge: name };
  const edge = parts.pop();
  if (parts[0] === 'CLAIM') parts.shift();
  return { feature: parts.join(':'), edge };
}

/** Fields of the record itself, which are read elsewhere. */
const FRAME = new Set([
  ...[
    'event_type',
    'timestamp',
    'project',
    'feature',
    'edge',
    'agent_id',
    'agent_role',
    'instance_id',
    'data',
  ],
  ...['eventType', 'eventTime', 'run', 'job', 'inputs', 'outputs', 'producer', 'schemaURL', '_metadata'],
]);

/**
 * The value nearest to the record wins. Values that are nested too deeply are left out: they could not be
 * written again.
 */
function told(record: JsonObject, payload: JsonObject, original: JsonObject): JsonObject {
  const data: JsonObject = {};
  for (const place of [objectIn(original, 'data'), original, payload, record, objectIn(record, 'data')])
    for (const name of Object.keys(place))
      if (!FRAME.has(name) && !name.startsWith('_') && !isTooDeep(place[name])) data[name] = place[name];
  return data;
}

const EMPTY: JsonObject = {};

function objectIn(place: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(place, name) ? place[name] : undefined;
  return isObject(value) ? value : EMPTY;
}

function firstText(places: readonly JsonObject[], names: readonly string[]): string | undefined {
  for (const place of places) {
    for (const name of names) {
      const value = Object.hasOwn(place, name) ? place[name] : undefined;
      const text = typeof value === 'string' ? textOrNone(value) : undefined;
      if (text !== undefined) return text;
    }
  }
  return undefined;
}

/** Longer than any name: enough to show that the value is none. */
const TEXT_CHARS_MAX = 1000;

const textOrNone = (text: string) => (text.trim() === '' ? undefined : text.slice(0, TEXT_CHARS_MAX));
