import { limits } from '../../../kernel/limits.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { type ArtefactRecord, type ArtefactState, artefactKey, artefactsFrom } from '../artefact.ts';
import { type BoardClaimRecord, type BoardClaimState, boardClaimKey } from '../board-claim.ts';
import { claimIdOf } from '../board-phases.ts';
import { type Fate, fateNeeds, fateOf } from '../fate.ts';
import { reworkIdOf } from '../rework.ts';

/** Each costs three keys and a range of one read. */
const AT_ONCE = 20;
/** A workflow with more artefacts than this is not followed to its end. */
const ARTEFACTS_MAX = 2000;

export interface JudgedClaim {
  readonly claim: BoardClaimRecord;
  readonly fate: Fate;
}

/** Everything that was made from an artefact, and the artefact itself. */
export interface Descent {
  readonly artefacts: readonly ArtefactRecord[];
  readonly claims: readonly JudgedClaim[];
  readonly truncated: boolean;
}

/**
 * Claims are read together with what was made from their artefact. The commit that ends a claim also
 * publishes what it led to, so a claim that is seen as ended shows all of it.
 */
export async function descentOf({ store, project }: Coxswain, root: string): Promise<Descent> {
  const key = artefactKey(root);
  const first = (await store.find(project, { keys: [key] })).loaded.get<ArtefactState>(key);
  const artefacts = new Map<string, ArtefactRecord>();
  const claims: JudgedClaim[] = [];
  const ahead = first === undefined ? [] : [first];
  for (const artefact of ahead) artefacts.set(artefact.id, artefact);
  while (ahead.length > 0 && artefacts.size < ARTEFACTS_MAX) {
    const page = ahead.splice(0, AT_ONCE);
    const ranges = page.map(({ id }) => artefactsFrom(id, limits.artefacts_listed_max));
    const opened = page.map(({ id, state }) => ({ id: claimIdOf(id), logical_id: state.logical_id }));
    const fates = fateNeeds(opened);
    const keys = [...opened.map(({ id }) => boardClaimKey(id)), ...fates.keys];
    const { loaded, now_ms } = await store.find(project, { keys, ranges: [...ranges, ...fates.ranges] });
    for (const id of opened.flatMap((claim) => [claim.id, reworkIdOf(claim.id)])) {
      const claim = loaded.get<BoardClaimState>(boardClaimKey(id));
      if (claim !== undefined) claims.push({ claim, fate: fateOf(claim, loaded, now_ms) });
    }
    for (const made of ranges.flatMap((range) => loaded.list<ArtefactState>(range))) {
      if (artefacts.has(made.id)) continue;
      artefacts.set(made.id, made);
      ahead.push(made);
    }
  }
  return { artefacts: [...artefacts.values()], claims, truncated: ahead.length > 0 };
}
