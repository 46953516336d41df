import { type Rewritten, rewriteYaml } from '../../../storage/yaml-text.ts';
import type { ViewedClaim } from './claims-read.ts';
import { settingsFor } from './trajectory.ts';

/** New keys of an entry go after these keys of ours. */
const OURS = ['status', 'iteration', 'started_at'];

/** A feature file brought up to date with the log. Only the values that differ change. */
export function rewriteFeature(text: string, claims: readonly ViewedClaim[]): Rewritten {
  return rewriteYaml(text, (file) => settingsFor(file, claims).map((each) => ({ ...each, after: OURS })));
}
