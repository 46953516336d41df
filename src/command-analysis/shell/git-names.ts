import { GIT_TAKES_WORD } from '../git-options.ts';
import { afterOptions, parseOptions } from './program-options.ts';
import { textInFront } from './quote.ts';
import { isKnown, type Word } from './word.ts';
import type { World } from './world.ts';
import type { Inner } from './wrap.ts';

/** In the form that `parseOptions` takes. */
export const GIT_GLOBAL = GIT_TAKES_WORD.join(' ');

/** Options of `git config` that take the next word, and those that only read. */
export const GIT_CONFIG_TAKES = '-f --file --blob -t --type --default --value --url --comment';
export const GIT_CONFIG_READS: readonly string[] =
  '--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool -l --list'.split(' ');

const ALIAS = /^alias\.(.+)$/i;

export interface GitAlias {
  readonly alias: string;
  readonly text: string;
}

/** `git config alias.x …`: the aliases that it sets. */
export function gitConfigured(words: readonly Word[]): GitAlias[] {
  const start = afterOptions(words, 1, GIT_GLOBAL);
  if (words[start]?.text !== 'config') return [];
  const { operands } = parseOptions(words.slice(start + 1), { takes: '-f --file --blob --type --comment' });
  const [key, value] = operands[0]?.text === 'set' ? operands.slice(1) : operands;
  const alias = ALIAS.exec(key?.text ?? '')?.[1];
  return alias === undefined || !isKnown(value) ? [] : [{ alias, text: value.text }];
}

/** `key=value` of `-c`, and of the variables that git reads configuration from. */
function settings(words: readonly Word[], start: number, world: World): [string, string][] {
  const found: [string, string][] = [];
  words.slice(1, start).forEach(({ text }, index) => {
    const given = text === '-c' ? words[index + 2]?.text : /^-c(.+=.*)$/s.exec(text)?.[1];
    const equals = given?.indexOf('=') ?? -1;
    if (given !== undefined && equals > 0)
      found.push([given.slice(0, equals).toLowerCase(), given.slice(equals + 1)]);
  });
  for (const [name, [key]] of world.variables) {
    const number = /^GIT_CONFIG_KEY_(\d+)$/.exec(name)?.[1];
    if (number === undefined || key === undefined) continue;
    const [value] = world.variables.get(`GIT_CONFIG_VALUE_${number}`) ?? [];
    if (isKnown(value)) found.push([key.text.toLowerCase(), value.text]);
  }
  return found;
}

/** What a git command means if it is an alias that this command line has defined. */
export function gitMeaning(
  words: readonly Word[],
  known: ReadonlyMap<string, string>,
  world: World,
): Inner | undefined {
  const start = afterOptions(words, 1, GIT_GLOBAL);
  const name = words[start]?.text;
  if (name === undefined || name === '') return undefined;
  const own = settings(words, start, world).findLast(
    ([key]) => ALIAS.exec(key)?.[1] === name.toLowerCase(),
  )?.[1];
  const text = own ?? known.get(name);
  if (text === undefined) return undefined;
  const rest = words.slice(start + 1);
  if (text.startsWith('!')) return textInFront(text.slice(1), rest);
  // Within an alias, its own name is git's own command: git follows no alias to itself.
  return text.split(/\s+/)[0] === name
    ? undefined
    : textInFront(['git', ...folderOptions(words.slice(1, start)), text].join(' '), rest);
}

function folderOptions(words: readonly Word[]): string[] {
  const { values } = parseOptions(words, { takes: GIT_GLOBAL });
  return values('-C').flatMap(({ text }) => (/^[\w./-]+$/.test(text) ? ['-C', text] : []));
}

function helpersIn(words: readonly Word[], options: string, pattern: RegExp): string[] {
  const given = parseOptions(words, { takes: options }).values(...options.split(' '));
  return [
    ...given.filter(isKnown).map(({ text }) => text),
    ...words.flatMap(({ text }) => pattern.exec(text)?.[1] ?? []),
  ];
}

/** Commands that git itself runs: its editor, its pager, its transport to another machine. */
export function gitHelpers(words: readonly Word[], world: World): Inner[] {
  const start = afterOptions(words, 1, GIT_GLOBAL);
  const texts = settings(words, start, world).flatMap(([key, value]) =>
    /^(?:core\.(?:sshcommand|editor|pager|fsmonitor)|sequence\.editor|pager\.|diff\.external|credential\.helper|filter\..*\.(?:clean|smudge))/.test(
      key,
    )
      ? [value.replace(/^!/, '')]
      : [],
  );
  for (const name of [
    'GIT_SSH_COMMAND',
    'GIT_EDITOR',
    'GIT_SEQUENCE_EDITOR',
    'GIT_PAGER',
    'PAGER',
    'GIT_EXTERNAL_DIFF',
    'EDITOR',
    'VISUAL',
  ]) {
    const [value] = world.variables.get(name) ?? [];
    if (isKnown(value)) texts.push(value.text);
  }
  const verb = words[start]?.text;
  const rest = words.slice(start + 1);
  if (verb === 'rebase')
    for (const word of parseOptions(rest, { takes: '-x --exec' }).values('-x', '--exec'))
      if (isKnown(word)) texts.push(word.text);
  // The program that answers for a local or `ext::` remote runs here, and so does the one that shows matches.
  if (/^(?:fetch|pull|clone|push|ls-remote|archive)$/.test(verb ?? ''))
    for (const text of helpersIn(rest, '--upload-pack --receive-pack --exec -u', /^ext::(.+)$/s))
      texts.push(text);
  if (verb === 'grep')
    for (const text of helpersIn(rest, '', /^(?:-O|--open-files-in-pager=)(.+)$/s)) texts.push(text);
  const runs: Inner[] = texts.filter((text) => text !== '').map((script) => ({ script }));
  if (verb === 'bisect' && rest[0]?.text === 'run') runs.push({ words: rest.slice(1) });
  if (verb === 'submodule') {
    const at = rest.findIndex(({ text }) => text === 'foreach');
    const inner = at === -1 ? [] : rest.slice(afterOptions(rest, at + 1));
    if (inner.length === 1 && isKnown(inner[0])) runs.push({ script: inner[0].text });
    else if (inner.length > 0) runs.push({ words: inner });
  }
  if (verb === 'filter-branch')
    for (const option of rest.filter(({ text }) => /^--[a-z]+-filter$/.test(text))) {
      const script = rest[rest.indexOf(option) + 1];
      if (isKnown(script)) runs.push({ script: script.text });
    }
  return runs;
}
