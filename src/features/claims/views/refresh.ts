import { lstat } from 'node:fs/promises';
import { canonical, type JsonObject } from '../../../kernel/json.ts';
import { keepFile } from '../../../storage/keep-file.ts';
import { errorCode, unlessMissing } from '../../../storage/real-path.ts';
import { normFeature } from '../edge.ts';
import { claimId } from '../edge-claim.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { type Find, readClaims, type ViewedClaim } from './claims-read.ts';
import { claimsJson, statusMarkdown } from './claims-view.ts';
import { rewriteFeature } from './feature-text.ts';

export interface Refreshed {
  /** Relative to the workspace folder; excludes files that were already up to date. */
  readonly written: readonly string[];
  readonly problems: readonly JsonObject[];
}

export interface Viewing {
  readonly fleet: Pick<Fleet, 'folder' | 'plan'>;
  readonly find: Find;
  /**
   * Ids of the claims whose events are to be shown: of feature files, only the entries of these edges are
   * written. Undefined: every claim, where no newer word of a person stands.
   */
  readonly only?: ReadonlySet<string> | undefined;
}

const ROUNDS_MAX = 20;

/**
 * Writes the feature files and the derived views from the log's state. No lock: each writer reads the state
 * again after it has written, and writes again if the state has moved, so that the last writer has written
 * the newest state.
 */
export async function refreshViews({ fleet, find, only }: Viewing): Promise<Refreshed> {
  const written = new Set<string>();
  const problems = new Map<string, JsonObject>();
  if (fleet.folder === '' || !(await isFolder(fleet.folder))) return { written: [], problems: [] };
  let claims = await readClaims(find);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await writeAll({ fleet, only }, claims, written, problems);
    const now = await readClaims(find);
    if (canonical(now) === canonical(claims)) break;
    claims = now;
  }
  return { written: [...written].sort(), problems: [...problems.values()] };
}

async function isFolder(folder: string): Promise<boolean> {
  return (await unlessMissing(lstat(folder)))?.isDirectory() === true;
}

async function writeAll(
  { fleet, only }: Pick<Viewing, 'fleet' | 'only'>,
  claims: readonly ViewedClaim[],
  written: Set<string>,
  problems: Map<string, JsonObject>,
): Promise<void> {
  const keep = async (path: string, edit: (text: string | undefined) => string | undefined) => {
    try {
      if (await keepFile(fleet.folder, path, edit)) written.add(path);
    } catch (error) {
      problems.set(path, { file: path, reason: errorCode(error) || String((error as Error).message) });
    }
  };
  const shown = claims.filter(({ feature, edge }) => only?.has(claimId(feature, edge)) !== false);
  const byFeature = Map.groupBy(shown, ({ feature }) => normFeature(feature));
  const { features } = await fleet.plan();
  for (const { feature, file, touched_ms } of features) {
    const own = byFeature.get(normFeature(feature));
    if (file === undefined || own === undefined) continue;
    await keep(file, (text) => {
      if (text === undefined) return undefined;
      const rewritten =
        only === undefined ? rewriteFeature(text, own, touched_ms) : rewriteFeature(text, own);
      if ('text' in rewritten) return rewritten.text;
      problems.set(file, { file, reason: rewritten.problem });
      return undefined;
    });
  }
  await keep('views/claims.json', () => claimsJson(claims));
  await keep('views/STATUS.md', () => statusMarkdown(claims));
}
