import { type OptionSpec, type Options, parseOptions } from '../program-options.ts';
import type { SimpleCommand } from '../shell-command.ts';
import type { ShellFindings, Writer } from '../shell-findings.ts';
import { hasEnding, isKnown, literal, type Word } from '../word.ts';

interface Formatter extends OptionSpec {
  /** It writes only with one of these; apart by spaces. */
  readonly when?: string;
  /** It writes nothing with one of these. */
  readonly unless?: string;
  /** The subcommand that writes: `biome format`. */
  readonly verbs?: string;
  /** Without a path it takes the folder it is in. */
  readonly here?: boolean;
}

/** A path with an ending is a file, a pattern is one, and anything else may be a folder. */
function formatted(command: SimpleCommand, found: ShellFindings, word: Word): void {
  // A quoted pattern is the formatter's own to expand.
  if (isKnown(word) && !word.glob && /[*?]/.test(word.text))
    found.file(command, { text: word.text, glob: true });
  else if (word.glob || hasEnding(word)) found.file(command, word);
  else found.tree(command, word);
}

const given = (options: Options, names: string | undefined): boolean =>
  options.has(...(names ?? '').split(' '));

function formatter(spec: Formatter = {}): Writer {
  return (command, found) => {
    const verb = spec.verbs === undefined ? undefined : (command.args[0]?.text ?? '');
    if (verb !== undefined && !spec.verbs?.split(' ').includes(verb)) return;
    const options = parseOptions(verb === undefined ? command.args : command.args.slice(1), spec);
    if (spec.when !== undefined && !given(options, spec.when)) return;
    if (options.has('--help', '--version') || given(options, spec.unless)) return;
    const words = options.operands.filter(({ text }) => text !== '-' && !text.startsWith('!'));
    if (words.length === 0 && options.operands.length === 0 && spec.here === true)
      found.tree(command, literal('.'));
    for (const word of words) formatted(command, found, word);
  };
}

const CONFIG = '-c --config';

const ruff: Writer = (command, found) => {
  const takes = `${CONFIG} --select --ignore --extend-select --line-length --target-version`;
  const format = { verbs: 'format', unless: '--check --diff', here: true, takes };
  const fix = {
    verbs: 'check',
    when: '--fix --fix-only --unsafe-fixes',
    unless: '--diff',
    here: true,
    takes,
  };
  formatter(format)(command, found);
  formatter(fix)(command, found);
};

const biome: Writer = (command, found) => {
  const takes = '--config-path --max-diagnostics --reporter';
  formatter({ verbs: 'check format lint', when: '--write --fix --apply --apply-unsafe', here: true, takes })(
    command,
    found,
  );
};

const goTool: Formatter = { when: '-w', oneDash: true, takes: '-r -local -srcdir' };

/** With `fmt` as subcommand, over the folder. */
const fmt = (spec: Formatter = {}): Writer => formatter({ verbs: 'fmt', here: true, ...spec });

/** `./...` is Go's way to say everything below. */
function goPackages(command: SimpleCommand, found: ShellFindings): void {
  const words = command.args.slice(1).filter(({ text }) => !text.startsWith('-'));
  for (const word of words.length === 0 ? [literal('.')] : words) {
    const path = word.text.replace(/\/?\.\.\.$/, '');
    found.tree(command, isKnown(word) ? literal(path === '' ? '.' : path) : word);
  }
}

const go: Writer = (command, found) => {
  const verb = command.args[0]?.text;
  const second = command.args[1]?.text;
  if (verb === 'fmt' || verb === 'fix') goPackages(command, found);
  if (verb === 'get' || (verb === 'mod' && /^(?:tidy|edit|init|download)$/.test(second ?? ''))) {
    found.file(command, [literal('go.mod'), literal('go.sum')]);
  }
  if (verb === 'mod' && second === 'vendor') found.tree(command, literal('vendor'));
  if (verb === 'work') found.file(command, literal('go.work'));
  if (verb === 'build' || verb === 'test') {
    const takes = '-o -tags -ldflags -run -coverprofile -count -timeout -gcflags';
    found.file(
      command,
      parseOptions(command.args.slice(1), { takes, oneDash: true }).values('-o', '-coverprofile'),
    );
  }
};

const cargo: Writer = (command, found) => {
  const verb = command.args[0]?.text ?? '';
  const options = parseOptions(command.args.slice(1), { takes: '-p --package --manifest-path --features' });
  if (verb === 'fmt' && !options.has('--check')) found.tree(command, literal('.'));
  if (verb === 'fix' || (verb === 'clippy' && options.has('--fix'))) found.tree(command, literal('.'));
  if (/^(?:add|remove|rm|upgrade)$/.test(verb))
    found.file(command, [literal('Cargo.toml'), literal('Cargo.lock')]);
  if (/^(?:update|generate-lockfile)$/.test(verb)) found.file(command, literal('Cargo.lock'));
  if (verb === 'new' || verb === 'init') found.tree(command, options.operands[0] ?? literal('.'));
};

/** ESLint with a value after an option is common enough to know them. */
const ESLINT =
  '-c --config --ext --rule --format -f --ignore-path --max-warnings --parser --plugin --cache-location -o --output-file';

export const toolWriters: Readonly<Record<string, Writer>> = {
  prettier: formatter({ when: '--write -w', takes: '--config --parser --ignore-path --plugin --log-level' }),
  prettierd: formatter(),
  eslint: formatter({ when: '--fix', unless: '--fix-dry-run', takes: ESLINT, here: true }),
  standard: formatter({ when: '--fix', here: true }),
  xo: formatter({ when: '--fix', here: true }),
  stylelint: formatter({ when: '--fix', takes: '--config -f --formatter' }),
  markdownlint: formatter({ when: '--fix -f', takes: CONFIG }),
  'markdownlint-cli2': formatter({ when: '--fix', takes: '--config' }),
  oxlint: formatter({ when: '--fix --fix-suggestions', here: true, takes: CONFIG }),
  oxfmt: formatter({ unless: '--check --list-different', here: true }),
  biome,
  rome: biome,
  dprint: fmt({ takes: CONFIG }),
  deno: (command, found) => {
    fmt({ unless: '--check' })(command, found);
    formatter({ verbs: 'lint', when: '--fix', here: true })(command, found);
  },
  black: formatter({
    unless: '--check --diff',
    takes: '-l -t -c --line-length --target-version --config --include --exclude',
  }),
  isort: formatter({
    unless: '-c --check --check-only --diff',
    takes: '-l -p --profile --settings-path --sp',
  }),
  autopep8: formatter({ when: '-i --in-place', takes: '--max-line-length --select --ignore' }),
  yapf: formatter({ when: '-i --in-place', takes: '--style' }),
  autoflake: formatter({ when: '-i --in-place', takes: '--imports' }),
  pyupgrade: formatter(),
  ruff,
  gofmt: formatter(goTool),
  goimports: formatter(goTool),
  gofumpt: formatter(goTool),
  golines: formatter({ ...goTool, takes: '-m' }),
  go,
  rustfmt: formatter({ unless: '--check', takes: '--edition --config --config-path --emit' }),
  cargo,
  'clang-format': formatter({ when: '-i', takes: '--style -style', attaches: '' }),
  dart: formatter({ verbs: 'format', takes: '-l --line-length -o --output' }),
  terraform: fmt({ unless: '-check', oneDash: true }),
  tofu: fmt({ unless: '-check', oneDash: true }),
  shfmt: formatter({ when: '-w --write', takes: '-i -ln' }),
  stylua: formatter({ unless: '--check' }),
  zig: fmt({ unless: '--check' }),
  mix: formatter({ verbs: 'format', unless: '--check-formatted', here: true }),
  rubocop: formatter({
    when: '-a -A --auto-correct --autocorrect --autocorrect-all',
    here: true,
    takes: '-c --only',
  }),
  ktlint: formatter({ when: '-F --format', here: true }),
  swiftformat: formatter({ unless: '--lint --dryrun' }),
  'swift-format': formatter({ when: '-i --in-place' }),
  buf: formatter({ verbs: 'format', when: '-w --write', here: true }),
  nixfmt: formatter({ unless: '--check -c' }),
  yq: (command, found) => {
    const options = parseOptions(command.args, { takes: '--from-file' });
    if (options.has('-i', '--inplace')) found.file(command, options.operands.slice(1));
  },
  codemod: formatter(),
  jscodeshift: formatter({ unless: '-d --dry', takes: '-t --transform --parser --extensions' }),
};
