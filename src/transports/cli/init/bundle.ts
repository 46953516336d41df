import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hookBuilder, hookSources, ownPrograms } from './wiring.ts';

export type BundleState = 'fresh' | 'old' | 'missing';

/** The hook program is a bundle: does it exist, and is it up to date with its sources? */
export function bundleState(): BundleState {
  const built_ms = statSync(ownPrograms().hook, { throwIfNoEntry: false })?.mtimeMs;
  if (built_ms === undefined) return 'missing';
  if (hookBuilder() === undefined) return 'fresh';
  return hookSources().some((path) => isNewer(path, built_ms)) ? 'old' : 'fresh';
}

/** A folder is as new as the newest file in it. */
function isNewer(path: string, than_ms: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) return found !== undefined && found.mtimeMs > than_ms;
  return readdirSync(path).some((name) => isNewer(join(path, name), than_ms));
}

const BUILD_MS_MAX = 60_000;

/** Builds the bundle if that is needed and possible. Returns the reason if there is none in the end. */
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
