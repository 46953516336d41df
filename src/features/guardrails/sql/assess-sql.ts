import { maskSecrets } from '../../../command-analysis/secrets.ts';
import type { Finding } from '../../trust/index.ts';
import { assessCommand } from '../assess.ts';
import { type Hit, hazardOf } from './hazards.ts';
import { type Dialect, tokenise } from './sql-tokens.ts';
import { judgeTree, type ParsedStatement } from './sql-tree.ts';
import { judgeWords } from './sql-words.ts';

export type { Dialect } from './sql-tokens.ts';

/** The parser needs 50 ms for this much; longer texts are judged by their words, ten times as fast. */
const PARSED_CHARS_MAX = 256 * 1024;
const CHARS_MAX = 4 * 1024 * 1024;
const MATCHED_CHARS_MAX = 120;
const FINDINGS_MAX = 50;

/** A finding with the lines of the statement it was found in, counted from 1. */
export interface SqlFinding {
  readonly finding: Finding;
  readonly from_line: number;
  readonly to_line: number;
}

/** What SQL would do. SQL that is only mentioned, in a string or a comment, does nothing. */
export async function assessSql(text: string, dialect: Dialect = 'postgres'): Promise<Finding[]> {
  return (await locateSql(text, dialect)).map(({ finding }) => finding);
}

/** The same, with locations. */
export async function locateSql(text: string, dialect: Dialect): Promise<SqlFinding[]> {
  if (text.trim() === '') return [];
  const hits: Hit[] =
    text.length > CHARS_MAX
      ? [{ operation: 'check_exhausted', at: 0, end: 0 }]
      : ((await parsedHits(text, dialect)) ?? judgeWords(text, { dialect }));
  const lineOf = lines(text);
  const found: SqlFinding[] = [];
  for (const hit of hits.slice(0, FINDINGS_MAX)) {
    const [from_line, to_line] = [lineOf(hit.at), lineOf(hit.end)];
    for (const finding of findingsOf(hit, text))
      found.push({ finding: { ...finding, line: from_line }, from_line, to_line });
  }
  return found;
}

function findingsOf(hit: Hit, text: string): readonly Finding[] {
  if (hit.operation === 'shell') return assessCommand(hit.shell, { cwd: '/' }).findings;
  const { category, reason, instead } = hazardOf(hit.operation);
  const matched = text.slice(hit.at, Math.min(hit.end, hit.at + 4 * MATCHED_CHARS_MAX));
  const finding = {
    category,
    operation: hit.operation,
    pattern: `sql-${hit.operation.replaceAll('_', '-')}`,
    matched: shortened(maskSecrets(matched)),
    reason,
  };
  return [instead === undefined ? finding : { ...finding, instead }];
}

function shortened(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  return plain.length > MATCHED_CHARS_MAX ? `${plain.slice(0, MATCHED_CHARS_MAX).toWellFormed()}…` : plain;
}

/** Undefined if PostgreSQL's parser can't read it: another dialect, a part of a file, a mistake. */
async function parsedHits(text: string, dialect: Dialect): Promise<Hit[] | undefined> {
  if (dialect !== 'postgres' && dialect !== 'unknown') return undefined;
  if (text.length > PARSED_CHARS_MAX || text.includes('\0')) return undefined;
  // Some of what MySQL runs is a comment to PostgreSQL, and the dialect is unknown.
  if (dialect === 'unknown' && /\/\*M?!/.test(text)) return undefined;
  // The parser would refuse it too, and needs seconds for a text full of open comments.
  if (tokenise(text, dialect).unclosed) return undefined;
  const { sql, clientHits } = withoutClient(text, dialect);
  const statements = await parse(sql);
  if (statements === undefined) return undefined;
  return [...clientHits, ...judgeTree(statements, sql)];
}

/** The client's own commands are no SQL: they are judged separately, and blanked out for the parser. */
function withoutClient(text: string, dialect: Dialect): { sql: string; clientHits: Hit[] } {
  if (!text.includes('\\') && !/^\./m.test(text)) return { sql: text, clientHits: [] };
  const own = tokenise(text, dialect).tokens.filter(({ kind }) => kind === 'client');
  let sql = text;
  const clientHits: Hit[] = [];
  for (const token of own) {
    const blank = ';'.padEnd(token.end - token.at);
    sql = sql.slice(0, token.at) + blank + sql.slice(token.end);
    for (const hit of judgeWords(token.text, { dialect }))
      clientHits.push({ ...hit, at: token.at, end: token.end } as Hit);
  }
  return { sql, clientHits };
}

type Parser = (text: string) => { stmts?: readonly unknown[] };
let parser: Promise<Parser> | undefined;

async function parse(text: string): Promise<readonly ParsedStatement[] | undefined> {
  // 50 ms and a megabyte: loaded only when there is SQL to judge.
  parser ??= import('libpg-query').then(async ({ loadModule, parseSync }) => {
    await loadModule();
    return parseSync as Parser;
  });
  try {
    return ((await parser)(text).stmts ?? []) as readonly ParsedStatement[];
  } catch {
    return undefined;
  }
}

function lines(text: string): (at: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (at) => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return Math.max(1, low);
  };
}
