import { nameMatches } from '../../../kernel/glob.ts';
import type { Json } from '../../../kernel/json.ts';
import type { Moment } from '../../../kernel/moment.ts';
import type { Span } from '../../../ledger/audit/read-forward.ts';
import type { EventBody } from '../../../ledger/entity.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import { type Choice, chosen } from '../../../transports/cli/output/pick.ts';
import { normEdge, normFeature } from '../../claims/index.ts';

/** Every text is a pattern with `*` and `?`. */
export interface LogFilter extends Choice {
  readonly since?: Moment | undefined;
  readonly until?: Moment | undefined;
  readonly type?: string | undefined;
  readonly agent?: string | undefined;
  readonly feature?: string | undefined;
  readonly edge?: string | undefined;
  readonly operation?: string | undefined;
  /** Includes reads and refusals. */
  readonly all?: boolean | undefined;
}

/** No row outside this span can match: the reader skips those. */
export function spanOf({ since, until }: LogFilter): Span {
  return {
    ...(since === undefined
      ? {}
      : 'position' in since
        ? { after: since.position }
        : { since_ms: since.at_ms }),
    ...(until === undefined
      ? {}
      : 'position' in until
        ? { last: until.position }
        : { until_ms: until.at_ms }),
  };
}

/** A read or a refusal has no events; with `all` it counts as one. */
export function eventsOf({ events, operation, result }: LogEntry): readonly EventBody[] {
  if (events.length > 0) return events;
  const type = result.success === false ? 'refused' : 'answered';
  return [{ kind: 'operation', id: operation, type, data: result }];
}

/** The row with its wanted parts; undefined if there are none. */
export function wantedOf(entry: LogEntry, filter: LogFilter): LogEntry | undefined {
  const isQuiet = entry.events.length === 0;
  if (isQuiet && filter.all !== true) return undefined;
  if (!isWithin(entry, filter) || !isBy(entry, filter)) return undefined;
  if (filter.operation !== undefined && !nameMatches(filter.operation, entry.operation)) return undefined;
  const wanted = eventsOf(entry).filter((event) => isAbout(event, entry, filter));
  if (wanted.length === 0) return undefined;
  return isQuiet || wanted.length === entry.events.length ? entry : { ...entry, events: wanted };
}

/** After a position, up to a position; from a time, up to a time, by each row's own timestamp. */
function isWithin({ position, at_ms }: LogEntry, { since, until }: LogFilter): boolean {
  if (since !== undefined && ('position' in since ? position <= since.position : at_ms < since.at_ms))
    return false;
  return until === undefined || ('position' in until ? position <= until.position : at_ms <= until.at_ms);
}

/** Coxswain's own commits are made on behalf of an agent. */
function isBy({ agent_id, parameters: { on_behalf_of } }: LogEntry, { agent }: LogFilter): boolean {
  if (agent === undefined || nameMatches(agent, agent_id)) return true;
  return typeof on_behalf_of === 'string' && nameMatches(agent, on_behalf_of);
}

function isAbout(event: EventBody, { parameters }: LogEntry, filter: LogFilter): boolean {
  if (filter.type !== undefined && !nameMatches(filter.type, event.type)) return false;
  if (!chosen(event, filter)) return false;
  const { feature, edge } = { ...parameters, ...event.data };
  return (
    isNamed(filter.feature, feature, normFeature) &&
    // In any spelling: `design→code` is `design_code`.
    isNamed(filter.edge, edge, normEdge)
  );
}

function isNamed(
  pattern: string | undefined,
  name: Json | undefined,
  norm: (name: string) => string,
): boolean {
  return pattern === undefined || (typeof name === 'string' && nameMatches(norm(pattern), norm(name)));
}
