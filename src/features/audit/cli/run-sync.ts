import { resolve } from 'node:path';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import { archivesOf } from '../../../ledger/audit/tombstone.ts';
import type { Target } from '../../../ledger/sync/survey.ts';
import { type Synced, sync } from '../../../ledger/sync/sync-stores.ts';
import { invalid } from '../../../runtime/answer.ts';
import { anchored } from '../../../runtime/choose-store.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { entities } from '../../../runtime/entities.ts';
import { progress } from '../../../transports/cli/output/progress.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { counted } from '../../../transports/cli/output/text.ts';
import { type CommonOptions, refuseAbsent, withStore } from '../../../transports/cli/program/common.ts';
import { checkArchive } from './archive-file.ts';
import { openHistory, refuseMissing } from './read-history.ts';

export interface SyncOptions extends CommonOptions {
  readonly dryRun?: boolean;
  readonly archive?: readonly string[];
}

const DIFFERENCES_SHOWN = 100;

/**
 * A caller with direct access to both stores could copy them anyway, so no profile is checked. The copy
 * leaves no row of its own: the two logs would differ by it, and each copied row says whose it is.
 */
export async function syncStores(
  from: string,
  to: string,
  options: SyncOptions,
  terminal: Terminal,
): Promise<JsonObject> {
  if (options.store !== undefined) return invalid('store', 'nothing: sync names both stores itself');
  const absent = refuseAbsent(anchored(from, terminal.cwd), 'from');
  if (absent !== undefined) return absent;
  return await withStore({ ...options, store: from }, terminal, async (source) =>
    withStore({ ...options, store: to }, terminal, async (target) => {
      const fromSide = await sideOf(source, options, terminal);
      if (!fromSide.ok) return fromSide.refusal;
      const toSide = await sideOf(target, options, terminal);
      if (!toSide.ok) return toSide.refusal;
      const { project, clock } = source;
      const done = await sync({
        ...{ project, clock, entities },
        from: fromSide.side,
        to: toSide.side,
        dry_run: options.dryRun === true,
        onProgress: progress(terminal, 'copied'),
      });
      return answer(done, project, options.dryRun === true);
    }),
  );
}

/** Together with this store's archives: the log has to be complete, or its fold differs. */
async function sideOf(
  coxswain: Coxswain,
  { archive = [] }: SyncOptions,
  terminal: Terminal,
): Promise<{ ok: true; side: Target } | { ok: false; refusal: Refusal }> {
  const { store, project } = coxswain;
  const moved = new Set((await archivesOf(store.trail, project)).map(({ sha256 }) => sha256));
  const ours: string[] = [];
  for (const path of archive)
    if (moved.has((await checkArchive(resolve(terminal.cwd, path), project)).sha256)) ours.push(path);
  const history = await openHistory(coxswain, terminal, ours);
  const refusal = refuseMissing(history);
  if (refusal !== undefined) return { ok: false, refusal };
  return { ok: true, side: { store, rows: (last) => history.rows({ last }) } };
}

function answer(done: Synced, project: string, dry_run: boolean): JsonObject {
  const { rows, missing, copied, differences } = done;
  const there = rows - (dry_run ? missing : copied);
  if (dry_run) return { success: true, dry_run, project, rows, would_copy: missing, already_there: there };
  const counts = { project, rows, copied, already_there: there, entities: done.entities };
  if (differences.length === 0) return { success: true, ...counts, folds: 'the folds agree' };
  return {
    success: false,
    ...counts,
    folds: 'the folds differ',
    differences: differences.slice(0, DIFFERENCES_SHOWN),
    message: `All rows are there, but ${counted(differences.length, 'record')} of the target are not what they fold to.`,
    remedy: 'Run `cox replay` on the target: it says whether its records are what its own log says.',
  };
}
