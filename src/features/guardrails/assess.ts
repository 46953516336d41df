import {
  type Place,
  type Reading,
  readCommands,
  writesOf,
} from '../../command-analysis/shell/analyse-shell.ts';
import type { SimpleCommand } from '../../command-analysis/shell/shell-command.ts';
import { isKnown, within } from '../../command-analysis/shell/word.ts';
import { globMatches } from '../../kernel/glob.ts';
import { type Finding, PROJECT_WARNING } from '../trust/index.ts';
import { checkedOut } from './checked-out.ts';
import { isControlFile, mayBeControlFile } from './edits/control-files.ts';
import { isCredentialFile } from './edits/credentials.ts';
import { type Discards, GuardFindings, type Removals } from './guard-findings.ts';
import type { Check, Hit, Run } from './pattern.ts';
import { disksWritten } from './programs/disk.ts';
import { gitOf } from './programs/git-command.ts';
import { placesWritten } from './programs/overwrite.ts';
import { judgeOpaque } from './programs/unread.ts';
import { type ProjectPatterns, projectHits } from './project.ts';
import { checksOf, knownPrograms } from './registry.ts';
import { runsOf } from './run-text.ts';
import { sentCredentials } from './sent.ts';
import type { Dialect } from './sql/sql-tokens.ts';
import { sqlFindings } from './sql-now.ts';

/** What a command line would do that needs a decision. */
export interface Assessment {
  readonly findings: readonly Finding[];
  /** What the findings would remove or overwrite, for the rules that excuse (`excuse.ts`). */
  readonly removals: Removals;
  readonly discards: Discards;
  /**
   * SQL that a client would send. It has been judged by its words; a caller with a parser can judge it
   * better.
   */
  readonly sql: readonly { readonly text: string; readonly dialect: Dialect }[];
}

/** Findings that are reported and not stopped, whatever the profile. */
const WARNINGS = new Set(['skip_hooks', 'delete_branch', 'force_push_with_lease', 'schema_change']);

export function isWarningOnly({ category, operation, pattern }: Finding): boolean {
  return category === 'database_migration' || WARNINGS.has(operation) || pattern.startsWith(PROJECT_WARNING);
}

const HELP = ['--help', '-?', '/?'];

/** `--version` alone is a question; with a value it selects a version. */
function asksForHelp({ texts }: Run): boolean {
  if (texts.length === 1 && texts[0] === '--version') return true;
  return HELP.some((option) => texts.includes(option)) && !texts.includes('--');
}

/**
 * What is dangerous about a command line, or a program's argument list. Pure: nothing is run or looked up.
 * What is excused because git has it or a build recreates it is left to `excuse`.
 */
export function assessCommand(
  command: string | readonly string[],
  place: Place,
  project?: ProjectPatterns,
): Assessment {
  return assessReading(readCommands(command, place), place, project);
}

/** The same for a command line that was already read: locks and guardrails share one reading. */
export function assessReading(reading: Reading, place: Place, project?: ProjectPatterns): Assessment {
  const found = new GuardFindings();
  const sql: { text: string; dialect: Dialect }[] = [];
  const whole: Hit<string> = (id, detail) => found.add(id, undefined, detail);
  for (const opaque of reading.opaque) judgeOpaque(opaque, whole);
  const told: Pick<Run, 'sql' | 'report'> = {
    sql: (text, dialect) => {
      if (text.trim() === '') return;
      sql.push({ text, dialect });
      found.report(sqlFindings(text, dialect, place, assessCommand));
    },
    report: (findings) => found.report(findings),
  };
  for (const [index, command] of reading.commands.entries()) {
    const { args } = command;
    const run: Run = {
      command,
      place,
      name: command.name.toLowerCase(),
      args,
      texts: args.map(({ text }) => text),
      branches: () => checkedOut(reading.commands, index, place),
      sql: told.sql,
      report: told.report,
    };
    judge(run, found);
    if (project !== undefined) projectHits(run, project, found);
  }
  found.distrust(movedTo(reading.commands));
  for (const hit of runsOf(reading.commands)) found.add('download-run', undefined, { matched: hit });
  return { findings: found.findings, removals: found.removals, discards: found.discards, sql };
}

/** Where files are moved to, or linked from: afterwards a name says nothing about the content. */
function movedTo(commands: readonly SimpleCommand[]): string[] {
  return commands.flatMap(({ name, args, folder }) => {
    if (name !== 'mv' && name !== 'ln') return [];
    const target = args.filter(({ text }) => !text.startsWith('-')).at(-1);
    const path = target === undefined ? undefined : within(folder, target);
    return isKnown(path) ? [path.text.replace(/\/+$/, '')] : [];
  });
}

function judge(run: Run, found: GuardFindings): void {
  const { command } = run;
  const hit: Hit<string> = (id, detail) => found.add(id, command, detail);
  disksWritten(run, hit);
  placesWritten(run, hit);
  written(command, run.place, hit);
  if (asksForHelp(run)) return;
  for (const check of checksFor(command)) check(run, hit);
  sentCredentials(run, hit);
}

/** A name that is a pattern (`/bin/r?`) stands for each program that it could match. */
function checksFor({ name }: SimpleCommand): readonly Check[] {
  if (!name.includes('*') && !name.includes('?')) return checksOf(name);
  const names = [...knownPrograms()].filter((known) => globMatches(name, known));
  return names.slice(0, 10).flatMap(checksOf);
}

/** Creating a folder, or passing a file to git, changes nothing in it. */
const HARMLESS_WRITERS = /^(?:mkdir|git|chmod|chown)$/;
/** They contain a token where a person has logged in, and in a home folder they are that person's. */
const LOGIN_FILE = /\/\.(?:npmrc|yarnrc(?:\.yml)?|pypirc)$|\/\.ssh(?:\/|$)|\/\.(?:aws|gnupg|kube|azure)\/?$/;

function isLogin(path: string, place: Place): boolean {
  return LOGIN_FILE.test(path) && !path.startsWith(`${place.root ?? place.cwd}/`);
}

/** A new folder changes nothing, and of `git config` it counts what it sets. */
function isJudgedOtherwise(command: SimpleCommand): boolean {
  return command.name === 'mkdir' || (command.name === 'git' && gitOf(command)?.verb === 'config');
}

/** Files that a command writes, moves or removes by its nature, not because of a pattern. */
function written(command: SimpleCommand, place: Place, hit: Hit<string>): void {
  for (const { path, how } of writesOf(command)) {
    const bare = path.endsWith('*') ? path.replace(/\*+$/, '') : path;
    const matched = `${command.name === '' ? '>' : command.name} ${path}`;
    const absolute = within({ text: place.cwd, glob: false }, { text: bare, glob: false }).text;
    if (isControlFile(absolute, how !== 'file') || (how === 'glob' && mayBeControlFile(path))) {
      if (!isJudgedOtherwise(command) && command.elsewhere !== true) hit('control-file', { matched });
    } else if (HARMLESS_WRITERS.test(command.name)) continue;
    else if (isCredentialFile(bare) !== undefined || isLogin(absolute, place))
      hit('credential-write', { matched });
  }
}
