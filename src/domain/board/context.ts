import { limits } from '../../kernel/limits.ts';
import type { Loaded, Needs } from '../../ledger/decision.ts';
import { type ArtefactRecord, type ArtefactState, artefactKey, type StructuralType } from './artefact.ts';
import { type ThreadState, threadKey, threadOf } from './thread.ts';

type Find = (needs: Needs) => Promise<{ readonly loaded: Loaded }>;

/** What an agent can build on. Mishaps, open questions and ends are no context. */
const IN_CONTEXT: ReadonlySet<StructuralType> = new Set(['Standard', 'Answer', 'Review']);

export interface Context {
  readonly artefacts: readonly ArtefactRecord[];
  /** There is more than fits. */
  readonly truncated: boolean;
}

/**
 * What led to an artefact: breadth first over its sources, the nearest first, of each thing its latest version. Versions may
 * have sources of their own, so it is the latest one that is followed further.
 */
export async function contextOf(
  target: ArtefactRecord,
  additional: readonly string[],
  find: Find,
): Promise<Context> {
  const artefacts: ArtefactRecord[] = [];
  const seen = new Set([target.state.logical_id]);
  let level = [...additional, ...target.state.source_artefacts];
  for (let depth = 0; depth < limits.context_depth && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const artefact of await latestOf(level, find)) {
      const { logical_id, structural_type, source_artefacts } = artefact.state;
      if (seen.has(logical_id)) continue;
      if (artefacts.length >= limits.context_artefacts_max) return { artefacts, truncated: true };
      seen.add(logical_id);
      next.push(...source_artefacts);
      if (IN_CONTEXT.has(structural_type)) artefacts.push(artefact);
    }
    level = next;
  }
  return { artefacts, truncated: level.length > 0 };
}

/** The newest version of each, in the order asked for. */
export async function latestOf(ids: readonly string[], find: Find): Promise<ArtefactRecord[]> {
  const named = await artefactsById(ids, find);
  const threads = [...new Set(named.map(({ state }) => state.logical_id))];
  const { loaded } = await find({ keys: threads.map(threadKey) });
  const newest = named.map(({ state: { logical_id } }) => {
    return threadOf(loaded.get<ThreadState>(threadKey(logical_id)), logical_id).artefact_id;
  });
  const known = new Map(named.map((artefact) => [artefact.id, artefact]));
  for (const artefact of await artefactsById(
    newest.filter((id) => !known.has(id)),
    find,
  ))
    known.set(artefact.id, artefact);
  return [...new Set(newest)].flatMap((id) => known.get(id) ?? []);
}

export async function artefactsById(ids: readonly string[], find: Find): Promise<ArtefactRecord[]> {
  const wanted = [...new Set(ids)];
  const found: ArtefactRecord[] = [];
  for (let start = 0; start < wanted.length; start += limits.entities_per_commit) {
    const page = wanted.slice(start, start + limits.entities_per_commit);
    const { loaded } = await find({ keys: page.map(artefactKey) });
    found.push(...page.flatMap((id) => loaded.get<ArtefactState>(artefactKey(id)) ?? []));
  }
  return found;
}
