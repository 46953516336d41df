import type { JsonObject } from '../../kernel/json.ts';
import { differences } from './agree.ts';
import { type Copying, copyRows } from './copy.ts';
import { survey, type Target } from './survey.ts';

export interface SyncOptions extends Copying {
  readonly to: Target;
  /** Only reports what would be copied. */
  readonly dry_run?: boolean | undefined;
}

export interface Synced {
  /** Rows of the source's log, without those about the source itself. */
  readonly rows: number;
  readonly missing: number;
  readonly copied: number;
  readonly entities: number;
  readonly differences: JsonObject[];
}

/**
 * Brings the target's log up to the source's: each row once, however often it runs, wherever it was
 * interrupted, and even if another sync runs at the same time. Throws `histories_diverged` when both have
 * continued the same entity. It adds no row of its own; otherwise two logs would never be equal.
 */
export async function sync(options: SyncOptions): Promise<Synced> {
  const surveyed = await survey(options.from, options.to, options.project);
  const { rows, missing } = surveyed;
  if (options.dry_run === true) return { rows, missing, copied: 0, entities: 0, differences: [] };
  const result = await copyRows(options, surveyed);
  const { copied, state } = result;
  return {
    ...{ rows, missing, copied },
    entities: state.size,
    differences: await differences(options, surveyed, result),
  };
}
