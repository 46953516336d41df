import type { LogEntry } from '../log.ts';

/** What `query_audit` filters by. `result`: success, refused, or the code of a refusal. */
export interface AuditFilter {
  readonly agent_id?: string | undefined;
  readonly operation?: string | undefined;
  readonly since_ms?: number | undefined;
  readonly until_ms?: number | undefined;
  readonly result?: string | undefined;
}

/** A segment with more words is searched row by row. */
const WORDS_MAX = 200;
const WORDS_CHARS_MAX = 8000;

/**
 * Everything a row can be found by, as short texts. A segment lists the words of its rows once, when it is
 * sealed: that is the search index, and it costs no commit anything.
 */
function wordsOfRow({ agent_id, operation, result }: LogEntry): string[] {
  const words = [word('agent', agent_id), word('operation', operation)];
  for (const name of resultNames(result)) words.push(word('result', name));
  return words;
}

/** The names under which a result can be searched. */
function resultNames(result: LogEntry['result']): string[] {
  if (result.success !== false) return ['success'];
  const codes = [result.error, result.action, result.reason];
  return ['refused', ...codes.filter((code): code is string => typeof code === 'string')];
}

function word(kind: string, value: string): string {
  // JSON has no line break inside a string, so words can be separated by line breaks.
  return `${kind} ${JSON.stringify(value)}`;
}

export function wordsOf(entries: readonly LogEntry[]): string | null {
  const words = new Set(entries.flatMap(wordsOfRow));
  const text = `\n${[...words].sort().join('\n')}\n`;
  return words.size > WORDS_MAX || text.length > WORDS_CHARS_MAX ? null : text;
}

interface Summary {
  readonly words: string | null;
  readonly oldest_at_ms: number;
  readonly newest_at_ms: number;
}

/** False only when no row of the segment can match. */
export function mayMatch({ words, oldest_at_ms, newest_at_ms }: Summary, filter: AuditFilter): boolean {
  if (filter.since_ms !== undefined && newest_at_ms < filter.since_ms) return false;
  if (filter.until_ms !== undefined && oldest_at_ms > filter.until_ms) return false;
  const { agent_id, operation, result } = filter;
  const wanted = Object.entries({ agent: agent_id, operation, result });
  return (
    words === null ||
    wanted.every(([kind, value]) => value === undefined || words.includes(`\n${word(kind, value)}\n`))
  );
}

export function matches(entry: LogEntry, { agent_id, operation, since_ms, until_ms, result }: AuditFilter) {
  return (
    (agent_id === undefined || entry.agent_id === agent_id) &&
    (operation === undefined || entry.operation === operation) &&
    (since_ms === undefined || entry.at_ms >= since_ms) &&
    (until_ms === undefined || entry.at_ms <= until_ms) &&
    (result === undefined || resultNames(entry.result).includes(result))
  );
}
