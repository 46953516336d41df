import type { ShellPlace } from '../../command-analysis/shell/parameters.ts';
import {
  namesIn,
  type OptionSpec,
  type Options,
  parseOptions,
} from '../../command-analysis/shell/program-options.ts';
import type { SimpleCommand } from '../../command-analysis/shell/shell-command.ts';
import { isKnown, mapWord, type Word } from '../../command-analysis/shell/word.ts';
import type { Category, Finding } from '../trust/index.ts';
import type { Dialect } from './sql/sql-tokens.ts';

/** What the registry says about one danger. */
export interface PatternText {
  readonly category: Category;
  readonly operation: string;
  /** What would be lost, in one sentence. */
  readonly reason: string;
  readonly instead?: string;
}

/** Something that a finding would remove or overwrite, for the rules that excuse. */
export interface Removal {
  /** Absolute, or relative to where the command line starts. */
  readonly path: string;
  readonly how: 'file' | 'tree' | 'glob';
  /** On another machine or in a container: only the name says anything. */
  readonly elsewhere: boolean;
}

export interface Detail {
  /** Overrides the pattern's own: the same pattern may be worse for some targets. */
  readonly operation?: string;
  readonly matched?: string;
  /** What was looked up to determine this. */
  readonly branch?: string | undefined;
  /** What would be lost. If one of the places is unknown, none of it can be excused. */
  readonly removes?: readonly Word[];
  readonly how?: Removal['how'];
  /** The work tree whose uncommitted changes would be lost, if nothing else would be. */
  readonly discards_in?: Word;
}

/** One command as the patterns see it. */
export interface Run {
  readonly command: SimpleCommand;
  readonly place: ShellPlace;
  readonly name: string;
  readonly args: readonly Word[];
  /** The text of each argument; empty where it is unknown. */
  readonly texts: readonly string[];
  /** The branches that may be checked out when it runs; undefined: unknown. */
  branches(): readonly string[] | undefined;
  /** SQL that a client would send. */
  sql(text: string, dialect: Dialect): void;
  /** Findings of the judges of other languages. */
  report(findings: readonly Finding[]): void;
}

export type Hit<Id extends string> = (id: Id, detail?: Detail) => void;
export type Check<Id extends string = string> = (run: Run, hit: Hit<Id>) => void;

export interface Theme {
  readonly patterns: Readonly<Record<string, PatternText>>;
  /** Keyed by program name; one key may contain several, separated by spaces. */
  readonly programs: Readonly<Record<string, Check>>;
}

/** Ties reports to descriptions: a check can report only what its theme describes. */
export function theme<P extends Readonly<Record<string, PatternText>>>(
  patterns: P,
  programs: Readonly<Record<string, Check<keyof P & string>>>,
): Theme {
  return { patterns, programs: programs as Readonly<Record<string, Check>> };
}

/** Options with long ones written out in full: programs accept any unambiguous prefix. */
export function readOptions(args: readonly Word[], longs: string, spec: OptionSpec = {}): Options {
  const known = namesIn(longs);
  const written = args.map((arg) => {
    if (!arg.text.startsWith('--') || !isKnown(arg) || !/^--[a-z]{2}/.test(arg.text)) return arg;
    const [name = ''] = arg.text.split('=', 1);
    if (known.has(name)) return arg;
    const meant = [...known].find((long) => long.startsWith(name));
    return meant === undefined ? arg : mapWord(arg, (text) => meant + text.slice(name.length));
  });
  return parseOptions(written, spec);
}

/** Only asks a tool what it would do. */
export function isRehearsal({ texts }: Run, ...more: readonly string[]): boolean {
  return texts.some(
    (text) =>
      /^--(?:dry-run|dryrun|simulate|what-if|whatif|noop)(?:=(?!none|false).*)?$/.test(text) ||
      more.includes(text),
  );
}

/** Matches nothing: for a tool that has no such verb. */
export const NEVER = /(?!)/;
