import type { Check, PatternText, Theme } from './pattern.ts';
import { backups } from './programs/backups.ts';
import { cloudTools } from './programs/cloud.ts';
import { containers } from './programs/containers.ts';
import { controlPlane } from './programs/control-plane.ts';
import { credentials } from './programs/credential-programs.ts';
import { database } from './programs/database-programs.ts';
import { deletion } from './programs/deletion.ts';
import { deploy } from './programs/deploy.ts';
import { disk } from './programs/disk.ts';
import { gitHistory } from './programs/git-history.ts';
import { gitLoss } from './programs/git-loss.ts';
import { gitPush } from './programs/git-push.ts';
import { machine } from './programs/machine-programs.ts';
import { migrations } from './programs/migrations.ts';
import { overwrite } from './programs/overwrite.ts';
import { payments } from './programs/payments.ts';
import { publishing } from './programs/publishing.ts';
import { remoteCopy } from './programs/remote-copy.ts';
import { unpack } from './programs/unpack.ts';
import { unread } from './programs/unread.ts';

const THEMES: readonly Theme[] = [
  gitPush,
  gitLoss,
  gitHistory,
  deletion,
  overwrite,
  unpack,
  disk,
  machine,
  credentials,
  deploy,
  remoteCopy,
  payments,
  cloudTools,
  containers,
  database,
  backups,
  migrations,
  publishing,
  unread,
  controlPlane,
];

export interface RegisteredPattern extends PatternText {
  readonly id: string;
}

/** Every shipped pattern, in the order of the themes. */
export const PATTERNS: readonly RegisteredPattern[] = THEMES.flatMap(({ patterns }) =>
  Object.entries(patterns).map(([id, pattern]) => ({ id, ...pattern })),
).filter(({ id }, index, all) => all.findIndex((other) => other.id === id) === index);

const BY_ID: ReadonlyMap<string, RegisteredPattern> = new Map(
  PATTERNS.map((pattern) => [pattern.id, pattern]),
);

export function patternOf(id: string): RegisteredPattern {
  const pattern = BY_ID.get(id);
  if (pattern === undefined) throw new Error(`No pattern ${id} in the registry`);
  return pattern;
}

const BY_PROGRAM: ReadonlyMap<string, readonly Check[]> = (() => {
  const found = new Map<string, Check[]>();
  for (const { programs } of THEMES)
    for (const [names, check] of Object.entries(programs))
      for (const name of names.split(' ')) found.set(name, [...(found.get(name) ?? []), check]);
  return found;
})();

/** The checks of a program, whatever its version suffix and upper or lower case. */
export function checksOf(name: string): readonly Check[] {
  const lower = name.toLowerCase();
  const bare = lower.includes('.') ? lower.replace(/\.(?:exe|cmd|bat)$/, '') : lower;
  return BY_PROGRAM.get(bare) ?? BY_PROGRAM.get(bare.replace(/[\d.]+$/, '')) ?? [];
}

export function knownPrograms(): Iterable<string> {
  return BY_PROGRAM.keys();
}
