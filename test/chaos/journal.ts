// What an agent wrote down before and after each call, and the comparison with what the log says.
import type { JsonObject } from '../../src/kernel/json.ts';
import type { LogEntry } from '../../src/ledger/log.ts';

export interface Tried {
  readonly id: string;
  readonly operation: string;
  readonly input: JsonObject;
}

export type Line =
  | { readonly tried: Tried }
  | { readonly answered: string; readonly answer: JsonObject }
  | { readonly away: string; readonly elapsed_ms: number; readonly said: string }
  | { readonly unread: JsonObject };

export function parseJournal(text: string): Line[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Line];
    } catch {
      return []; // torn by a kill
    }
  });
}

export function lastUnanswered(lines: readonly Line[]): Tried | undefined {
  const answered = new Set(lines.flatMap((line) => ('answered' in line ? [line.answered] : [])));
  return lines
    .flatMap((line) => ('tried' in line && !answered.has(line.tried.id) ? [line.tried] : []))
    .at(-1);
}

export interface Account {
  acknowledged: number;
  refused: number;
  lost: number;
  doubled: number;
  /** Told the store was away, and how long that took at most. */
  away: number;
  away_ms_max: number;
  /** Reads that were told so. */
  unread: number;
  faults: string[];
}

/** Every acknowledged commit is in the log exactly once and says the same; nothing that was refused is in it. */
export function settle(journals: readonly Line[][], entries: readonly LogEntry[]): Account {
  const commits = new Map<string, LogEntry[]>();
  for (const entry of entries) {
    if (entry.events.length === 0 || entry.operation_id === '') continue;
    const key = `${entry.agent_id} ${entry.operation_id}`;
    commits.set(key, [...(commits.get(key) ?? []), entry]);
  }
  const account: Account = {
    acknowledged: 0,
    refused: 0,
    lost: 0,
    doubled: 0,
    away: 0,
    away_ms_max: 0,
    unread: 0,
    faults: [],
  };
  for (const [key, rows] of commits) {
    if (rows.length === 1) continue;
    account.doubled += 1;
    account.faults.push(`${key} was committed ${rows.length} times`);
  }
  for (const lines of journals) settleOne(lines, commits, account);
  return account;
}

function settleOne(lines: readonly Line[], commits: ReadonlyMap<string, LogEntry[]>, account: Account): void {
  const open = lastUnanswered(lines);
  if (open !== undefined) account.faults.push(`${open.id} was never answered`);
  for (const line of lines) {
    if ('away' in line) {
      account.away += 1;
      account.away_ms_max = Math.max(account.away_ms_max, line.elapsed_ms);
    } else if ('unread' in line) {
      account.unread += 1;
      if (line.unread.error !== 'database_unavailable')
        account.faults.push(`a read failed: ${JSON.stringify(line.unread)}`);
    } else if ('answered' in line) {
      const agent_id = line.answered.slice(0, line.answered.indexOf('-'));
      settleAnswer(line.answered, line.answer, commits.get(`${agent_id} ${line.answered}`)?.[0], account);
    }
  }
}

const EXPECTED_REFUSALS = ['blocked', 'no_tasks_available', 'superseded', 'not_held', 'not_holder'];

function settleAnswer(id: string, answer: JsonObject, row: LogEntry | undefined, account: Account): void {
  if (answer.success === true) {
    account.acknowledged += 1;
    if (row === undefined) {
      account.lost += 1;
      account.faults.push(`${id} was acknowledged and is not in the log`);
    } else if (!saysTheSame(answer, row.result)) {
      account.faults.push(
        `${id} was answered ${JSON.stringify(answer)}, the log says ${JSON.stringify(row.result)}`,
      );
    }
    return;
  }
  account.refused += 1;
  if (row !== undefined) account.faults.push(`${id} was refused although row ${row.position} committed it`);
  const code = `${answer.action ?? answer.reason ?? answer.error}`;
  if (!EXPECTED_REFUSALS.includes(code))
    account.faults.push(`${id} was refused with ${JSON.stringify(answer)}`);
}

function saysTheSame(answer: JsonObject, result: JsonObject): boolean {
  const logged = Array.isArray(result.tasks) ? (result.tasks[0] as JsonObject) : result;
  return ['task_id', 'fencing_token', 'status', 'file_path'].every((name) => answer[name] === logged[name]);
}
