import { sha256 } from '../../../kernel/hash.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { StoreFailure } from '../../../kernel/refusal.ts';
import type { Step } from '../../../runtime/operation.ts';
import type { AssetPlace } from '../../../storage/storage-place.ts';
import { endPromotion } from '../commands.ts';
import {
  describePromotion,
  type PromotedFile,
  type PromotionRecord,
  type PromotionState,
  promotionKey,
} from '../state.ts';
import { underWay, underWayKey } from '../under-way.ts';
import { problemText } from './drafted.ts';

type Conflict = { readonly reason: string; readonly published: readonly string[] };

async function readPromotion(step: Step, id: string): Promise<PromotionRecord | undefined> {
  const key = promotionKey(id);
  const { loaded } = await step.find({ keys: [key] });
  return loaded.get<PromotionState>(key);
}

/**
 * Forward, never back: what was started is written as it was decided, by the next process that sees it, as often as it takes. Any number may do
 * it at the same time.
 */
export async function finishPromotion(
  step: Step,
  place: AssetPlace,
  id: string,
): Promise<PromotionRecord | undefined> {
  const record = await readPromotion(step, id);
  if (record === undefined || record.state.status !== 'started') return record;
  const { agent_id, files } = record.state;
  const staging = { agent_id, promotion_id: id };
  const conflict = await writeAssets(place, staging, files);
  // Before it is over in the log: a process that resumes in the middle then finds nothing to move into place.
  await place.settle(
    staging,
    files.map(({ path }) => path),
  );
  await step.chore('end_promotion', endPromotion({ promotion_id: id, conflict }));
  await place.unstage(staging).catch(() => {}); // Of no more use, and swept up later.
  return await readPromotion(step, id);
}

async function writeAssets(
  place: AssetPlace,
  staging: { agent_id: string; promotion_id: string },
  files: readonly PromotedFile[],
): Promise<Conflict | undefined> {
  const states: { path: string; state: 'old' | 'new' | 'other' }[] = [];
  for (const file of files) states.push({ path: file.path, state: await stateOf(place, file) });
  const published = states.filter(({ state }) => state === 'new').map(({ path }) => path);
  // All of them are looked at before the first one changes: mostly it is all or nothing then.
  const other = states.find(({ state }) => state === 'other');
  if (other !== undefined) return { reason: changed(other.path), published };
  for (const file of files) {
    const outcome = await place.publish(staging, file);
    if (outcome === 'conflict') return { reason: changed(file.path), published };
    if (outcome === 'lost') return { reason: `What was to replace ${file.path} is gone.`, published };
    if (!published.includes(file.path)) published.push(file.path);
  }
  return undefined;
}

const changed = (path: string) => `${path} was changed by somebody else.`;

async function stateOf(place: AssetPlace, file: PromotedFile): Promise<'old' | 'new' | 'other'> {
  const bytes = await place.readAsset(file.path);
  const hash = bytes === undefined ? null : sha256(bytes);
  if (hash === file.draft_hash) return 'new';
  return hash === file.old_hash ? 'old' : 'other';
}

/** Everything that was started and is staged here, and what has been in the way. Answers what is left. */
export async function finishAll(step: Step, place: AssetPlace): Promise<JsonObject[]> {
  const { loaded, now_ms } = await step.find({ keys: [underWayKey] });
  const left: JsonObject[] = [];
  for (const { promotion_id } of underWay(loaded)) {
    const record = await readPromotion(step, promotion_id);
    if (record === undefined || record.state.status !== 'started') continue;
    try {
      if (!(await isOurs(place, record, now_ms))) left.push(describePromotion(record));
      else await finishPromotion(step, place, promotion_id);
    } catch (error) {
      if (error instanceof StoreFailure) throw error;
      left.push({ ...describePromotion(record), problem: problemText(error) });
    }
  }
  await sweep(step, place, now_ms);
  return left;
}

/** Another work tree or machine finishes its own; only what exists nowhere any more is ended here. */
async function isOurs(place: AssetPlace, { id, state }: PromotionRecord, now_ms: number): Promise<boolean> {
  if (await place.isStaged({ agent_id: state.agent_id, promotion_id: id })) return true;
  return now_ms - state.started_at_ms > limits.promotion_lost_ms;
}

/** Contents staged by a process that died before the decision. */
async function sweep(step: Step, place: AssetPlace, now_ms: number): Promise<void> {
  const { agent_id } = step.caller;
  try {
    for (const promotion_id of await place.stagedBefore(agent_id, now_ms - limits.promotion_lost_ms)) {
      const record = await readPromotion(step, promotion_id);
      if (record?.state.status !== 'started') await place.unstage({ agent_id, promotion_id });
    }
  } catch (error) {
    if (error instanceof StoreFailure) throw error;
    // Only tidying up: the next one tries again.
  }
}
