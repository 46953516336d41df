/** A command whose output something is. */
export interface Printer {
  readonly name: string;
  readonly args: readonly Word[];
}

/** What can be read from `<(…)`. */
export interface Stream {
  readonly lines: Lines | undefined;
  readonly from: readonly Printer[];
}

/**
 * A word after expansion, as a command would receive it. A pattern stays a pattern, in the language of `kernel/glob.ts`;
 * what only the running shell can know stays unknown.
 */
export interface Word {
  readonly text: string;
  readonly glob: boolean;
  /** A pattern of brackets alone as it was spelled: the shell hands it on unchanged where it matches nothing. */
  readonly spelling?: string | undefined;
  /** The part of the source that could not be worked out. */
  readonly unknown?: string | undefined;
  /** Of an unknown word: all of it, what is unknown as it is spelled. A shell that reads it meets the same unknown. */
  readonly source?: string | undefined;
  /** Of an unknown word: what stands behind the last part that is unknown, such as `/bin/java`. */
  readonly tail?: string | undefined;
  /** For an unknown word: its text if unset variables are empty, where letters are on both sides of them. */
  readonly glued?: string | undefined;
  /** Of an unknown word: the commands that would print it. */
  readonly from?: readonly Printer[] | undefined;
  readonly stream?: Stream | undefined;
  /** Of a line among others: it may be left out, or stand in another place. */
  readonly unsure?: boolean | undefined;
}

export interface KnownWord extends Word {
  readonly unknown?: undefined;
}

/** What a command prints or reads, line by line. */
export type Lines = readonly Word[];

const SHOWN_CHARS_MAX = 60;
const FOLDER_CHARS_MAX = 4096;

export function literal(text: string): Word {
  return { text, glob: false };
}

export function unknownWord(source: string): Word {
  const shown = source.replace(/\s+/g, ' ');
  return {
    text: '',
    glob: false,
    unknown: shown.length > SHOWN_CHARS_MAX ? `${shown.slice(0, SHOWN_CHARS_MAX)}…` : shown,
  };
}

/** A part of a word as it is spelled, because only the running shell knows what it stands for. */
export function unknownPart(source: string, from?: readonly Printer[]): Word {
  return { ...unknownWord(source), source, tail: '', ...(from === undefined ? {} : { from }) };
}

export function isKnown(word: Word | undefined): word is KnownWord {
  return word !== undefined && word.unknown === undefined;
}

/** Text that stands unquoted: its wildcards count. */
export function unquoted(text: string): Word {
  if (/[*?]/.test(text)) return { text: text.replace(/\[[^\]/]+\]/g, '?'), glob: true };
  const single = text.replace(/\[[^\]/]+\]/g, '?');
  return single === text ? literal(text) : { text: single, glob: true, spelling: text };
}

/** The same word with other text around or instead of its own. */
export function mapWord(word: Word, change: (text: string) => string): Word {
  if (word.unknown !== undefined) return word;
  const text = change(word.text);
  return word.spelling === undefined
    ? { text, glob: word.glob }
    : { text, glob: word.glob, spelling: change(word.spelling) };
}

export function textOf(lines: Lines | undefined): string | undefined {
  const unsure = (lines?.length ?? 0) > 1 && lines?.some((line) => line.unsure === true) === true;
  return unsure ? undefined : textSeen(lines);
}

/** The same, even if lines may be missing or in another order: for searching in it. */
export function textSeen(lines: Lines | undefined): string | undefined {
  if (lines === undefined || lines.some((line) => line.unknown !== undefined || line.glob)) return undefined;
  return lines.length === 1 ? lines[0]?.text : lines.map(({ text }) => text).join('\n');
}

export function isAbsolute(path: string): boolean {
  return path.startsWith('/');
}

/** `path` as seen from where the command line started, when it is written in `folder`. */
export function within(folder: Word, path: Word): Word {
  if (!isKnown(path) || isAbsolute(path.text)) return path;
  if (!isKnown(folder)) return folder;
  if (folder.text === '') return path;
  if (path.text === '.' || path.text === './') return folder;
  const start = (text: string): string => (text.endsWith('/') ? text : `${text}/`);
  const text = start(folder.text) + path.text;
  if (!folder.glob && !path.glob) return literal(text);
  const spelled = [folder, path].every((word) => !word.glob || word.spelling !== undefined);
  const spelling = start(folder.spelling ?? folder.text) + (path.spelling ?? path.text);
  return spelled ? { text, glob: true, spelling } : { text, glob: true };
}

/** Folders are kept short: a shell's `cd a/..` goes by the names, not by what is on the disk. */
export function shortFolder(folder: Word): Word {
  if (folder.text.length > FOLDER_CHARS_MAX) return unknownWord('a very long path');
  return mapWord(folder, shortPath);
}

/** A name that leads nowhere (`.`, or none between two slashes) or back. Most paths have none. */
const DETOUR = /\/\.{0,2}(?:\/|$)|^\.{1,2}(?:\/|$)/;

/** Without `.`, `..` and doubled slashes, by the names alone. */
export function shortPath(text: string): string {
  if (!DETOUR.test(text)) return text;
  const names: string[] = [];
  for (const name of text.split('/')) {
    if (name === '' || name === '.') continue;
    const above = names.at(-1);
    if (name !== '..' || above === '..' || (above === undefined && !isAbsolute(text))) names.push(name);
    else names.pop();
  }
  return (isAbsolute(text) ? '/' : '') + names.join('/');
}

export function baseName(path: string): string {
  // Most names have no slash, and every command asks.
  if (!path.includes('/')) return path;
  const bare = path.replace(/\/+$/, '');
  return bare.slice(bare.lastIndexOf('/') + 1);
}

/** A name with an ending is taken for a file; without one it may be a folder. */
export function hasEnding(word: Word): boolean {
  return isKnown(word) && /[^/.]\.[A-Za-z]\w{0,9}$/.test(word.text);
}
