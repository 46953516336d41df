import { unquotedName } from './diff-names.ts';

/** A line as it stands after the change. */
export interface Line {
  readonly text: string;
  /** In the file after the change, from 1. */
  readonly line: number;
  readonly added: boolean;
  /** Something was removed between this line and the next. */
  gap: boolean;
}

export interface FileChange {
  path: string;
  old_path: string;
  hunks: Line[][];
  binary: boolean;
}

export interface ParsedDiff {
  readonly files: readonly FileChange[];
  /** Why not all of it could be read. */
  readonly problem?: { readonly line: number; readonly reason: string };
}

const HUNK = /^(@@+) (.*) @@/;
const RANGE = /^[-+](\d+)(?:,(\d+))?$/;
const GIT_HEADER = /^diff --git (.*)$/;
const COMBINED_HEADER = /^diff --(?:cc|combined) (.*)$/;
const MOVED = /^(rename|copy) (from|to) (.*)$/;
const FILES_MAX = 20_000;

/**
 * A unified diff as git, `diff -u` and format-patch write it. Text between the files is ignored, as `git
 * apply` does.
 */
export function parseDiff(diff: string): ParsedDiff {
  return new Parser(diff).parse();
}

class Unreadable extends Error {}

class Parser {
  readonly #lines: readonly string[];
  readonly #files: FileChange[] = [];
  #at = 0;
  #file: FileChange | undefined;
  /** Names have the prefixes `a/` and `b/`, or those that a git setting puts there. */
  #prefixed = true;

  constructor(diff: string) {
    this.#lines = diff.split('\n');
  }

  parse(): ParsedDiff {
    try {
      for (; this.#at < this.#lines.length; this.#at += 1) this.#line(this.#header());
      if (this.#files.length === 0 && this.#lines.some((line) => line.trim() !== ''))
        throw new Unreadable('It names no file.');
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return { files: this.#files, problem: { line: this.#at + 1, reason: error.message } };
    }
    return { files: this.#files };
  }

  /** In a diff with Windows line ends, the headers have them too. */
  #header(ahead = 0): string {
    return (this.#lines[this.#at + ahead] ?? '').replace(/\r$/, '');
  }

  #line(line: string): void {
    const git = GIT_HEADER.exec(line)?.[1];
    const combined = COMBINED_HEADER.exec(line)?.[1];
    const moved = MOVED.exec(line);
    if (git !== undefined) this.#gitHeader(git);
    else if (combined !== undefined) this.#open(unquotedName(combined), unquotedName(combined));
    else if (moved !== null && this.#file !== undefined) this.#moved(moved[2] === 'to', moved[3] ?? '');
    else if (line.startsWith('--- ') && this.#header(1).startsWith('+++ ')) this.#names();
    else if (/^Binary files .* differ$/.test(line) || line === 'GIT binary patch') this.#binary();
    else if (HUNK.test(line)) this.#hunk(line);
  }

  #open(old_path: string, path: string): void {
    if (this.#files.length >= FILES_MAX) throw new Unreadable(`It changes more than ${FILES_MAX} files.`);
    this.#file = { path, old_path, hunks: [], binary: false };
    this.#files.push(this.#file);
  }

  #gitHeader(names: string): void {
    const { old_name, name, prefixed } = namesOf(names);
    this.#prefixed = prefixed;
    this.#open(old_name, name);
  }

  #moved(isTarget: boolean, name: string): void {
    if (this.#file === undefined) return;
    if (isTarget) this.#file.path = unquotedName(name);
    else this.#file.old_path = unquotedName(name);
  }

  #names(): void {
    const [old_name, name] = [this.#header(), this.#header(1)].map((line) => unquotedName(line.slice(4)));
    this.#at += 1;
    if (this.#file === undefined || this.#file.hunks.length > 0) {
      this.#prefixed = [old_name, name].every((each) => /^(?:[abciwo]\/|\/dev\/null$)/.test(each ?? ''));
      this.#open('', '');
    }
    const bare = (each = '') => (this.#prefixed ? each.replace(/^[abciwo]\//, '') : each);
    const file = this.#file;
    if (file === undefined) return;
    if (old_name !== '/dev/null') file.old_path = bare(old_name);
    if (name !== '/dev/null') file.path = bare(name);
    if (file.path === '') file.path = file.old_path;
    if (file.old_path === '') file.old_path = file.path;
  }

  #binary(): void {
    if (this.#file !== undefined) this.#file.binary = true;
  }

  #hunk(header: string): void {
    const [, marks = '', ranges = ''] = HUNK.exec(header) ?? [];
    const file = this.#file;
    if (file === undefined) throw new Unreadable('It changes lines and does not say of which file.');
    const sides = ranges.split(' ').map((range) => RANGE.exec(range));
    const parents = marks.length - 1;
    if (sides.length !== parents + 1 || sides.includes(null))
      throw new Unreadable('A place is not to be read.');
    const left = sides.map((side) => Number(side?.[2] ?? 1));
    let line = Number(sides.at(-1)?.[1] ?? 1);
    const lines: Line[] = [];
    while (left.some((count) => count > 0)) {
      this.#at += 1;
      const text = this.#lines[this.#at];
      if (text === undefined) throw new Unreadable('It ends in the middle.');
      if (text.startsWith('\\')) continue;
      // Some editors cut the space off an empty line.
      const signs = text === '' || text === '\r' ? ' '.repeat(parents) : text.slice(0, parents);
      if (!/^[ +-]+$/.test(signs) || signs.length < parents) throw new Unreadable('A line has no sign.');
      this.#count(left, signs);
      if (signs.includes('-')) {
        const last = lines.at(-1);
        if (last !== undefined) last.gap = true;
        continue;
      }
      const added = signs.includes('+');
      lines.push({ text: text.slice(parents).replace(/\r+$/, ''), line, added, gap: false });
      line += 1;
    }
    file.hunks.push(lines);
  }

  /** Each parent has the lines without a plus in its own column; the result has those without any minus. */
  #count(left: number[], signs: string): void {
    const isGone = signs.includes('-');
    for (const [parent, sign] of [...signs].entries())
      if (sign === '-' || (sign === ' ' && !isGone)) left[parent] = (left[parent] ?? 0) - 1;
    const result = left.length - 1;
    if (!isGone) left[result] = (left[result] ?? 0) - 1;
    if (left.some((count) => count < 0)) throw new Unreadable('A place has more lines than it says.');
  }
}

/** Did the change touch this passage: was a part of it added, or removed from within it? */
export function isTouched(lines: readonly Line[]): boolean {
  return lines.some(({ added, gap }, index) => added || (gap && index < lines.length - 1));
}

/**
 * `a/x b/x`: names with spaces are not quoted, but without another line that gives names both sides are the
 * same.
 */
function namesOf(names: string): { old_name: string; name: string; prefixed: boolean } {
  const quoted =
    /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*")$/.exec(names) ?? /^("(?:[^"\\]|\\.)*") (.+)$/.exec(names);
  const middle = (names.length - 1) / 2;
  const halves = Number.isInteger(middle) && names.charAt(middle) === ' ' ? middle : names.indexOf(' ');
  const [old_name, name] = (
    quoted === null ? [names.slice(0, halves), names.slice(halves + 1)] : [quoted[1] ?? '', quoted[2] ?? '']
  ).map(unquotedName) as [string, string];
  const prefixed = /^[aciow]\//.test(old_name) && /^[bciow]\//.test(name) && old_name[0] !== name[0];
  return prefixed
    ? { old_name: old_name.slice(2), name: name.slice(2), prefixed }
    : { old_name, name, prefixed };
}
