import { limits } from '../../kernel/limits.ts';
import type { Loaded, Needs } from '../../ledger/decision.ts';
import { type ArtefactRecord, type ArtefactState, artefactKey, type StructuralType } from './artefact.ts';
import { type ThreadState, threadKey, threadOf } from './thread.ts';

type Find = (needs: Needs) => Promise<{ readonly loaded: Loaded }>;

/** What an agent can build on. Failures, open questions and ends are not context. */
const IN_CONTEXT: ReadonlySet<StructuralType> = new Set(['Standard', 'Answer', 'Review']);

export interface BoardContext {
  readonly artefacts: readonly ArtefactRecord[];
  /** There is more than fits. */
  readonly truncated: boolean;
}

/**
 * What led to an artefact: breadth first over its sources, the nearest first, and of each thing its latest
 * version. A reworked version is made from the version before it and the feedback on that; only the first
 * version refers to the goal. So older versions are not shown but walked through, and the first one is never
 * more than a step away.
 */
export async function contextOf(
  target: ArtefactRecord,
  additional: readonly string[],
  find: Find,
): Promise<BoardContext> {
  const artefacts: ArtefactRecord[] = [];
  const seen = new Set([target.state.logical_id]);
  const walked = new Set([target.id]);
  const unwalked = (ids: readonly string[]) => ids.filter((id) => !walked.has(id));
  let level = unwalked([...additional, ...sourcesOf(target)]);
  for (let depth = 0; depth < limits.context_depth && level.length > 0; depth += 1) {
    const named = await artefactsById(level, find);
    const newest = await newestOf(named, find);
    const next: string[] = [];
    for (const artefact of named) walked.add(artefact.id);
    for (const artefact of named) {
      const { logical_id } = artefact.state;
      const latest = newest.get(logical_id) ?? artefact;
      if (!seen.has(logical_id)) {
        if (artefacts.length >= limits.context_artefacts_max) return { artefacts, truncated: true };
        seen.add(logical_id);
        walked.add(latest.id);
        next.push(...sourcesOf(latest));
        if (IN_CONTEXT.has(latest.state.structural_type)) artefacts.push(latest);
      }
      next.push(...sourcesOf(artefact));
    }
    level = unwalked(next);
  }
  return { artefacts, truncated: level.length > 0 };
}

function sourcesOf({ state }: ArtefactRecord): readonly string[] {
  const { source_artefacts, logical_id, version } = state;
  return version > 1 ? [...source_artefacts, logical_id] : source_artefacts;
}

/** The newest version of each, in the order in which they were asked for. */
export async function latestOf(ids: readonly string[], find: Find): Promise<ArtefactRecord[]> {
  return [...(await newestOf(await artefactsById(ids, find), find)).values()];
}

/** The newest version of each thing that these are versions of, by `logical_id`. */
async function newestOf(named: readonly ArtefactRecord[], find: Find): Promise<Map<string, ArtefactRecord>> {
  const things = [...new Set(named.map(({ state }) => state.logical_id))];
  const { loaded } = await find({ keys: things.map(threadKey) });
  const ids = things.map((logical_id) => {
    return threadOf(loaded.get<ThreadState>(threadKey(logical_id)), logical_id).artefact_id;
  });
  const known = new Map(named.map((artefact) => [artefact.id, artefact]));
  for (const artefact of await artefactsById(
    ids.filter((id) => !known.has(id)),
    find,
  ))
    known.set(artefact.id, artefact);
  return new Map(
    ids.flatMap((id) => {
      const artefact = known.get(id);
      return artefact === undefined ? [] : [[artefact.state.logical_id, artefact]];
    }),
  );
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
