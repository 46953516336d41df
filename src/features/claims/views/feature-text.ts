import { type Rewritten, rewriteYaml } from '../../../storage/yaml-text.ts';
import type { ViewedClaim } from './claims-read.ts';
import { settingsFor } from './trajectory.ts';

/** What is new in an entry stands behind what we know of it. */
const OURS = ['status', 'iteration', 'started_at'];

/** A feature file as the log has it. Only the values that differ change. */
export function rewriteFeature(text: string, claims: readonly ViewedClaim[]): Rewritten {
  return rewriteYaml(text, (file) => settingsFor(file, claims).map((each) => ({ ...each, after: OURS })));
}
