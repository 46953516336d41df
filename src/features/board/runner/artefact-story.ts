import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import type { Loaded } from '../../../ledger/decision.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { approvalRanges } from '../../trust/approvals/index.ts';
import {
  type ArtefactRecord,
  type ArtefactState,
  artefactKey,
  artefactsFor,
  artefactsFrom,
  describeArtefact,
  outlineArtefact,
  versionsOf,
} from '../artefact.ts';
import { type BoardState, boardKey, boardOf } from '../board.ts';
import { type BoardClaimState, boardClaimKey } from '../board-claim.ts';
import { claimIdOf } from '../board-phases.ts';
import { historyOf, type VersionStory } from '../claim-history.ts';
import { artefactsById } from '../context.ts';
import { reworkApprovals } from '../fate.ts';
import { reworkIdOf } from '../rework.ts';
import { describeBoardClaim } from '../show-board.ts';
import { type ThreadState, threadKey, threadOf } from '../thread.ts';

const asked = approvalRanges({ status: 'all' });
/** Each version costs two keys and two ranges of one read. */
const VERSIONS_MAX = 40;

/** Undefined: there is no such artefact. */
export async function storyOf(
  { store, project }: Coxswain,
  artefact_id: string,
): Promise<JsonObject | undefined> {
  const find = (needs: Parameters<typeof store.find>[1]) => store.find(project, needs);
  const key = artefactKey(artefact_id);
  const artefact = (await find({ keys: [key] })).loaded.get<ArtefactState>(key);
  if (artefact === undefined) return undefined;
  const thread = versionsOf(artefact.state.logical_id);
  const all = (await find({ ranges: [thread] })).loaded.list<ArtefactState>(thread);
  // The newest ones, if there are more than a person would read.
  const versions = all.slice(-VERSIONS_MAX);
  const made = artefactsFrom(artefact_id, limits.artefacts_listed_max);
  const claimIds = versions.flatMap(({ id }) => [claimIdOf(id), reworkIdOf(claimIdOf(id))]);
  const threads = threadKey(artefact.state.logical_id);
  const { loaded, now_ms } = await find({
    keys: [boardKey, threads, ...claimIds.map(boardClaimKey)],
    ranges: [made, ...claimIds.map(artefactsFor), ...asked],
  });
  const stories = versions.map((version) => versionStory(version, loaded));
  const ids = new Set(versions.map(({ id }) => id));
  const decisions = reworkApprovals(asked, loaded).filter(({ state }) =>
    ids.has(String(state.context.artefact_id)),
  );
  const board = boardOf(loaded.get<BoardState>(boardKey));
  const { reworks, granted } = threadOf(loaded.get<ThreadState>(threads), artefact.state.logical_id);
  return {
    artefact: describeArtefact(artefact),
    versions: stories.map(({ artefact: version, claims }) => ({
      ...outlineArtefact(version),
      claims: claims.map(({ claim }) => describeBoardClaim(claim, board, now_ms)),
    })),
    versions_left_out: all.length - versions.length,
    reworks,
    rounds_granted: granted,
    sources: await sourcesOf(artefact, find),
    history: historyOf(stories, decisions),
    made_from_it: loaded
      .list<ArtefactState>(made)
      .filter(({ id }) => !ids.has(id))
      .map(outlineArtefact),
  };
}

function versionStory(artefact: ArtefactRecord, loaded: Loaded): VersionStory {
  const own = claimIdOf(artefact.id);
  const claims = [own, reworkIdOf(own)].flatMap((id) => {
    const claim = loaded.get<BoardClaimState>(boardClaimKey(id));
    return claim === undefined ? [] : [{ claim, made: loaded.list<ArtefactState>(artefactsFor(id)) }];
  });
  return { artefact, claims };
}

/** Up the chain, the nearest first, each once. */
async function sourcesOf(
  artefact: ArtefactRecord,
  find: (needs: { keys: { kind: string; id: string }[] }) => Promise<{ loaded: Loaded }>,
): Promise<JsonObject[]> {
  const seen = new Set([artefact.id]);
  const sources: JsonObject[] = [];
  let level = artefact.state.source_artefacts.filter((id) => !seen.has(id));
  for (let depth = 1; depth <= limits.context_depth && level.length > 0; depth += 1) {
    const found = await artefactsById(level, find as Parameters<typeof artefactsById>[1]);
    for (const source of found) {
      if (seen.has(source.id) || sources.length >= limits.context_artefacts_max) continue;
      seen.add(source.id);
      sources.push({ depth, ...outlineArtefact(source) });
    }
    level = found.flatMap(({ state }) => state.source_artefacts).filter((id) => !seen.has(id));
  }
  return sources;
}
