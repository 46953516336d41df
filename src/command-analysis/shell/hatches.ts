import { found } from './prints.ts';
import { afterOptions, parseOptions } from './program-options.ts';
import { readSed, sedSteps } from './sed-script.ts';
import { isKnown, literal, textOf, type Word } from './word.ts';
import { type Inner, runs, type Unwrap, type Wrapped } from './wrap.ts';

/**
 * Programs with another purpose that also run a command given in one of their arguments. By option: its
 * value; by a pattern with one group: what the group matches in any argument.
 */
function hatch(options: string, pattern?: RegExp): Unwrap {
  return (words) => {
    const args = words.slice(1);
    const given = options === '' ? [] : parseOptions(args, { takes: options }).values(...options.split(' '));
    const texts = given.filter(isKnown).map(({ text }) => text);
    if (pattern !== undefined)
      for (const { text } of args) {
        const inside = pattern.exec(text)?.[1];
        if (inside !== undefined) texts.push(inside);
      }
    return { runs: texts.map((script) => ({ script })), itself: true };
  };
}

/** `system("…")`, and pipes to and from a command, within an awk program. */
const awk: Unwrap = (words) => {
  const { operands, values } = parseOptions(words.slice(1), { takes: '-F -v -f' });
  const [file] = values('-f', '--file');
  const code = file === undefined ? (operands[0]?.text ?? '') : (textOf(file.stream?.lines) ?? '');
  const matches = [
    ...code.matchAll(/\bsystem\s*\(\s*"((?:[^"\\]|\\.)*)"/g),
    // From one `print` to the next, and never from an escaped quote: otherwise many of them would each scan
    // all that follows.
    ...code.matchAll(/\bprint(?:(?!\bprint)[^|"{}])*"((?:[^"\\]|\\.)*)"\s*\|\s*"[a-z/]*sh"/g),
    ...code.matchAll(/\|\s*"((?!(?:[a-z/]*sh)")(?:[^"\\]|\\.)*)"/g),
    ...code.matchAll(/(?<!\\)"((?:[^"\\]|\\.)*)"\s*\|\s*getline/g),
  ];
  return {
    runs: matches.slice(0, 20).map(([, text = '']) => ({ script: text.replace(/\\(.)/g, '$1') })),
    itself: true,
  };
};

const SED_RUNS_MAX = 20;

/**
 * sed's command `e` runs the rest of its line or, without one, the line that was read; the `e` flag of `s`
 * runs the result.
 */
const sed: Unwrap = (words, input) => {
  const inner: Inner[] = [];
  for (const { name, flags = '', to = '', text = '' } of sedSteps(readSed(words.slice(1), input).seen)) {
    if (inner.length > SED_RUNS_MAX) break;
    const script = name === 'e' ? text.trim() : to;
    if (name !== 'e' && !(name === 's' && flags.includes('e'))) continue;
    if (name === 's' || script === '' || inner.length === SED_RUNS_MAX)
      inner.push({ unknown: 'what sed makes of its lines' });
    if (script !== '') inner.push({ script });
  }
  return inner.length === 0 ? undefined : { runs: inner, itself: true };
};

/** `vim -c '!rm x'`, `vim +'!rm x'`. */
const vim: Unwrap = (words) => {
  const commands = words.flatMap(({ text }, index) => {
    const command = /^-\w*c$/.test(words[index - 1]?.text ?? '') ? text : /^\+(.+)$/s.exec(text)?.[1];
    const inside = /^:?(?:silent!? *)?!(.+)$/s.exec(command ?? '')?.[1];
    return inside === undefined ? [] : [{ script: inside }];
  });
  return { runs: commands, itself: true };
};

const make: Unwrap = (words, input) => {
  const { values } = parseOptions(words.slice(1), { takes: '-f --file --eval -C -j' });
  const [file] = values('-f', '--file');
  const lines = /^(?:-|\/dev\/stdin)$/.test(file?.text ?? '') ? input : file?.stream?.lines;
  if (lines === undefined) return undefined;
  const recipes = lines.filter(({ text }) => text.startsWith('\t') || text.includes(';'));
  return {
    runs: recipes.map(({ text }) => ({ script: text.replace(/^\t+[@-]*|^[^;]*;/, '') })),
    itself: true,
  };
};

/** Their standard input is a script for later; a crontab line begins with its times. */
const fromInput: Unwrap = (words, input, name) => {
  if (input === undefined || words.some(({ text }) => /^-[lrc]/.test(text)))
    return { runs: [], itself: true };
  const lines = input.filter(isKnown).map(({ text }) => text);
  const bare =
    name === 'crontab' ? lines.map((line) => line.replace(/^\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+/, '')) : lines;
  return { runs: [{ script: bare.join('\n') }], itself: true };
};

/** `fd pattern -x rm {}`: like find. */
const fd: Unwrap = (words) => {
  const at = words.findIndex(({ text }) => /^(?:-x|-X|--exec|--exec-batch)$/.test(text));
  if (at === -1) return undefined;
  const items = found([literal('.')]);
  const inner = words.slice(at + 1).filter(({ text }) => text !== ';');
  const marked = inner.some(({ text }) => text === '{}');
  const filled: Word[] = marked
    ? inner.flatMap((word) => (word.text === '{}' ? items : [word]))
    : [...inner, ...items];
  return { ...runs(filled), itself: true };
};

/** PowerShell and cmd read other languages; their commands have the same shape. */
const windows: Unwrap = (words) => {
  const at = words.findIndex(({ text }) => /^(?:-c|-command|\/c|\/k|-encodedcommand|-e|-enc)$/i.test(text));
  if (at === -1) return { runs: [], itself: true };
  const rest = words.slice(at + 1);
  if (/^-e/i.test(words[at]?.text ?? '')) {
    const text = Buffer.from(rest[0]?.text ?? '', 'base64').toString('utf16le');
    return { runs: [{ script: text }] };
  }
  return { runs: [{ script: rest.map(({ text }) => text.replaceAll('\\', '/')).join(' ') }] };
};

/** `spawn rm -rf x` within an expect script, `exec rm -rf x` within a Tcl script. */
const tcl: Unwrap = (words, input) => {
  const code = [...parseOptions(words.slice(1), { takes: '-c' }).values('-c'), ...(input ?? [])].filter(
    isKnown,
  );
  const inner: Inner[] = code.flatMap(({ text }) =>
    [...text.matchAll(/\b(?:spawn|exec|system)\s+(?:--\s+)?([^;\n\]]+)/g)].map(([, script = '']) => ({
      script,
    })),
  );
  return { runs: inner, itself: true };
};

const screen: Unwrap = (words): Wrapped => {
  const stuff = words.findIndex(({ text }) => text === 'stuff');
  if (stuff !== -1)
    return { runs: [{ script: (words[stuff + 1]?.text ?? '').replace(/\\[nr]$/, '') }], itself: true };
  return { ...runs(words.slice(afterOptions(words, 1, '-S -t -c -s -h -p -X'))), itself: true };
};

/** Programs with a command in one of their arguments. */
export const hatches: Readonly<Record<string, Unwrap>> = {
  awk,
  gawk: awk,
  mawk: awk,
  nawk: awk,
  sed,
  gsed: sed,
  vim,
  vi: vim,
  nvim: vim,
  ex: vim,
  view: vim,
  less: hatch('', /^\+!(.+)$/s),
  more: hatch('', /^\+!(.+)$/s),
  man: hatch('-P --pager', /^--pager=(.+)$/s),
  tar: hatch('--to-command --use-compress-program -I', /^--checkpoint-action=exec=(.+)$/s),
  gtar: hatch('--to-command --use-compress-program -I', /^--checkpoint-action=exec=(.+)$/s),
  zip: (words) => {
    const at = words.findIndex(({ text }) => /^(?:-TT|--unzip-command)$/.test(text));
    const script = at === -1 ? undefined : words[at + 1]?.text;
    return { runs: script === undefined ? [] : [{ script }], itself: true };
  },
  gdb: hatch('', /^(?:shell|!)\s+(.+)$/s),
  lldb: hatch('', /^(?:platform shell|shell)\s+(.+)$/s),
  rsync: hatch('-e --rsh --rsync-path'),
  emacs: hatch('', /\(shell-command\s+"((?:[^"\\]|\\.)*)"/s),
  ftp: hatch('', /^!(.+)$/s),
  make,
  gmake: make,
  at: fromInput,
  batch: fromInput,
  crontab: fromInput,
  fd,
  fdfind: fd,
  pwsh: windows,
  powershell: windows,
  'powershell.exe': windows,
  cmd: windows,
  'cmd.exe': windows,
  expect: tcl,
  tclsh: tcl,
  wish: tcl,
  screen,
};
