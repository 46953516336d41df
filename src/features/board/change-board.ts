import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { type BoardState, boardEntity, boardEvent, boardKey, boardOf, memberOf } from './board.ts';
import type { Bidder, BoardSettings } from './board-settings.ts';

/**
 * Applies a configuration file: its agents join the roster; agents of an earlier file that it does not name
 * leave it.
 */
export function configureBoard(settings: BoardSettings, agents: readonly Bidder[]): Decision<JsonObject> {
  return changing(
    () => [boardEvent('board_configured', { settings, agents } as unknown as JsonObject)],
    ({ generation, members }) => ({
      success: true,
      generation,
      agents: members.map(({ agent_id }) => agent_id),
    }),
  );
}

export function joinBoard(bidder: Bidder): Decision<JsonObject> {
  return changing(
    // The first to join brings the settings, so that the log says which they were.
    ({ generation, settings }) => [
      ...(generation === 0
        ? [boardEvent('board_configured', { settings, agents: [] } as unknown as JsonObject)]
        : []),
      boardEvent('bidder_joined', { ...bidder } as unknown as JsonObject),
    ],
    ({ generation }) => ({ success: true, agent_id: bidder.agent_id, role: bidder.role, generation }),
  );
}

export function leaveBoard(agent_id: string): Decision<JsonObject> {
  return changing(
    (board) =>
      memberOf(board, agent_id) === undefined
        ? refuse('not_a_bidder', `${agent_id} is not on the board's roster.`, { agent_id })
        : [boardEvent('bidder_left', { agent_id })],
    ({ generation }) => ({ success: true, agent_id, left: true, generation }),
  );
}

function changing(
  change: (board: BoardState) => EventBody[] | Refusal,
  answer: (board: BoardState) => JsonObject,
): Decision<JsonObject> {
  return {
    needs: { keys: [boardKey] },
    decide(loaded, now_ms) {
      const record = loaded.get<BoardState>(boardKey);
      const events = change(boardOf(record));
      if (!Array.isArray(events)) return refused(events);
      const evolve = (state: BoardState | undefined, event: EventBody): BoardState | undefined =>
        boardEntity.evolve(state, event, now_ms);
      const after = events.reduce(evolve, record?.state) ?? boardOf(record);
      const hasLeft = events.some(({ type }) => type === 'bidder_left');
      const problem = hasLeft ? undefined : rosterProblem(after);
      return problem === undefined ? commit(events, answer(after)) : refused(problem);
    },
  };
}

function rosterProblem({ members, settings }: BoardState): Refusal | undefined {
  const most = limits.board_agents_max;
  if (members.length > most)
    return refuse('invalid_input', `agents: expected at most ${most} on the board`, { field: 'agents' });
  if (settings.allow_duplicate_roles) return undefined;
  const first = new Map<string, string>();
  for (const { agent_id, role } of members) {
    const other = first.get(role);
    if (other !== undefined) return duplicateRole(role, other, agent_id);
    first.set(role, agent_id);
  }
  return undefined;
}

/** This wording is a contract: people search for it. */
function duplicateRoleMessage(role: string, one: string, other: string): string {
  return `duplicate agent role '${role}' found (agents '${one}' and '${other}'): all agents must have unique roles in Phase 3`;
}

function duplicateRole(role: string, one: string, other: string): Refusal {
  return refuse('duplicate_role', duplicateRoleMessage(role, one, other), {
    field: 'role',
    role,
    agents: [one, other],
  });
}
