import type { Tier } from '../verification-policy.ts';

/** A file of the project by its name; undefined if it is not there. */
export type ReadFile = (name: string) => string | undefined;

/** Names of scripts and targets by tier, each list in the order in which they are run; only fixed names, never a file's words. */
const SCRIPTS: Readonly<Record<number, readonly string[]>> = {
  0: ['lint', 'typecheck'],
  1: ['test'],
  2: ['test:integration'],
  3: ['test:system', 'test:e2e'],
};
const TARGETS: Readonly<Record<number, readonly string[]>> = {
  0: ['lint', 'typecheck'],
  1: ['test'],
  2: ['test-integration'],
  3: ['test-system', 'test-e2e'],
};

/** What the project offers for a tier, as a shell command; undefined: nothing that is known. */
export function commandFor(tier: Tier, read: ReadFile): string | undefined {
  return fromNode(tier, read) ?? fromMake(tier, read) ?? fromLanguages(tier, read);
}

function fromNode(tier: Tier, read: ReadFile): string | undefined {
  const scripts = scriptsOf(read('package.json'));
  return joined((SCRIPTS[tier] ?? []).filter((name) => scripts.has(name)).map((name) => `npm run ${name}`));
}

function scriptsOf(text: string | undefined): ReadonlySet<string> {
  try {
    const { scripts } = JSON.parse(text ?? '{}') as { scripts?: unknown };
    return new Set(typeof scripts === 'object' && scripts !== null ? Object.keys(scripts) : []);
  } catch {
    return new Set();
  }
}

function fromMake(tier: Tier, read: ReadFile): string | undefined {
  const makefile = read('Makefile') ?? '';
  const has = (target: string) => new RegExp(`^${target}[ \\t]*:(?!=)`, 'm').test(makefile);
  return joined((TARGETS[tier] ?? []).filter(has).map((target) => `make ${target}`));
}

function fromLanguages(tier: Tier, read: ReadFile): string | undefined {
  const python = read('pyproject.toml') ?? '';
  const has = (section: string) => new RegExp(`^\\[tool\\.${section}[.\\]]`, 'm').test(python);
  if (tier === 0)
    return joined([
      ...(has('ruff') ? ['ruff check .'] : []),
      ...(has('mypy') ? ['mypy .'] : []),
      ...(read('go.mod') === undefined ? [] : ['go vet ./...']),
    ]);
  if (tier !== 1) return undefined;
  if (has('pytest')) return 'python3 -m pytest';
  if (read('go.mod') !== undefined) return 'go test ./...';
  return read('Cargo.toml') === undefined ? undefined : 'cargo test';
}

/** All of them, whichever fails: the author then sees every problem at once. */
function joined(commands: readonly string[]): string | undefined {
  if (commands.length <= 1) return commands[0];
  return `failed=0; ${commands.map((command) => `${command} || failed=1`).join('; ')}; exit $failed`;
}
