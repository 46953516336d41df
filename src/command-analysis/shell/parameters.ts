import type { ParameterOperation } from 'unbash';
import { isAbsolute, literal, mapWord, unknownPart, type Word, within } from './word.ts';
import type { World } from './world.ts';

/** What is known of the machine a command line would run on; the analysis itself looks at nothing. */
export interface ShellPlace {
  readonly cwd: string;
  readonly home?: string | undefined;
  /** The top of the work tree, for `$(git rev-parse --show-toplevel)`. */
  readonly root?: string | undefined;
  /** The branch that is checked out around a folder, for a push that does not say what it pushes. Asked only then. */
  readonly branch?: ((folder: string) => string | undefined) | undefined;
  /** Is there a branch of that name? A word of `git checkout` may be the path of a file as well. */
  /** It is a linked worktree in which a person lets the agent throw its own changes away. */
  readonly isOwnWorktree?: boolean | undefined;
  readonly isBranch?: ((folder: string, name: string) => boolean) | undefined;
}

/** Numbers: without a slash whatever they are, so that a star says all about the name they stand in. */
const NUMBERS = /^(?:[$!?#]|RANDOM|SRANDOM|SECONDS|UID|EUID|PPID|BASHPID|LINENO|EPOCHSECONDS)$/;

export const ANY_NAME: Word = { text: '*', glob: true };

export function whereabouts(place: ShellPlace, world: World): Word {
  if (world.folder.unknown !== undefined || isAbsolute(world.folder.text)) return world.folder;
  return world.folder.text === '' ? literal(place.cwd) : within(literal(place.cwd), world.folder);
}

/** What a variable holds; undefined: nothing here gives it a value. */
export function variable(name: string, place: ShellPlace, world: World): readonly Word[] | undefined {
  const known = world.variables.get(name);
  if (known !== undefined) return known;
  if (/^[1-9]\d?$/.test(name)) {
    const word = world.parameters?.[Number(name) - 1];
    return world.parameters === undefined ? undefined : [word ?? literal('')];
  }
  if (name === '@' || name === '*') return world.parameters;
  if (name === 'HOME') return place.home === undefined ? undefined : [literal(place.home)];
  if (name === 'PWD') return [whereabouts(place, world)];
  if (name === 'OLDPWD') return world.folders_before.slice(0, 1);
  // Wherever it really is: a place for temporary files, and not in the repository.
  if (name === 'TMPDIR') return [literal('/tmp')];
  if (name === 'IFS') return [literal(' \t\n')];
  return NUMBERS.test(name) ? [ANY_NAME] : undefined;
}

/** A shell's pattern as a regular expression; undefined where it is more than stars and question marks. */
function patternOf(text: string, greedy: boolean): string | undefined {
  if (text.length > 100 || /[[\]()\\$`]/.test(text) || (text.match(/\*/g) ?? []).length > 2) return undefined;
  return text
    .replace(/[.+^{}|]/g, '\\$&')
    .replace(/\?/g, '.')
    .replace(/\*/g, greedy ? '.*' : '.*?');
}

function removed(text: string, operator: string, pattern: string): string | undefined {
  const greedy = operator.length === 2;
  const source = patternOf(pattern, greedy);
  if (source === undefined) return undefined;
  if (operator.startsWith('#')) return text.replace(new RegExp(`^(?:${source})`, 's'), '');
  // The shortest end is behind the longest beginning, and the other way round.
  const found = new RegExp(`^(${greedy ? '.*?' : '.*'})${patternOf(pattern, true)}$`, 's').exec(text);
  return found === null ? text : found[1];
}

function replaced(text: string, operator: string, pattern: string, by: string): string | undefined {
  if (/[*?[\]]/.test(pattern) || pattern === '') return undefined;
  if (operator === '//') return text.replaceAll(pattern, by);
  if (operator === '/#') return text.startsWith(pattern) ? by + text.slice(pattern.length) : text;
  if (operator === '/%') return text.endsWith(pattern) ? text.slice(0, -pattern.length) + by : text;
  const at = text.indexOf(pattern);
  return at === -1 ? text : text.slice(0, at) + by + text.slice(at + pattern.length);
}

/** `${x:2:3}`, where both are numbers; a negative length counts from the end. */
function sliced(text: string, offset: string, length: string | undefined): string | undefined {
  const [from, count] = [Number(offset.trim()), length === undefined ? undefined : Number(length.trim())];
  if (!Number.isInteger(from) || (count !== undefined && !Number.isInteger(count))) return undefined;
  const start = from < 0 ? Math.max(text.length + from, 0) : from;
  if (count === undefined) return text.slice(start);
  return text.slice(start, count < 0 ? count : start + count);
}

/** `${x%.ts}` and its like, on a value that is known. */
export function operate(
  word: Word,
  operation: Exclude<ParameterOperation, { type: 'Default' }>,
  source: string,
): Word {
  if (word.unknown !== undefined) return word;
  let text: string | undefined;
  if (operation.type === 'Remove') text = removed(word.text, operation.operator, operation.operand.value);
  else if (operation.type === 'Replace')
    text = replaced(word.text, operation.operator, operation.pattern.value, operation.replacement.value);
  else if (operation.type === 'CaseModification' && operation.operand === undefined && !word.glob) {
    if (operation.operator === ',,') text = word.text.toLowerCase();
    if (operation.operator === '^^') text = word.text.toUpperCase();
  }
  if (operation.type === 'Slice' && !word.glob)
    text = sliced(word.text, operation.offset.value, operation.length?.value);
  const result = text;
  return result === undefined
    ? unknownPart(source)
    : { ...mapWord(word, () => result), glob: /[*?]/.test(result) && word.glob };
}
