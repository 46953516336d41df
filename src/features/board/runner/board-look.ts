import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { type ArtefactState, artefactKey, describeArtefact } from '../artefact.ts';
import {
  type BoardClaimRecord,
  type BoardClaimState,
  type BoardGrant,
  claimsAwaiting,
  claimsGranted,
  grantTo,
  openClaims,
  outstanding,
} from '../board-claim.ts';
import { runIdOf } from '../take-grant.ts';

/** A part that one of our agents has to deliver. */
export interface OpenGrant {
  readonly agent_id: string;
  readonly claim: BoardClaimRecord;
  readonly grant: BoardGrant;
}

export interface BoardSeen {
  readonly now_ms: number;
  readonly grants: readonly OpenGrant[];
  /** Whether these are all grants; there may be more than one read returns. */
  readonly complete: boolean;
  readonly bids: readonly { readonly agent_id: string; readonly claim: BoardClaimRecord }[];
}

/**
 * What the board wants from these agents now, in one read. What does not fit comes in a later read, when some
 * of it is done.
 */
export async function lookFor(
  { store, project }: Coxswain,
  runnable: readonly string[],
  asked: readonly string[],
): Promise<BoardSeen> {
  const most = limits.board_claims_listed_max;
  const granted = runnable.map((agent_id) => ({ agent_id, range: claimsGranted(agent_id, most) }));
  const awaiting = asked.map((agent_id) => ({ agent_id, range: claimsAwaiting(agent_id, most) }));
  const ranges = [...granted, ...awaiting].map(({ range }) => range);
  const { loaded, now_ms } = await store.find(project, { ranges });
  return {
    now_ms,
    complete: granted.every(({ range }) => loaded.list(range).length < most),
    grants: granted.flatMap(({ agent_id, range }) =>
      loaded.list<BoardClaimState>(range).flatMap((claim) => {
        const grant = grantTo(claim.state, agent_id);
        return grant === undefined ? [] : [{ agent_id, claim, grant }];
      }),
    ),
    bids: awaiting.flatMap(({ agent_id, range }) =>
      loaded.list<BoardClaimState>(range).map((claim) => ({ agent_id, claim })),
    ),
  };
}

export async function artefactOf(
  { store, project }: Coxswain,
  artefact_id: string,
): Promise<JsonObject | undefined> {
  const key = artefactKey(artefact_id);
  const { loaded } = await store.find(project, { keys: [key] });
  const record = loaded.get<ArtefactState>(key);
  return record === undefined ? undefined : describeArtefact(record);
}

/** The runs that any process may be working on. If there are more claims than can be read, every run counts. */
export async function wantedRuns({ store, project }: Coxswain): Promise<(run_id: string) => boolean> {
  const range = openClaims(limits.range_rows_max);
  const { loaded } = await store.find(project, { ranges: [range] });
  const claims = loaded.list<BoardClaimState>(range);
  if (claims.length >= range.limit) return () => true;
  const wanted = new Set(
    claims.flatMap(({ id, state }) =>
      outstanding(state).map((agent_id) => runIdOf(id, agent_id, grantTo(state, agent_id)?.attempt ?? 1)),
    ),
  );
  return (run_id) => wanted.has(run_id);
}
