import { runsInCode } from './code/code-runs.ts';
import { elsewhere } from './elsewhere.ts';
import { hatches } from './hatches.ts';
import { codeOf } from './interpreters.ts';
import { joinedScript, launchers } from './launchers.ts';
import { found, unseen } from './prints.ts';
import { afterOptions, type Options, parseOptions } from './program-options.ts';
import {
  baseName,
  isKnown,
  type Lines,
  literal,
  mapWord,
  textOf,
  textSeen,
  unknownWord,
  type Word,
} from './word.ts';
import { type Inner, plain, runs, script, type Unwrap, type Wrapped } from './wrap.ts';

const ASSIGNMENT = /^[A-Za-z_]\w*=/;
const SHELLS = new Set('sh bash zsh dash ksh ash mksh fish rbash'.split(' '));

function withoutAssignments(words: readonly Word[]): readonly Word[] {
  const start = words.findIndex(({ text, unknown }) => unknown !== undefined || !ASSIGNMENT.test(text));
  return start === -1 ? [] : words.slice(start);
}

const sudo: Unwrap = (words) => {
  const start = afterOptions(words, 1, '-u -g -h -p -C -D -R -T -U -r -t --user --group --chdir');
  const { values } = parseOptions(words.slice(1, start), {
    takes: '-u -g -h -p -C -D -R -T -U -r -t --chdir',
  });
  return runs(withoutAssignments(words.slice(start)), values('-D', '--chdir')[0]);
};

const env: Unwrap = (words) => {
  const start = afterOptions(words, 1, '-u -C -S --unset --chdir');
  const { values } = parseOptions(words.slice(1, start), {
    takes: '-u -C -S --unset --chdir --split-string',
  });
  const split = values('-S', '--split-string')[0];
  // A dash alone empties the environment, as `-i` does.
  const rest = withoutAssignments(words.slice(words[start]?.text === '-' ? start + 1 : start));
  if (split === undefined) return runs(rest, values('-C', '--chdir')[0]);
  const first = isKnown(split) ? split.text.split(/\s+/).filter(Boolean).map(literal) : [split];
  return runs([...withoutAssignments(first), ...rest]);
};

const command: Unwrap = (words) => {
  const start = afterOptions(words, 1);
  // `command -v x` only says where x is.
  return words.slice(1, start).some(({ text }) => /[vV]/.test(text))
    ? { runs: [], itself: true }
    : runs(words.slice(start));
};

/** A file that a shell reads its commands from, where what is in it can be seen: `<(…)`. */
function streamed(file: Word): Wrapped | undefined {
  if (file.stream === undefined) return undefined;
  const text = textOf(file.stream.lines);
  const unknown = 'the commands of a substitution';
  return { runs: [text === undefined ? { unknown, from: file.stream.from } : { script: text }] };
}

const shell: Unwrap = (words, input, name) => {
  let at = 1;
  let inline = false;
  for (; at < words.length; at += 1) {
    const { text, unknown } = words[at] as Word;
    if (unknown !== undefined || !/^[-+]./.test(text)) break;
    if (/^-[a-zA-Z]*c/.test(text)) inline = true;
    if (/^[-+][a-zA-Z]*[oO]$/.test(text) || /^--(?:rcfile|init-file)$/.test(text)) at += 1;
  }
  if (inline) return script(words[at], words.slice(at + 1), `the script of ${name} -c`);
  const file = words[at];
  const seen = file === undefined ? undefined : streamed(file);
  if (seen !== undefined) return seen;
  // A script in a file is a program like any other.
  if (
    at < words.length &&
    !/^(?:-|\/dev\/stdin|\/dev\/fd\/0)$/.test(file?.text ?? '') &&
    !words.slice(1, at).some(({ text }) => text === '-s')
  ) {
    return { runs: [], itself: true };
  }
  if (words.some(({ text }) => text === '--version')) return { runs: [] };
  return { runs: scriptRead(input, name) };
};

/** What a shell reads: where a part of it is unknown, the rest would run as well. */
function scriptRead(input: Lines | undefined, name: string): Inner[] {
  const text = textOf(input);
  if (text !== undefined) return [{ script: text }];
  const known = textSeen(input?.filter((line) => isKnown(line) && !line.glob)) ?? '';
  const unknown: Inner = { unknown: unseen(name).unknown ?? name, reads: true };
  return known === '' ? [unknown] : [unknown, { script: known }];
}

const evaluate: Unwrap = (words) => {
  const unknown = words.find((word) => !isKnown(word) && word.source === undefined);
  if (unknown !== undefined) return script(unknown, [], 'the script of eval');
  return {
    runs: [
      {
        script: words
          .slice(1)
          .map((word) => word.source ?? word.spelling ?? word.text)
          .join(' '),
      },
    ],
  };
};

/** `source file` runs code that is not visible here; `source <(…)` may be visible. */
const sourced: Unwrap = (words, input) => {
  const [, file] = words;
  if (file === undefined) return undefined;
  const text = /^\/dev\/(?:stdin|fd\/0)$/.test(file.text) ? textOf(input) : undefined;
  return text === undefined ? streamed(file) : { runs: [{ script: text }] };
};

const trap: Unwrap = (words) => {
  const word = words[afterOptions(words, 1)];
  return word?.text === '' || word?.text === '-' ? { runs: [] } : script(word, [], 'the script of trap');
};

/** The words that lines of input become: the lines themselves, or cut at white space. */
function itemsOf(input: Lines | undefined, name: string, byLine: boolean): readonly Word[] {
  if (input === undefined) return [unseen(name)];
  return input.flatMap((word) => {
    if (word.glob || !isKnown(word)) return [word];
    return word.text
      .split(byLine ? '\0' : /[\s\0]+/)
      .filter(Boolean)
      .map(literal);
  });
}

/** The command with each item in the place of its mark; without a mark all of them at the end. */
function fill(words: readonly Word[], mark: string | undefined, items: readonly Word[]): Wrapped {
  if (mark === undefined || !words.some(({ text }) => text.includes(mark))) return runs([...words, ...items]);
  const filled = (item: Word): Word[] =>
    words.map((word) => {
      if (!isKnown(word) || !word.text.includes(mark)) return word;
      // What is around it stands there all the same.
      if (!isKnown(item)) return { ...item, source: word.text.replaceAll(mark, () => '$item') };
      return { text: word.text.replaceAll(mark, item.text), glob: word.glob || item.glob };
    });
  return { runs: items.map((item) => ({ words: filled(item) })) };
}

const xargs: Unwrap = (words, input) => {
  // What `--replace` takes is attached to it.
  const takes = '-I -n -P -L -d -a -E -s --max-args --max-procs --delimiter --arg-file';
  const start = afterOptions(words, 1, takes);
  const options = parseOptions(words.slice(1, start), { takes, attaches: 'i' });
  const file = options.values('-a', '--arg-file').length > 0;
  const mark =
    options.values('-I', '-i', '--replace')[0]?.text ?? (options.has('-i', '--replace') ? '{}' : undefined);
  const byLine = mark !== undefined || options.has('-0', '-d', '--null', '--delimiter');
  const inner = words.slice(start);
  const items = itemsOf(file ? undefined : input, 'xargs', byLine);
  // With zeros between them, the lines that a shell is given are one script.
  const text =
    options.has('-0', '--null') && inner.some((word) => word.text === '-c') ? textOf(items) : undefined;
  // Alone it prints them.
  const run = inner.length === 0 ? [literal('echo')] : inner;
  const filled = fill(run, mark, text === undefined ? items : [literal(text)]);
  return cutsItems(options, items) ? { ...filled, again: true } : filled;
};

/** Would the command be run more than once, each time with some of the items? */
function cutsItems({ has, values }: Options, items: readonly Word[]): boolean {
  const [most] = values('-n', '--max-args');
  const cuts = most !== undefined || has('-L', '-l', '-s', '--max-lines', '--max-chars');
  const fits = items.every((item) => isKnown(item) && !item.glob) && items.length <= Number(most?.text ?? 1);
  return cuts && !fits;
}

const PARALLEL_TAKES =
  '-j -n -N -P -I -a -L -s -C -S --jobs --max-procs --max-args --arg-file --colsep --joblog --delay --timeout --retries --results --tagstring --sshlogin --workdir --wd --load --memfree --halt --basefile --env';
/** What stands for an item, or for a part of its name. */
const PARALLEL_MARKS = /\{(?:\d+)?(?:\.|\/|\/\/|\/\.)?\}/g;

/** GNU parallel fills marks of many spellings; what they stand for is taken for the item itself. */
function withOneMark(words: readonly Word[]): readonly Word[] {
  return words.map((word) =>
    isKnown(word) ? mapWord(word, (text) => text.replaceAll(PARALLEL_MARKS, '{}')) : word,
  );
}

const parallel: Unwrap = (words, input) => {
  const start = afterOptions(words, 1, PARALLEL_TAKES);
  const marks = words.findIndex(({ text }) => text.startsWith(':::'));
  const inner = withOneMark(words.slice(start, marks === -1 ? undefined : marks));
  const items = parallelItems(words, start, marks, input);
  // A shell reads the command, and without one each item is a command.
  const filled =
    inner.length === 0 ? items.map((item) => ({ words: [item] })) : fill(inner, '{}', items).runs;
  return {
    runs: filled.flatMap((run) =>
      'words' in run ? joinedScript(run.words, 'the script of parallel').runs : [run],
    ),
  };
};

/** Behind `:::` stand items, behind `::::` and `-a` files that contain them. */
function parallelItems(
  words: readonly Word[],
  start: number,
  marks: number,
  input: Lines | undefined,
): readonly Word[] {
  const isFile = words.slice(1, start).some(({ text }) => /^(?:-a|--arg-file(?:=|$))/.test(text));
  if (marks === -1) return itemsOf(isFile ? undefined : input, 'parallel', true);
  const items = words.slice(marks + 1).filter(({ text }) => !text.startsWith(':::'));
  return words[marks]?.text.startsWith('::::') === true ? [unseen('parallel')] : items;
}

const find: Unwrap = (words) => {
  const args = words.slice(1);
  const items = found(args);
  const inner: Inner[] = [];
  args.forEach(({ text }, index) => {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(text)) return;
    const rest = args.slice(index + 1);
    const end = rest.findIndex(
      (word, at) => word.text === ';' || (word.text === '+' && rest[at - 1]?.text === '{}'),
    );
    for (const run of fill(end === -1 ? rest : rest.slice(0, end), '{}', items).runs) inner.push(run);
  });
  return { runs: inner, itself: true };
};

/** `prettier@3` is prettier. */
function withoutVersion([name, ...rest]: readonly Word[]): readonly Word[] {
  return name === undefined ? [] : [mapWord(name, (text) => text.replace(/(?<=.)@[^/]*$/, '')), ...rest];
}

const fetched =
  (takes: string): Unwrap =>
  (words) => {
    const inner = words.slice(afterOptions(words, 1, takes));
    // A program downloaded by its address is not a known program.
    const itself = /^(?:https?:|git[+:@]|github:|gitlab:|gist:)/.test(inner[0]?.text ?? '');
    return { ...runs(withoutVersion(inner)), itself };
  };

/** Package managers that run a program by its bare name; these words are their own. */
const OWN =
  /^(?:add|audit|bin|build|cache|ci|config|create|dedupe|deploy|help|i|import|info|init|install|link|list|login|ls|outdated|pack|patch|pm|prune|publish|rebuild|remove|rm|root|store|test|un|uninstall|unlink|up|update|upgrade|version|why|workspace|workspaces)$/;

const runner: Unwrap = (words) => {
  const start = afterOptions(words, 1, '--filter -F -C --dir --cwd --prefix -w');
  const verb = words[start]?.text ?? '';
  if (/^(?:exec|dlx|run|x|tool)$/.test(verb)) {
    const takes = '-p --package --with --project --extra --group';
    return runs(withoutVersion(words.slice(afterOptions(words, start + 1, takes))));
  }
  return OWN.test(verb) || words.length === start ? undefined : runs(words.slice(start));
};

/** npm runs nothing by its bare name. */
const npm: Unwrap = (words, input, name) => {
  const { values } = parseOptions(words.slice(1), { takes: '-c --call -p --package' });
  const [called] = /^(?:exec|x)$/.test(words[1]?.text ?? '') ? values('-c', '--call') : [];
  return called === undefined ? npmRunner(words, input, name) : script(called, [], 'the script of npm exec');
};

const npmRunner: Unwrap = (words, input, name) =>
  /^(?:exec|x)$/.test(words[afterOptions(words, 1)]?.text ?? '') ? runner(words, input, name) : undefined;

const onlyAfter =
  (verb: string): Unwrap =>
  (words, input, name) =>
    words[1]?.text === verb ? runner(words, input, name) : undefined;

const flock: Unwrap = (words) => {
  const start = afterOptions(words, 1, '-w -E') + 1;
  const inner = words.slice(start);
  return inner[0]?.text === '-c' ? script(inner[1], [], 'the script of flock') : runs(inner);
};

/** Without a file an interpreter runs its input. Is a part of that unknown? */
function readsUnknown(args: readonly Word[], input: Lines | undefined): boolean {
  return textOf(input) === undefined && (args.length === 0 || (args.length === 1 && args[0]?.text === '-'));
}

/** Programs in another language: what they hand to a shell, and for Python the module they run. */
const interpreter: Unwrap = (words, input, name) => {
  const module = words.findIndex(({ text }) => text === '-m');
  if (
    name.startsWith('python') &&
    module > 0 &&
    words.slice(1, module).every(({ text }) => text.startsWith('-'))
  ) {
    return runs(words.slice(module + 1));
  }
  const code = codeOf(name, words.slice(1), input);
  if (code === undefined && name === 'bun') return undefined;
  const unread: Inner[] = readsUnknown(words.slice(1), input)
    ? [{ unknown: `what ${name} reads`, reads: true }]
    : [];
  if (code === undefined) return { runs: unread, itself: unread.length === 0 };
  const seen = code.stream === undefined ? undefined : streamed(code);
  if (seen?.runs.some((run) => 'unknown' in run) === true) return seen;
  // All of it is what other commands print.
  if (code.from !== undefined && /^(?:\$\([\s\S]*\)|`[\s\S]*`)$/.test(code.source ?? ''))
    return { runs: [{ unknown: `the code of ${name}`, from: code.from }], itself: true };
  // Where only a part is unknown, the rest is read.
  const text = code.source ?? textOf([code]);
  return { runs: [...unread, ...(text === undefined ? [] : runsInCode(text, name))], itself: true };
};

const WRAPPERS: Readonly<Record<string, Unwrap>> = {
  ...launchers,
  ...hatches,
  ...elsewhere,
  sudo,
  doas: plain('-u -C'),
  env,
  command,
  builtin: plain(),
  exec: plain('-a'),
  nohup: plain(),
  setsid: plain(),
  time: plain('-f -o'),
  nice: plain('-n --adjustment'),
  ionice: plain('-c -n -p'),
  timeout: plain('-s -k --signal --kill-after', 1),
  gtimeout: plain('-s -k', 1),
  stdbuf: plain('-i -o -e'),
  unbuffer: plain(),
  chronic: plain(),
  caffeinate: plain('-t -w'),
  taskset: plain('', 1),
  strace: plain('-o -e -p -s'),
  busybox: plain(),
  toybox: plain(),
  noglob: plain(),
  xargs,
  gxargs: xargs,
  parallel,
  find,
  eval: evaluate,
  source: sourced,
  '.': sourced,
  trap,
  flock,
  npx: (words, input, name) => {
    const given = parseOptions(words.slice(1), { takes: '-p --package -c --call' }).values('-c', '--call')[0];
    return given === undefined
      ? fetched('-p --package')(words, input, name)
      : script(given, [], 'the script of npx -c');
  },
  bunx: fetched('-p --package'),
  uvx: fetched('--from --with -p'),
  pipx: onlyAfter('run'),
  npm,
  pnpm: runner,
  yarn: runner,
  bun: runner,
  uv: onlyAfter('run'),
  poetry: onlyAfter('run'),
  pipenv: onlyAfter('run'),
  bundle: onlyAfter('exec'),
  rye: onlyAfter('run'),
  mise: onlyAfter('exec'),
  direnv: (words) => (words[1]?.text === 'exec' ? runs(words.slice(3)) : undefined),
};

const LANGUAGES = new Set(
  'pypy pypy3 node nodejs ruby perl deno php bun lua luajit rscript julia osascript tsx ts-node zx elixir groovy'.split(
    ' ',
  ),
);

function isLanguage(name: string): boolean {
  const lower = name.toLowerCase();
  return LANGUAGES.has(lower) || (lower.startsWith('python') && /^python[\d.]*$/.test(lower));
}

/** The next layer of a command, or undefined where it is itself what runs. */
export function unwrap(words: readonly Word[], input: Lines | undefined): Wrapped | undefined {
  const name = baseName(words[0]?.text ?? '');
  if (SHELLS.has(name)) return shell(words, input, name);
  if (isLanguage(name)) {
    const code = interpreter(words, input, name);
    if (code !== undefined) return code;
  }
  return Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name]?.(words, input, name) : undefined;
}

/** An argument list as a program receives it: no shell has looked at it. */
export function argumentWords(argv: readonly string[]): Word[] {
  return argv.map((text) =>
    typeof text === 'string' ? literal(text) : unknownWord('an argument that is no text'),
  );
}
