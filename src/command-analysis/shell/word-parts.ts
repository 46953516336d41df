import type { Assignment, Command, Redirect, Redirection, SyntaxNode } from 'unbash';
import { expandText, expandValue, expandWord, type Shell } from './expand.ts';
import type { Output } from './shell-command.ts';
import {
  isKnown,
  type Lines,
  literal,
  mapWord,
  type Printer,
  type Stream,
  unknownWord,
  type Word,
} from './word.ts';
import { assign, type World } from './world.ts';

const NO_ASSIGNMENTS: readonly Assignment[] = [];

/** What stands before a command: `a=1 b=2 make`. */
export function assignmentsOf({ prefix }: Command): readonly Assignment[] {
  if (prefix.length === 0) return NO_ASSIGNMENTS;
  return prefix.filter((part): part is Assignment => part.type === 'Assignment');
}

/** The world after `a=1 b=$a`: each sees those before it. */
export function assigned(
  assignments: readonly Assignment[],
  world: World,
  shellIn: (world: World) => Shell,
): World {
  let now = world;
  for (const { name, value, append, index } of assignments) {
    const shell = shellIn(now);
    const list = value.type !== 'Word';
    const words = list
      ? value.elements.flatMap((word) => expandWord(word, shell))
      : [expandValue(value, shell)];
    const old = now.variables.get(name) ?? [];
    let result: readonly Word[] = words;
    if (index !== undefined) {
      // Under a name of its own: `m[a]=x` and `${m[a]}`.
      now = assign(now, [[`${name}[${index.value}]`, words]]);
      result = old.length > 0 ? old : [unknownWord(`$${name}`)];
    } else if (list && words.some(({ text }) => KEYED.test(text))) {
      now = assign(
        now,
        words.flatMap((word) => keyed(name, word)),
      );
      result = words.map((word) => mapWord(word, (text) => KEYED.exec(text)?.[2] ?? text));
    } else if (append === true)
      result = list ? [...old, ...words] : [joined(old[0] ?? literal(''), words[0])];
    now = assign(now, [[name, result]]);
  }
  return now;
}

const KEYED = /^\[([^\]]+)\]=(.*)$/s;

/** One element of `m=([a]=x)`. */
function keyed(name: string, word: Word): [string, readonly Word[]][] {
  const [, key = '', value = ''] = KEYED.exec(word.text) ?? [];
  return key === '' ? [] : [[`${name}[${key}]`, [literal(value)]]];
}

/** `alias x=…`: the shell's grammar takes it for an assignment. */
export function aliasWord({ name, value }: Assignment, shell: Shell): Word {
  const given = value.type === 'Word' ? expandValue(value, shell) : unknownWord(name);
  const text = isKnown(given) ? given.text : given.source;
  return text === undefined ? given : literal(`${name}=${text}`);
}

function joined(start: Word, end: Word | undefined): Word {
  if (!isKnown(start) || end === undefined) return start;
  return isKnown(end) ? { text: start.text + end.text, glob: start.glob || end.glob } : end;
}

export interface Redirections {
  readonly outputs: readonly Output[];
  readonly input: Lines | undefined;
  /** The files it reads. */
  readonly reads: readonly Word[];
  /** The commands whose output it reads instead of what is piped to it; undefined: none. */
  readonly from: readonly Printer[] | undefined;
}

const NO_WORDS: readonly Word[] = [];

/** The files a command's output goes to, and what it reads in place of `input`. */
export function redirected(
  redirects: readonly Redirection[],
  input: Lines | undefined,
  shell: Shell,
): Redirections {
  if (redirects.length === 0) return { outputs: NO_WORDS, input, reads: NO_WORDS, from: undefined };
  const outputs: Output[] = [];
  const files: Word[] = [];
  let reads = input;
  let from: readonly Printer[] | undefined;
  for (const redirect of redirects) {
    if (redirect.type === 'Redirect' && redirect.operator !== '<') {
      outputs.push(...outputOf(redirect, shell));
      continue;
    }
    const given = inputOf(redirect, shell);
    if (given === undefined) continue;
    if (given.file !== undefined) files.push(given.file);
    // `3< file`: the command reads that only if it is told to.
    if (!isStream(redirect.descriptor, 0)) continue;
    reads = given.lines;
    from = given.from;
  }
  return { outputs, input: reads, reads: files, from };
}

function isStream(descriptor: Redirection['descriptor'], number: number): boolean {
  if (descriptor === undefined) return true;
  return descriptor.type === 'FileDescriptor' && descriptor.value === number;
}

/** What one of `<`, `<<` and `<<<` gives to read, and its file. */
function inputOf(redirect: Redirection, shell: Shell): (Stream & { readonly file?: Word }) | undefined {
  if (redirect.type === 'HereDoc') {
    const { body, operator } = redirect;
    const text = body.parts === undefined ? body.text : expandText(body.parts, shell);
    return { lines: linesOf(operator === '<<-' ? text.replace(/^\t+/gm, '') : text), from: [] };
  }
  if (redirect.target === undefined) return undefined;
  if (redirect.type === 'HereString') {
    const value = expandValue(redirect.target, shell);
    // Where a part is unknown, a shell that reads the text meets the same unknown.
    const text = isKnown(value) ? value.text : value.source;
    return { lines: text === undefined ? undefined : linesOf(text), from: value.from ?? [] };
  }
  const [file] = expandWord(redirect.target, shell);
  if (file === undefined) return { lines: undefined, from: [] };
  const held = file.stream ?? shell.file(file);
  return { lines: file.text === '/dev/null' ? [] : held?.lines, from: held?.from ?? [], file };
}

/** The file that a redirection of output writes, if it does. */
function outputOf({ operator, target: source, descriptor }: Redirect, shell: Shell): Output[] {
  if (source === undefined) return [];
  const words = expandWord(source, shell);
  const target = words.length === 1 ? words[0] : unknownWord(source.text);
  // `2>&1`, `<&3`, `>&-`
  const duplicates = operator === '<&' || (operator === '>&' && /^\d*-?$/.test(target?.text ?? ''));
  if (target === undefined || (duplicates && isKnown(target))) return [];
  const beside = operator === '<>' || !isStream(descriptor, 1);
  return [{ ...target, ...(operator.endsWith('>>') && { append: true }), ...(beside && { beside }) }];
}

function linesOf(text: string): Lines {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map(literal);
}

export function nameOf(node: SyntaxNode): string | undefined {
  return node.type === 'Command' ? node.name?.value : undefined;
}

const SUCCEEDS = new Set('cd pushd popd mkdir touch true : echo printf export set shopt umask'.split(' '));

/** May it fail, so that what follows with `&&` is skipped? These commands are assumed not to fail. */
export function mayFail(node: SyntaxNode): boolean {
  if (node.type !== 'Command') return true;
  return node.name !== undefined && !SUCCEEDS.has(node.name.value);
}
