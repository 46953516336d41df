import { type Options, parseOptions } from '../program-options.ts';
import type { SimpleCommand } from '../shell-command.ts';
import type { ShellFindings, Writer } from '../shell-findings.ts';
import { literal, type Word, within } from '../word.ts';

const TAKES = '--prefix -C --dir --cwd --filter -w --workspace --registry --group --extra --python';
const CHANGES = /^(?:add|remove|rm|uninstall|un|unlink|update|up|upgrade|dedupe)$/;

/** What is installed belongs to no repository; what it was decided from does. */
function write(
  command: SimpleCommand,
  found: ShellFindings,
  options: Options,
  ...names: readonly string[]
): void {
  const [folder] = options.values('--prefix', '-C', '--dir', '--cwd');
  const at = (name: string): Word => (folder === undefined ? literal(name) : within(folder, literal(name)));
  found.file(command, names.map(at));
}

function javascript(lock: string): Writer {
  return (command, found) => {
    const options = parseOptions(command.args, { takes: TAKES });
    const [verb, ...packages] = options.operands.map(({ text }) => text);
    if (options.has('-g', '--global', '--dry-run', '--frozen-lockfile', '--immutable', '--no-save')) return;
    const install = verb === undefined ? lock === 'yarn.lock' : /^(?:install|i|import)$/.test(verb);
    const edits = verb === 'pkg' && /^(?:set|delete|fix)$/.test(packages[0] ?? '');
    const chosen = packages.length > 0 && (install || verb === 'version' || packages[0] === 'fix');
    if (verb === 'init' || edits) write(command, found, options, 'package.json');
    else if (CHANGES.test(verb ?? '') || chosen) write(command, found, options, 'package.json', lock);
    else if (install) write(command, found, options, lock);
  };
}

/** Programs with one manifest and one lock file; `locks` are the verbs that change only the latter. */
function manifest(file: string, lock: string, locks: RegExp, both = CHANGES): Writer {
  return (command, found) => {
    const options = parseOptions(command.args, { takes: TAKES });
    const verb = options.operands[0]?.text ?? '';
    if (options.has('--dry-run', '--frozen', '--locked')) return;
    if (both.test(verb)) write(command, found, options, file, lock);
    else if (locks.test(verb)) write(command, found, options, lock);
  };
}

export const packageWriters: Readonly<Record<string, Writer>> = {
  npm: javascript('package-lock.json'),
  pnpm: javascript('pnpm-lock.yaml'),
  yarn: javascript('yarn.lock'),
  bun: javascript('bun.lock'),
  uv: manifest('pyproject.toml', 'uv.lock', /^(?:lock|sync)$/),
  poetry: manifest('pyproject.toml', 'poetry.lock', /^(?:lock|install)$/),
  pipenv: manifest('Pipfile', 'Pipfile.lock', /^lock$/, /^(?:install|uninstall|update)$/),
  bundle: manifest('Gemfile', 'Gemfile.lock', /^(?:install|lock|update)$/, /^(?:add|remove)$/),
  composer: manifest('composer.json', 'composer.lock', /^(?:install|update)$/, /^(?:require|remove)$/),
};
