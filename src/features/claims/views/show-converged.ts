import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Step } from '../../../runtime/operation.ts';
import { claimId } from '../edge-claim.ts';
import { type Fleet, fleetService } from '../fleet/fleet.ts';
import type { Find } from './claims-read.ts';

/** One read of all claims and one round of writing covers all convergences within this time. */
const TOGETHER_MS = 1000;

/** The parts of a step that this needs. */
interface Converged {
  use: Step['use'];
  readonly find: Find;
  elapsed_ms(): number;
}

interface Showing {
  started_ms: number;
  /** The claims that no round has shown yet. */
  ids: Set<string>;
  /** The round in progress, or waiting for its turn. */
  running?: Promise<JsonObject> | undefined;
  next?: Promise<JsonObject> | undefined;
}

const showings = new WeakMap<Fleet, Showing>();

/**
 * Brings the entry of the edge that was just converged in its feature's file, and the views, up to date. Other
 * features and other edges keep what is written about them. The commit stands even if that fails: what could
 * not be written is reported beside the answer, and `cox views rebuild` writes it. Where many agents converge,
 * most don't wait: the round a moment later shows their convergences too.
 */
export async function showConverged(
  step: Converged,
  { feature, edge }: { readonly feature: string; readonly edge: string },
): Promise<JsonObject> {
  const fleet = step.use(fleetService);
  if (fleet.folder === '' || !isShown(fleet.folder)) return {};
  const showing = showings.get(fleet) ?? { started_ms: Number.NEGATIVE_INFINITY, ids: new Set() };
  showings.set(fleet, showing);
  showing.ids.add(claimId(feature, edge));
  const since_ms = step.elapsed_ms() - showing.started_ms;
  if (showing.running === undefined && since_ms >= TOGETHER_MS) return await refresh(step, showing);
  showing.next ??= later(step, showing, TOGETHER_MS - since_ms);
  return {};
}

/** The folder has no features and no views of them. */
function isShown(folder: string): boolean {
  return existsSync(join(folder, 'features')) || existsSync(join(folder, 'views'));
}

async function later(step: Converged, showing: Showing, wait_ms: number): Promise<JsonObject> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, wait_ms)));
  await showing.running;
  showing.next = undefined;
  return await refresh(step, showing);
}

async function refresh(step: Converged, showing: Showing): Promise<JsonObject> {
  showing.started_ms = step.elapsed_ms();
  const only = showing.ids;
  showing.ids = new Set();
  showing.running = written(step, only);
  const problems = await showing.running;
  showing.running = undefined;
  return problems;
}

async function written(step: Converged, only: ReadonlySet<string>): Promise<JsonObject> {
  const fleet = step.use(fleetService);
  const { find } = step;
  try {
    const { refreshViews } = await import('./refresh.ts');
    const { problems } = await refreshViews({ fleet, find, only });
    return problems.length === 0 ? {} : { view_problems: [...problems] };
  } catch (error) {
    return { view_problems: [{ reason: error instanceof Error ? error.message : String(error) }] };
  }
}

/** Completes postponed rounds before the store is closed. */
export async function allShown(fleet: Fleet): Promise<void> {
  const showing = showings.get(fleet);
  await showing?.next;
  await showing?.running;
}
