// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's, not ours
import fc from 'fast-check';

/** Another spelling of the same command. `n` decides among variants. Undefined: this command can't be spelled so. */
export type Mutation = (command: string, n: number) => string | undefined;

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}

function escapedBytes(text: string): string {
  return hex(text).replace(/../g, '\\x$&');
}

/** Words between single blanks that mean what they say: what can be said of such a command word by word is true. */
const PLAIN = /^[\w./:@+,%-]+(?: [\w./:@+,%-]+)*$/;
/** What only a shell can run, and what would be something else as an argument of a wrapper. */
const SHELL_WORDS =
  /^(?:\.|alias|builtin|cd|command|coproc|declare|eval|exec|exit|export|pushd|popd|read|set|shopt|source|time|trap|type|ulimit|unset)$/;

/** What echo keeps for itself. */
const ECHO_OPTION = /^-[neE]+$/;

function plainWords(command: string): string[] | undefined {
  return PLAIN.test(command) ? command.split(' ') : undefined;
}

/** Of a program with its arguments, not of something the shell does itself. */
function ofProgram(change: (words: string[], n: number) => string | undefined): Mutation {
  return (command, n) => {
    const words = plainWords(command);
    return words === undefined || SHELL_WORDS.test(words[0] ?? '') ? undefined : change(words, n);
  };
}

function withWord(change: (word: string) => string): Mutation {
  return (command, n) => {
    const words = plainWords(command);
    if (words === undefined) return undefined;
    const at = n % words.length;
    return words.map((word, index) => (index === at ? change(word) : word)).join(' ');
  };
}

/** A comment alone is nothing that could stand in a group. */
function around(change: (command: string) => string): Mutation {
  return (command) => (/^(?:\s*(?:#.*)?\n)*\s*(?:#.*)?$/.test(command) ? undefined : change(command));
}

/** Spaces and quotes that change nothing. */
export const SPELLINGS: Readonly<Record<string, Mutation>> = {
  'single quotes': withWord((word) => `'${word}'`),
  'double quotes': withWord((word) => `"${word}"`),
  'quotes inside': withWord((word) => `${word.slice(0, 1)}""${word.slice(1)}`),
  'half quoted': withWord((word) => `${word.slice(0, 2)}'${word.slice(2)}'`),
  backslash: withWord((word) => word.replace(/[a-z]/, '\\$&')),
  spaces: (command) => plainWords(command)?.join('   '),
  tabs: (command) => plainWords(command)?.join('\t'),
  'lines continued': (command) => plainWords(command)?.join(' \\\n  '),
  'space around': (command) => `  ${command}\n`,
  'a comment': (command) => `# as agreed\n${command}`,
  'after another': (command) => `true; ${command}`,
  'if it works': around((command) => `cd . && ${command}`),
  group: around((command) => `{\n${command}\n}`),
  subshell: around((command) => `(\n${command}\n)`),
  'if true': around((command) => `if true; then\n${command}\nfi`),
  'a pipe behind': around((command) => `{\n${command}\n} 2>&1 | tail -5`),
  'bash -c': (command) => `bash -c ${quoted(command)}`,
  eval: (command) => `eval ${quoted(command)}`,
  function: around((command) => `run_it() {\n${command}\n}\nrun_it`),
  env: ofProgram((words) => `env ${words.join(' ')}`),
  timeout: ofProgram((words) => `timeout 60 ${words.join(' ')}`),
};

const WRAPPERS = [
  ...['sudo', 'sudo -n', 'nohup', 'time', 'nice -n 5', 'env -u X A=b', 'stdbuf -oL', 'setsid', 'command'],
  ...['exec', 'doas', 'ionice -c3', 'timeout -k 1 9', '/usr/bin/env', 'builtin command'],
];

const ABBREVIATIONS: readonly [RegExp, string][] = [
  [/^(git .*)--force(?= |$)/, '$1--forc'],
  [/^(git .*)--hard(?= |$)/, '$1--har'],
  [/^(git .*)--delete(?= |$)/, '$1--delet'],
  [/^(git .*)--mirror(?= |$)/, '$1--mirr'],
  [/^(rm .*)--recursive(?= |$)/, '$1--recurs'],
];

const END = 'END_OF_MUTATION';

const WRAPPINGS: Readonly<Record<string, Mutation>> = {
  'bash -ec': (command) => `bash -ec ${quoted(command)}`,
  'env bash': (command) => `env bash -c ${quoted(command)}`,
  'sudo bash': (command) => `sudo bash -c ${quoted(command)}`,
  'timeout bash': (command) => `timeout 60 bash -c ${quoted(command)}`,
  'variable eval': (command) => `step=${quoted(command)}; eval "$step"`,
  'variable bash': (command) => `step=${quoted(command)}; bash -c "$step"`,
  'here-document': (command) => `bash <<'${END}'\n${command}\n${END}`,
  'here-string': (command) => `bash <<< ${quoted(command)}`,
  'piped to a shell': (command) => `printf '%s\\n' ${quoted(command)} | bash`,
  'process substitution': (command) => `bash <(printf '%s\\n' ${quoted(command)})`,
  'xargs -0': (command) => `printf '%s' ${quoted(command)} | xargs -0 bash -c`,
  // find would put a file's name in place of braces.
  'find -exec': (command) =>
    command.includes('{}') ? undefined : `find . -maxdepth 0 -exec bash -c ${quoted(command)} \\;`,
  base64: (command) => `echo ${base64(command)} | base64 -d | bash`,
  'base64 in eval': (command) => `eval "$(echo ${base64(command)} | base64 --decode)"`,
  'hex dump': (command) => `echo ${hex(command)} | xxd -r -p | bash`,
  'printf bytes': (command) => `printf '${escapedBytes(command)}' | bash`,
  'ansi quoted': (command) => `bash -c $'${escapedBytes(command)}'`,
  'background job': around((command) => `(\n${command}\n) &\nwait`),
  'loop once': around((command) => `for i in 1; do\n${command}\ndone`),
  trap: (command) => `bash -c ${quoted(`trap ${quoted(command)} EXIT`)}`,
  // The system's own shell is not everywhere bash.
  python: (command) =>
    plainWords(command) === undefined
      ? `python3 -c ${quoted(`import subprocess; subprocess.run(${JSON.stringify(command)}, shell=True, executable="/bin/bash")`)}`
      : `python3 -c ${quoted(`import os; os.system(${JSON.stringify(command)})`)}`,
  node: (command) =>
    `node -e ${quoted(`require("child_process").execSync(${JSON.stringify(command)}, { shell: "/bin/bash" })`)}`,
  substitution: (command) => `echo "$(\n${command}\n)"`,
};

const RENAMINGS: Readonly<Record<string, Mutation>> = {
  wrapper: ofProgram((words, n) => `${WRAPPERS[n % WRAPPERS.length]} ${words.join(' ')}`),
  'a word in a variable': (command, n) => {
    const words = plainWords(command);
    if (words === undefined) return undefined;
    const at = n % words.length;
    return `part=${words[at]}; ${words.map((word, index) => (index === at ? '$part' : word)).join(' ')}`;
  },
  'a word in two variables': (command, n) => {
    const words = plainWords(command);
    const word = words?.[n % words.length];
    if (words === undefined || word === undefined || word.length < 2) return undefined;
    const at = n % words.length;
    const cut = 1 + (n % (word.length - 1));
    const joined = words.map((each, index) => (index === at ? '${a}${b}' : each)).join(' ');
    return `a=${word.slice(0, cut)}; b=${word.slice(cut)}; ${joined}`;
  },
  array: ofProgram((words) => `call=(${words.join(' ')}); "\${call[@]}"`),
  'echoed word': withWord((word) => (ECHO_OPTION.test(word) ? word : `$(echo ${word})`)),
  'printed word': withWord((word) => `$(printf %s ${word})`),
  'ansi word': withWord((word) => `$'${escapedBytes(word)}'`),
  'octal word': withWord(
    (word) =>
      `$'${[...word].map((letter) => `\\${letter.charCodeAt(0).toString(8).padStart(3, '0')}`).join('')}'`,
  ),
  'reversed word': withWord((word) => `$(echo ${[...word].reverse().join('')} | rev)`),
  'an empty variable inside': withWord((word) => `${word.slice(0, 1)}\${nothing}${word.slice(1)}`),
  'through xargs': ofProgram(([name = '', ...args]) =>
    args.length === 0 || ECHO_OPTION.test(args[0] ?? '')
      ? undefined
      : `echo ${args.join(' ')} | xargs ${name}`,
  ),
  'whole path': ofProgram(([name = '', ...args]) =>
    name.includes('/') ? undefined : [`/usr/bin/${name}`, ...args].join(' '),
  ),
  alias: ofProgram((words) => `shopt -s expand_aliases\nalias zz=${quoted(words.join(' '))}\nzz`),
  'function with arguments': ofProgram(
    ([name = '', ...args]) => `zz() { ${name} "$@"; }; zz ${args.join(' ')}`,
  ),
  'positional arguments': ofProgram((words) => `set -- ${words.join(' ')}; "$@"`),
  'bash -c with arguments': ofProgram((words) => `bash -c '"$@"' _ ${words.join(' ')}`),
  braces: ofProgram((words) =>
    words.length < 2 || words.some((word) => word.includes(',')) ? undefined : `{${words.join(',')}}`,
  ),
  IFS: ofProgram((words) => words.join('${IFS}')),
  abbreviation: (command) => {
    if (plainWords(command) === undefined) return undefined;
    const found = ABBREVIATIONS.find(([long]) => long.test(command));
    return found === undefined ? undefined : command.replace(...found);
  },
  'split flags': (command) =>
    /^rm -(rf|fr)(?= |$)/.test(command) && plainWords(command)
      ? command.replace(/-(.)(.)/, '-$2 -$1')
      : undefined,
};

/** Every way of hiding that is tried on what is destructive. */
export const DISGUISES: Readonly<Record<string, Mutation>> = { ...SPELLINGS, ...WRAPPINGS, ...RENAMINGS };

export interface Mutated {
  readonly text: string;
  /** What was done, the innermost first. */
  readonly how: readonly string[];
}

/** A command after one to `depth` of the mutations that apply to it, one upon the other. */
export function mutated(
  command: string,
  mutations: Readonly<Record<string, Mutation>>,
  depth: number,
): fc.Arbitrary<Mutated> {
  const picks = fc.array(fc.tuple(fc.nat(9999), fc.nat(9999)), { minLength: 1, maxLength: depth });
  return picks.map((choices) => {
    let text = command;
    const how: string[] = [];
    for (const [which, n] of choices) {
      const possible = Object.entries(mutations).flatMap(([name, mutate]) => {
        const result = mutate(text, n);
        return result === undefined ? [] : [[name, result] as const];
      });
      const [name, next] = possible[which % possible.length] ?? ['nothing', text];
      how.push(name);
      text = next;
      // A shell knows an alias from the next line on, but not inside a group that it has read as a whole.
      if (name === 'alias') break;
    }
    return { text, how };
  });
}
