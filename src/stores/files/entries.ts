import type { JsonObject } from '../../kernel/json.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { type ForeignRecord, foreignActor } from '../../ledger/foreign.ts';
import { EVENT_SCHEMA, type LogEntry } from '../../ledger/log.ts';
import type { JournalPlace } from '../sqlite/journal-port.ts';
import type { EventsFile } from './events-file.ts';
import { readForeign } from './foreign-lines.ts';
import { type CommitPart, type OwnLine, readOwn } from './log-line.ts';
import { type Line, linesOf } from './log-lines-file.ts';

/** A part of the log, and what the line before it says about its first line. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  /** The project to which lines of other implementations belong. */
  readonly home: string;
  readonly position: number;
  readonly at_ms: number;
}

/** A commit of ours, or a line that another program wrote. */
export interface ReadEntry {
  readonly entry: LogEntry;
  readonly input_digest: string | null;
  readonly place: JournalPlace;
  /** False: its events are derived from the line and are not written in it. */
  readonly own: boolean;
}

/** What a foreign line at a position says about one of our entities, if anything. */
export type EventOf = (record: ForeignRecord, position: number) => EventBody | undefined;

/** A commit of ours whose lines have been read so far. */
interface Group {
  readonly first: OwnLine;
  readonly op: CommitPart;
  readonly offset: number;
  readonly events: EventBody[];
}

/**
 * Reads the log row by row. Positions follow from the log alone: our rows keep theirs unless foreign lines
 * have come between, and a foreign line takes the next position. Returns where the last whole row ends; what
 * follows it is torn.
 */
export function* entriesOf(
  file: EventsFile,
  stretch: Stretch,
  eventOf: EventOf,
): Generator<ReadEntry, number> {
  let { position, at_ms } = stretch;
  let group: Group | undefined;
  let end = stretch.from;
  const otherLine = (line: Line, record: unknown, damage: string | undefined): ReadEntry => {
    position += 1;
    const read = otherEntry(line, record, damage, { position, at_ms, project: stretch.home }, eventOf);
    at_ms = read.entry.at_ms;
    return read;
  };
  for (const line of linesOf(file, stretch.from, stretch.to)) {
    const record = parsed(line);
    const own = line.bytes === undefined || record === undefined ? undefined : readOwn(record, line.bytes);
    if (own !== undefined && !('damaged' in own)) {
      if (!line.ended) break;
      group = joined(group, own, line.offset);
      if (group === undefined) {
        yield otherLine(line, undefined, 'part of a commit whose other lines are not there');
        end = line.next;
      } else if (group.events.length === own.of) {
        position = Math.max(position + 1, own.commit);
        at_ms = own.at_ms;
        yield ownEntry(group, position, line.next);
        group = undefined;
        end = line.next;
      }
      continue;
    }
    // No line end and no valid JSON: torn. Some programs leave out the last line's end, so valid JSON counts
    // without one.
    if (!line.ended && (record === undefined || own !== undefined)) break;
    group = undefined;
    if (!isBlank(line)) yield otherLine(line, record, own?.damaged);
    end = line.next;
  }
  return end;
}

/** Undefined: the line belongs to no commit that can become whole. */
function joined(group: Group | undefined, own: OwnLine, offset: number): Group | undefined {
  if (own.n === 1)
    return own.op === undefined ? undefined : { first: own, op: own.op, offset, events: [own.event] };
  if (group?.first.commit !== own.commit || group.events.length !== own.n - 1) return undefined;
  group.events.push(own.event);
  return group;
}

/** What the log does not contain is in the audit rows, if there are any: parameters, answers, durations. */
function ownEntry({ first, op, offset, events }: Group, position: number, next: number): ReadEntry {
  const { project, at_ms, schema } = first;
  const { agent_id, agent_type, session_id, sequence, operation, operation_id, input_digest, answer } = op;
  return {
    entry: {
      position,
      schema,
      project,
      at_ms,
      agent_id,
      agent_type,
      session_id,
      sequence,
      operation,
      operation_id,
      parameters: {},
      result: answer ?? { success: true },
      duration_ms: 0,
      events,
    },
    input_digest: input_digest ?? null,
    place: [offset, next - offset],
    own: true,
  };
}

/** A line that another program wrote, or that can't be read. It stays where it is, and a row reports it. */
function otherEntry(
  { offset, next }: Line,
  record: unknown,
  damage: string | undefined,
  at: { position: number; at_ms: number; project: string },
  eventOf: EventOf,
): ReadEntry {
  const found = damage === undefined ? readForeign(record, at.at_ms) : undefined;
  const event = found === undefined ? undefined : eventOf(found, at.position);
  const agent_id = found?.agent_id || 'unknown';
  const parameters: JsonObject = found?.data ?? {
    offset,
    reason: damage ?? 'not a record of any known shape',
  };
  return {
    entry: {
      ...at,
      at_ms: found?.at_ms ?? at.at_ms,
      schema: EVENT_SCHEMA,
      ...foreignActor(agent_id),
      sequence: 0,
      operation: found?.event_type ?? 'unreadable_line',
      operation_id: '',
      parameters,
      result: { success: found !== undefined },
      duration_ms: 0,
      events: event === undefined ? [] : [event],
    },
    input_digest: null,
    place: [offset, next - offset],
    own: false,
  };
}

function isBlank({ bytes }: Line): boolean {
  return bytes !== undefined && bytes.length < 80 && bytes.toString('latin1').trim() === '';
}

function parsed({ bytes }: Line): unknown {
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
