import type { Fleet } from '../features/claims/fleet/index.ts';
import { Rules, type RulesOptions, rulesOptions } from '../features/trust/rules/index.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { createIds, type Ids, type Random, systemRandom } from '../kernel/ids.ts';
import { StoreFailure } from '../kernel/refusal.ts';
import { findWorkspace, joinPath, STORE_FOLDER, type Workspace } from '../kernel/workspace.ts';
import type { Store, StoreContext } from '../ledger/store-port.ts';
import { openStore } from '../stores/open-store.ts';
import { chooseStore } from './choose-store.ts';
import type { OpenOptions } from './coxswain.ts';
import type { OpenedPlace } from './open-place.ts';

/** A store and the rules of its project: enough to read what is the case, without anything that makes calls. */
export interface OpenedLedger {
  readonly store: Store;
  readonly store_url: string;
  readonly project: string;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly env: NodeJS.ProcessEnv;
  readonly rules: Rules;
  /** What slices need of the place; undefined for a brief process. */
  readonly place: OpenedPlace | undefined;
}

export async function openLedger(options: OpenOptions): Promise<OpenedLedger> {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const ids = createIds(clock, random);
  const env = options.env ?? process.env;
  const workspace = options.workspace ?? findWorkspace(options.cwd ?? process.cwd());
  const store_url = chooseStore(options.store, env).url ?? defaultStore(workspace);
  const project = options.project ?? (env.COX_PROJECT || 'default');
  const sits = options.sits === true && env.COX_SEAT !== 'off';
  const { brief, leaves, lasting } = options;
  const place =
    brief === true
      ? undefined
      : await (await import('./open-place.ts')).openPlace({ workspace, clock, env, store_url });
  const ruling = await rulesOptions(env);
  const entities = options.entities ?? (await import('./entities.ts')).entities;
  const store = await openStore(store_url, {
    ...{ entities, clock, random, ids, project, sits, brief, leaves, lasting },
    ...(await othersWords(store_url, place?.fleet, ruling, { sits })),
  });
  const rules = new Rules(store, project, clock, ruling);
  return { store, store_url, project, workspace, clock, random, ids, env, rules, place };
}

/** How lines of other programs are read, the commands that this process may make for its neighbours, and what lies in an inbox. A short command needs none of it. */
async function othersWords(
  store_url: string,
  fleet: Fleet | undefined,
  ruling: RulesOptions,
  { sits }: { sits: boolean },
): Promise<Pick<StoreContext, 'commands' | 'foreign' | 'proposals'>> {
  const inFiles = store_url.startsWith('files:');
  return {
    foreign: inFiles ? (await import('../features/claims/fleet/foreign-claims.ts')).foreignLines : undefined,
    commands: sits ? (await import('./commands.ts')).commands : undefined,
    proposals:
      inFiles && fleet !== undefined
        ? (await import('../features/claims/fleet/claim-proposals.ts')).claimProposals(fleet, ruling)
        : undefined,
  };
}

/** Where all worktrees of a repository share it; without git, beside the files it coordinates. */
export function defaultStore(workspace: Workspace): string {
  if (workspace.dangling !== undefined) {
    const { file, target } = workspace.dangling;
    // A store beside it would be used by no other work tree of the repository.
    throw new StoreFailure(
      'store_unusable',
      `${file} leads to ${target}, where no git repository is: its main checkout was moved or removed. Run \`git worktree repair\` in the main checkout, or name a store (--store, COX_STORE).`,
    );
  }
  const folder =
    workspace.gitCommonDir === undefined
      ? joinPath(workspace.root, STORE_FOLDER)
      : joinPath(workspace.gitCommonDir, 'coxswain');
  return `sqlite:${joinPath(folder, 'cox.db')}`;
}
