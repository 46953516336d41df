import { type Rewritten, rewriteYaml } from '../../../storage/yaml-text.ts';
import type { ViewedClaim } from './claims-read.ts';
import { settingsFor } from './trajectory.ts';

/** New keys of an entry go after these keys of ours. */
const OURS = ['status', 'iteration', 'started_at'];

/**
 * A feature file brought up to date with these claims. Only the values that differ change. Claims older than
 * `touched_ms` don't take back what a person wrote since.
 */
export function rewriteFeature(
  text: string,
  claims: readonly ViewedClaim[],
  touched_ms: number = Number.NEGATIVE_INFINITY,
): Rewritten {
  return rewriteYaml(text, (file) =>
    settingsFor(file, claims, touched_ms).map((each) => ({ ...each, after: OURS })),
  );
}
