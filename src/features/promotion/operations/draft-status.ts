import type { JsonObject } from '../../../kernel/json.ts';
import { isOver } from '../../../ledger/lease.ts';
import type { Step } from '../../../runtime/operation.ts';
import { type ClaimRules, type ClaimState, claimsOf } from '../../claims/index.ts';
import { checkLocks, checkLocksMore, checkLocksNeeds } from '../../locks/index.ts';
import { gatesOf, requiredEvaluators } from '../promotion-gates.ts';
import { shownFolder, whereOf } from './draft-place.ts';
import { type Drafted, selectDrafts } from './drafted.ts';
import { finishAll } from './finish-promotion.ts';
import { dangersOf } from './promote-draft.ts';

/** What would be promoted, and what stands before it. */
export async function draftsShown(step: Step, agent_id: string): Promise<JsonObject> {
  const where = await whereOf(step);
  if ('success' in where) return where;
  const under_way = await finishAll(step, where.place);
  const selected = await selectDrafts(step, where, agent_id);
  if ('success' in selected) return selected;
  const { drafted, unchanged, problems, truncated } = selected;
  const locks = await locksOfOthers(step, agent_id, drafted);
  const drafts: JsonObject[] = [
    ...drafted.map((file) => describe(file, where.rules, locks)),
    ...unchanged.map((path) => ({ path, status: 'unchanged' })),
    ...problems.map(({ path, problem }) => ({ path, status: 'unusable', problem })),
  ];
  return {
    success: true,
    agent_id,
    folder: shownFolder(step, where.place.draftsOf(agent_id)),
    scratch_folder: shownFolder(step, where.place.scratchOf(agent_id)),
    drafts,
    ...(truncated ? { truncated } : {}),
    edges: await edgesHeld(step, agent_id, where.rules),
    under_way,
  };
}

function describe(file: Drafted, rules: ClaimRules, locks: ReadonlyMap<string, string>): JsonObject {
  const { draft, path, asset, old_hash, key, contents } = file;
  const is_new = old_hash === null;
  const gates = gatesOf({ ...rules, edges: {} }, { edge: '', agent_role: undefined }, [
    { asset, path, is_new },
  ]);
  const needs = [...gates, ...dangersOf(file)].map(({ reason }) => `a person: ${reason}`);
  const locked_by = locks.get(key);
  return {
    path: draft,
    status: is_new ? 'new' : 'changed',
    target: path,
    bytes: contents.bytes.length,
    ...(needs.length === 0 ? {} : { needs }),
    ...(locked_by === undefined ? {} : { locked_by }),
  };
}

async function locksOfOthers(
  step: Step,
  agent_id: string,
  drafted: readonly Drafted[],
): Promise<ReadonlyMap<string, string>> {
  const held = new Map<string, string>();
  for (const { key } of drafted) {
    const areas = [{ place: key }];
    let found = await step.find(checkLocksNeeds(areas));
    const more = checkLocksMore(areas, found.loaded);
    if (more !== undefined) found = await step.find(more);
    const { locks } = checkLocks(areas, found.loaded, found.now_ms);
    const other = (locks as JsonObject[]).find(({ locked_by }) => locked_by !== agent_id);
    if (other !== undefined) held.set(key, String(other.locked_by));
  }
  return held;
}

/** What the agent may promote for, and what each of them asks for. */
async function edgesHeld(step: Step, agent_id: string, rules: ClaimRules): Promise<JsonObject[]> {
  const range = claimsOf(agent_id);
  const { loaded, now_ms } = await step.find({ ranges: [range] });
  return loaded
    .list<ClaimState>(range)
    .filter(({ state }) => state.lease !== undefined && !isOver(state.lease, now_ms))
    .map(({ state: { feature, edge, agent_role } }) => {
      const evaluators = requiredEvaluators(rules, edge);
      const needs = gatesOf(rules, { edge, agent_role }, []).map(({ reason }) => `a person: ${reason}`);
      return {
        feature,
        edge,
        ...(evaluators.length === 0 ? {} : { evaluators }),
        ...(needs.length === 0 ? {} : { needs }),
      };
    });
}
