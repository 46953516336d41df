import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hookBuilder, hookSources, ownPrograms } from './wiring.ts';

export type BundleState = 'fresh' | 'old' | 'missing';

/** The hook program is one file made of many: is it there, and made of what the sources are now? */
export function bundleState(): BundleState {
  const built_ms = statSync(ownPrograms().hook, { throwIfNoEntry: false })?.mtimeMs;
  if (built_ms === undefined) return 'missing';
  if (hookBuilder() === undefined) return 'fresh';
  return hookSources().some((path) => isNewer(path, built_ms)) ? 'old' : 'fresh';
}

/** A folder is as new as the newest of what is in it. */
function isNewer(path: string, than_ms: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) return found !== undefined && found.mtimeMs > than_ms;
  return readdirSync(path).some((name) => isNewer(join(path, name), than_ms));
}

const BUILD_MS_MAX = 60_000;

/** Builds it where it can be built and has to be. Answers why there is none to be had. */
export function ensureBundle(): string | undefined {
  const state = bundleState();
  const builder = hookBuilder();
  if (state === 'fresh') return undefined;
  if (builder === undefined) return `${ownPrograms().hook} is missing; install the package again.`;
  const { status, stderr, error } = spawnSync(process.execPath, [builder], {
    encoding: 'utf8',
    timeout: BUILD_MS_MAX,
  });
  if (status === 0) return undefined;
  const why = error?.message ?? stderr.trim().split('\n').at(-1) ?? '';
  return `the hook program could not be built (${why}); try \`npm run build\`.`;
}
