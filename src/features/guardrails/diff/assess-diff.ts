import { findSecrets, maskSecrets } from '../../../command-analysis/secrets.ts';
import type { Category, Finding } from '../../trust/index.ts';
import { type AssessText, assessText } from '../assess-text.ts';
import { credentialFinding } from '../edits/credentials.ts';
import { locateSql } from '../sql/assess-sql.ts';
import { joined, type Script, scriptsIn } from './commands-in-diff.ts';
import { type FileKind, isMigration, kindOf } from './file-kinds.ts';
import { type FileChange, isTouched, type Line, parseDiff } from './parse-diff.ts';

const DIFF_CHARS_MAX = 16 * 1024 * 1024;
const FINDINGS_MAX = 50;
const LINES_LOCATED_MAX = 2000;

/** An image and a CI runner are thrown away: removing things in them is no loss. */
const HARMLESS_IN_SANDBOX: ReadonlySet<Category> = new Set(['mass_deletion', 'disk', 'overwrite']);

/** What a change would add: credentials, secrets, dangerous SQL and commands. */
export async function assessDiff(diff: string, assess: AssessText = assessText): Promise<Finding[]> {
  if (diff.length > DIFF_CHARS_MAX) return [unreadable(`It is larger than ${DIFF_CHARS_MAX} characters.`)];
  const { files, problem } = parseDiff(diff);
  const found: Finding[] = [];
  for (const file of files) {
    if (found.length >= FINDINGS_MAX) break;
    found.push(...(await assessFile(file, assess)));
  }
  const shown = found.slice(0, FINDINGS_MAX);
  if (problem === undefined) return shown;
  return [...shown.slice(0, FINDINGS_MAX - 1), { ...unreadable(problem.reason), line: problem.line }];
}

/** The same for changes of which only the names are known. */
export function assessFiles(paths: readonly string[]): Finding[] {
  return paths.flatMap((path) => byName(path)).slice(0, FINDINGS_MAX);
}

function byName(path: string): Finding[] {
  const found = credentialFinding(path);
  return [...(found === undefined ? [] : [found]), ...(isMigration(path) ? [migration(path)] : [])];
}

async function assessFile(file: FileChange, assess: AssessText): Promise<Finding[]> {
  const { old_path, hunks } = file;
  const found = byName(file.path);
  const path = maskSecrets(file.path);
  if (old_path !== file.path) found.push(...byName(old_path));
  found.push(...secretsIn(path, hunks));
  const kind = kindOf(path, hunks[0]?.[0]?.line === 1 ? (hunks[0][0]?.text ?? '') : '');
  for (const hunk of hunks) {
    if (found.length >= FINDINGS_MAX) break;
    if (!hunk.some(({ added, gap }) => added || gap)) continue;
    found.push(...(await commandsIn(kind, path, hunk, assess)));
    if (kind === 'sql') found.push(...(await sqlIn(path, hunk)));
    else if (kind === 'other' && isMigration(path)) found.push(...(await quotedSqlIn(path, hunk)));
  }
  return withoutRepeats(found);
}

/** That a file changes the schema is reported once, however often it does. */
function withoutRepeats(found: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return found.filter(({ category, file = '', operation, matched, line }) => {
    const key =
      category === 'database_migration'
        ? `${category}\n${file}`
        : `${operation}\n${matched}\n${file}\n${line}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

function secretsIn(path: string, hunks: readonly (readonly Line[])[]): Finding[] {
  const added = hunks.flat().filter((line) => line.added);
  return findSecrets(added.map(({ text }) => text).join('\n')).map(({ kind, line, masked }) => ({
    category: 'credential_modification',
    operation: 'secret_added',
    pattern: `secret:${kind}`,
    matched: masked,
    reason: 'Whoever reads the repository could log in with it, and history keeps it.',
    instead: 'Take it from the environment or a vault; if it was real, have it replaced.',
    file: path,
    line: added[line - 1]?.line,
  }));
}

async function commandsIn(
  kind: FileKind,
  path: string,
  hunk: readonly Line[],
  assess: AssessText,
): Promise<Finding[]> {
  const inSandbox = kind === 'image' || kind === 'workflow';
  const found: Finding[] = [];
  for (const script of scriptsIn(kind, hunk)) {
    if (!isTouched(script.lines)) continue;
    const lineOf = locator(script, assess);
    for (const finding of await assess(script.text)) {
      if (inSandbox && HARMLESS_IN_SANDBOX.has(finding.category)) continue;
      // A script is full of values that are only known at run time; the agent that runs it is asked about
      // them then.
      if (finding.category === 'unresolved' && finding.operation !== 'check_exhausted') continue;
      const line = await lineOf(finding);
      if (line !== undefined) found.push({ ...finding, file: path, line });
    }
  }
  return found;
}

/** The line of a finding; undefined if it stood there before and the change did not touch it. */
function locator(script: Script, assess: AssessText): (finding: Finding) => Promise<number | undefined> {
  const first = changedLine(script.lines);
  if (script.lines.length === 1 || script.lines.length > LINES_LOCATED_MAX) return async () => first;
  let parts: { lines: readonly Line[]; found: readonly Finding[] }[] | undefined;
  return async (finding) => {
    parts ??= await Promise.all(
      joined(script.lines).map(async ({ text, lines }) => ({ lines, found: await assess(text.trim()) })),
    );
    const same = parts.filter(({ found }) =>
      found.some(({ operation, matched }) => operation === finding.operation && matched === finding.matched),
    );
    if (same.length === 0) return first;
    const touched = same.find(({ lines }) => isTouched(lines));
    return touched === undefined ? undefined : changedLine(touched.lines);
  };
}

function changedLine(lines: readonly Line[]): number | undefined {
  return (lines.find(({ added }) => added) ?? lines.find(({ gap }) => gap))?.line;
}

async function sqlIn(path: string, hunk: readonly Line[]): Promise<Finding[]> {
  const located = await locateSql(hunk.map(({ text }) => text).join('\n'), 'unknown');
  return located.flatMap(({ finding, from_line, to_line }) => {
    const lines = hunk.slice(from_line - 1, to_line);
    const last = lines.at(-1);
    // Without its semicolon, a statement may have continued in the lines that were removed.
    const isCut = last?.gap === true && !last.text.trimEnd().endsWith(';');
    // A part of a file may begin or end within a string.
    if ((!isTouched(lines) && !isCut) || finding.operation === 'unreadable_sql') return [];
    return [{ ...finding, file: path, line: changedLine(lines) }];
  });
}

const SQL_TEXT =
  /"""([\s\S]{0,20000}?)"""|'''([\s\S]{0,20000}?)'''|`((?:[^`\\]|\\.){0,20000})`|"((?:[^"\\\n]|\\.){0,20000})"|'((?:[^'\\\n]|\\.){0,20000})'/g;
const SQL_START = /^\s*(?:DROP|TRUNCATE|DELETE|UPDATE|ALTER|GRANT|WITH|DO)\b/i;

/** Migrations in a programming language keep their SQL in strings. */
async function quotedSqlIn(path: string, hunk: readonly Line[]): Promise<Finding[]> {
  const text = hunk.map((line) => line.text).join('\n');
  const found: Finding[] = [];
  let [start, counted] = [1, 0];
  for (const match of text.matchAll(SQL_TEXT)) {
    const sql = match.slice(1).find((group) => group !== undefined) ?? '';
    if (!SQL_START.test(sql) || found.length >= FINDINGS_MAX) continue;
    for (; counted < match.index; counted += 1) if (text.charCodeAt(counted) === 10) start += 1;
    const lines = hunk.slice(start - 1, start + match[0].split('\n').length - 1);
    if (!isTouched(lines)) continue;
    for (const { finding } of await locateSql(sql, 'unknown'))
      found.push({ ...finding, file: path, line: changedLine(lines) });
  }
  return found;
}

function migration(path: string): Finding {
  return {
    category: 'database_migration',
    operation: 'migration_change',
    pattern: 'migration-file',
    matched: path,
    reason: 'A database changes by it: tier 3 verification or above first.',
    file: path,
  };
}

function unreadable(reason: string): Finding {
  return {
    category: 'unresolved',
    operation: 'unreadable_change',
    pattern: 'unreadable-change',
    matched: reason,
    reason: 'What cannot be read cannot be judged.',
    instead: 'Give the diff as `git diff` prints it, or the commit.',
  };
}
