import { afterOptions, parseOptions } from './program-options.ts';
import { isKnown, type Word } from './word.ts';
import { plain, runs, script, type Unwrap, type Wrapped } from './wrap.ts';

/** The words of a command that is passed to a shell as one text, however it was split. */
export function joinedScript(words: readonly Word[], what: string): Wrapped {
  const parts = words.map((word) => (isKnown(word) ? (word.spelling ?? word.text) : word.source));
  if (parts.length === 0) return { runs: [] };
  const unknown = words.find((_word, index) => parts[index] === undefined);
  if (unknown !== undefined) return script(unknown, [], what);
  return { runs: [{ script: parts.join(' ') }] };
}

/**
 * Programs that take the command as the value of one of these options, else as their words (or not at all).
 */
function option(names: string, takes: string, otherwise: 'words' | 'script' | 'none' = 'none'): Unwrap {
  return (words, _input, name) => {
    const own = parseOptions(words.slice(1), { takes: `${names} ${takes}` });
    const [given] = own.values(...names.split(' '));
    if (given !== undefined) return script(given, [], `the script of ${name}`);
    const rest = words.slice(afterOptions(words, 1, takes));
    if (otherwise === 'none' || rest.length === 0) return { runs: [], itself: true };
    return otherwise === 'words' ? runs(rest) : joinedScript(rest, `the script of ${name}`);
  };
}

/** `name sub [options] command`: only after this word. */
function behind(verb: RegExp, takes = '', operands = 0): Unwrap {
  return (words) =>
    verb.test(words[1]?.text ?? '') ? runs(words.slice(afterOptions(words, 2, takes) + operands)) : undefined;
}

/** Everything after `--`. */
const behindDashes: Unwrap = (words) => {
  const at = words.findIndex(({ text }) => text === '--');
  return at === -1 ? undefined : { ...runs(words.slice(at + 1)), itself: true };
};

const su: Unwrap = (words, input, name) => {
  const options = parseOptions(words.slice(1), { takes: '-c --command -s --shell -g -G -u -w' });
  const [given] = options.values('-c', '--command');
  if (given !== undefined) return script(given, [], `the script of ${name}`);
  const [, ...rest] = options.operands;
  if (options.has('-u') && rest.length > 0) return runs(options.operands);
  if (input === undefined) return { runs: [] };
  return { runs: [{ script: input.map(({ text }) => text).join('\n') }] };
};

/** Each operand is a separate command: `concurrently "npm run a" "npm run b"`. */
const each =
  (takes: string): Unwrap =>
  (words, _input, name) => ({
    runs: parseOptions(words.slice(1), { takes }).operands.flatMap(
      (word) => script(word, [], `a script of ${name}`).runs,
    ),
  });

const tmux: Unwrap = (words, _input, name) => {
  const start = afterOptions(words, 1, '-L -S -f -c');
  const verb = words[start]?.text ?? '';
  const rest = parseOptions(words.slice(start + 1), { takes: '-s -n -t -c -x -y -e -F -b' }).operands;
  if (/^(?:new|new-session|new-window|neww|split-window|splitw|respawn-pane|run-shell|run|popup)$/.test(verb))
    return joinedScript(rest, `the script of ${name}`);
  // What is typed into a shell; `Enter` is a key.
  if (/^send(?:-keys)?$/.test(verb))
    return joinedScript(
      rest.filter(({ text }) => !/^(?:Enter|C-m|Space)$/.test(text)),
      `what is typed into ${name}`,
    );
  return { runs: [], itself: true };
};

/** Programs that only run another program, on this machine. */
export const launchers: Readonly<Record<string, Unwrap>> = {
  su,
  runuser: su,
  pkexec: plain('--user'),
  gosu: plain('', 1),
  'su-exec': plain('', 1),
  setpriv: plain('--reuid --regid'),
  chroot: plain('', 1),
  unshare: plain(),
  nsenter: plain('-t -S -G'),
  fakeroot: plain('-l -s -i'),
  prlimit: plain(),
  chrt: plain('', 1),
  cpulimit: plain('-l'),
  ltrace: plain('-o -e -p -s'),
  perf: behind(/^(?:stat|record|trace)$/, '-e -o -p'),
  valgrind: plain(),
  rlwrap: plain(),
  dumbinit: plain(),
  tini: plain(),
  'dumb-init': plain(),
  'systemd-run': plain('-u -p -t --unit --property'),
  'systemd-inhibit': plain(),
  'dbus-run-session': plain(),
  'xvfb-run': plain('-n -s -e'),
  winpty: plain(),
  wsl: plain('-d -u --distribution --user --cd'),
  arch: (words) => runs(words.slice(afterOptions(words, 1))),
  rtk: plain(),
  firejail: plain(),
  bwrap: behindDashes,
  proxychains: plain(),
  proxychains4: plain('-f'),
  torsocks: plain(),
  tsocks: plain(),
  sem: plain('-j'),
  setarch: plain('', 1),
  linux64: plain(),
  i386: plain(),
  numactl: plain('-m -N -C'),
  cgexec: plain('-g'),
  dtach: plain('-n -A -c'),
  abduco: plain('-n -c -A'),
  tsp: plain(),

  coproc: plain(),
  watch: option('--never', '-n -d --interval', 'script'),
  script: option('-c --command', '-o -B -I -O -T'),
  tmux,
  hyperfine: each('-w -r -n -m -M -p -c -s -L --warmup --runs --prepare --cleanup --shell --export-json'),
  concurrently: each('-n -c --names --prefix'),
  'npm-run-all': () => undefined,
  nodemon: option('-x --exec', '-e -w --ext --watch'),
  'chokidar-cli': option('-c --command', '-d'),
  chokidar: option('-c --command', '-d'),
  watchexec: option('--never', '-e -w -i --exts --watch', 'script'),
  entr: plain(),
  retry: plain('-t -d -n'),
  'cross-env': (words) =>
    runs(words.slice(1).filter(({ text }, index, all) => !isAssignment(text, all, index))),
  'cross-env-shell': (words) => joinedScript(words.slice(1), 'a script'),
  dotenv: behindDashes,
  'dotenv-cli': behindDashes,
  doppler: behindDashes,
  op: behindDashes,
  infisical: behindDashes,
  'aws-vault': behindDashes,
  chamber: behindDashes,
  envchain: plain('', 1),
  'with-contenv': plain(),
  foreman: behind(/^run$/),
  nix: (words) => {
    const at = words.findIndex(({ text }) => /^(?:-c|--command)$/.test(text));
    return at === -1 ? undefined : runs(words.slice(at + 1));
  },
  'nix-shell': option('--run --command', '-p -I'),
  conda: behind(/^run$/, '-n -p --name --prefix'),
  mamba: behind(/^run$/, '-n -p'),
  micromamba: behind(/^run$/, '-n -p'),
  hatch: behind(/^run$/),
  pdm: behind(/^run$/),
  asdf: behind(/^exec$/),
  rbenv: behind(/^exec$/),
  pyenv: behind(/^exec$/),
  volta: behind(/^run$/),
  fnm: behindDashes,
  dotnet: behind(/^exec$/),
  'flatpak-spawn': plain(),
};

function isAssignment(text: string, all: readonly Word[], index: number): boolean {
  return /^[A-Za-z_]\w*=/.test(text) && all.slice(0, index).every((word) => /^[A-Za-z_]\w*=/.test(word.text));
}
