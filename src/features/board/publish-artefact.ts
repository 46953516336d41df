import { uuidFromKey } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import {
  type ArtefactState,
  artefactEntity,
  artefactEvent,
  artefactKey,
  opensClaim,
  type StructuralType,
} from './artefact.ts';
import { type BoardState, boardKey, boardOf, memberOf } from './board.ts';
import { type ClaimDraft, openClaim } from './board-phases.ts';
import { advanced, type ThreadState, threadKey, threadOf } from './thread.ts';

export interface NewArtefact {
  readonly id: string;
  readonly structural_type: StructuralType;
  readonly type: string;
  readonly payload: string;
  readonly summary?: string | undefined;
}

/** The events for a new artefact on the board, and the claim that opens with it. */
export function publication(
  id: string,
  artefact: Omit<ArtefactState, 'created_at_ms'>,
  board: BoardState,
  now_ms: number,
): { readonly events: EventBody[]; readonly claim: ClaimDraft | undefined } {
  const { logical_id, version } = artefact;
  const published = artefactEvent(id, artefact);
  const state = artefactEntity.evolve(undefined, published, now_ms);
  const claim = opensClaim(state) ? openClaim({ id, state }, board, now_ms) : undefined;
  const thread = version > 1 && artefact.late !== true ? [advanced(logical_id, id, version)] : [];
  return { events: [published, ...thread, ...(claim?.events ?? [])], claim };
}

/** A failure that no agent can report: the board itself does, once for each failure. */
export function failureOf(
  about: {
    readonly type: string;
    readonly payload: JsonObject;
    readonly summary: string;
    readonly key: string;
  },
  source_artefacts: readonly string[],
  claim_id: string,
): { readonly id: string; readonly event: EventBody } {
  const { type, payload, summary, key } = about;
  const id = uuidFromKey(`board failure\0${key}`);
  const event = artefactEvent(id, {
    logical_id: id,
    version: 1,
    structural_type: 'Failure',
    type,
    payload: JSON.stringify(payload),
    summary,
    source_artefacts,
    produced_by_role: 'orchestrator',
    produced_by_agent: 'coxswain',
    claim_id,
  });
  return { id, event };
}

export interface PublishArtefact {
  readonly artefact: NewArtefact;
  readonly source_artefacts: readonly string[];
  /** The thing that this is a new version of. */
  readonly logical_id?: string | undefined;
  readonly agent_id: string;
  /** The role to use if the author is not on the roster. */
  readonly role: string;
}

export function publishArtefact(command: PublishArtefact): Decision<JsonObject> {
  const { artefact, source_artefacts, logical_id, agent_id } = command;
  const { id, ...contents } = artefact;
  const named = logical_id === undefined ? source_artefacts : [...source_artefacts, logical_id];
  const keys = [boardKey, ...[...new Set(named)].map(artefactKey)];
  if (logical_id !== undefined) keys.push(threadKey(logical_id));
  return {
    needs: { keys },
    decide(loaded, now_ms) {
      const problem = unknownAmong(loaded, named);
      if (problem !== undefined) return refused(problem);
      const board = boardOf(loaded.get(boardKey));
      const version = logical_id === undefined ? 1 : versionIn(loaded, logical_id) + 1;
      const { events, claim } = publication(
        id,
        {
          logical_id: logical_id ?? id,
          version,
          ...contents,
          source_artefacts,
          produced_by_role: memberOf(board, agent_id)?.role ?? command.role,
          produced_by_agent: agent_id,
        },
        board,
        now_ms,
      );
      return commit(events, {
        success: true,
        artefact_id: id,
        logical_id: logical_id ?? id,
        version,
        ...openedAnswer(claim),
      });
    },
  };
}

export function openedAnswer(claim: ClaimDraft | undefined): JsonObject {
  if (claim === undefined) return { claim_id: null };
  const { status, awaited, phase } = claim.state;
  return { claim_id: claim.id, claim_status: status, phase: phase ?? null, awaiting_bids: [...awaited] };
}

function versionIn(loaded: Loaded, logical_id: string): number {
  return threadOf(loaded.get<ThreadState>(threadKey(logical_id)), logical_id).version;
}

function unknownAmong(loaded: Loaded, ids: readonly string[]): Refusal | undefined {
  const missing = ids.find((id) => loaded.get(artefactKey(id)) === undefined);
  return missing === undefined ? undefined : unknownArtefact(missing);
}

export function unknownArtefact(artefact_id: string): Refusal {
  return refuse('unknown_artefact', `There is no artefact ${artefact_id}.`, { artefact_id });
}
