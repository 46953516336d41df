import type { Bid } from '../board-settings.ts';
import type { AgentConfig, BoardConfig } from '../files/agent-config.ts';
import type { ConfigureInput } from '../operations/board-operations.ts';

/** The configuration in the form that the board takes. */
export function boardInput({ settings, agents }: BoardConfig): ConfigureInput {
  const { timeouts_ms, max_review_iterations, on_failure, max_attempts, allow_duplicate_roles } = settings;
  return {
    bid_deadline_seconds: settings.bid_deadline_ms / 1000,
    review_seconds: timeouts_ms.review / 1000,
    parallel_seconds: timeouts_ms.parallel / 1000,
    exclusive_seconds: timeouts_ms.exclusive / 1000,
    max_review_iterations,
    on_failure,
    max_attempts,
    stuck_minutes: settings.stuck_ms / 60_000,
    allow_duplicate_roles,
    agents: agents.map((agent) => ({
      agent_id: agent.agent_id,
      role: agent.role,
      ...standing(agent),
      timeout_seconds: agent.timeout_ms === undefined ? undefined : agent.timeout_ms / 1000,
      files: agent.files === undefined ? undefined : [...agent.files],
      on_failure: agent.on_failure,
      max_attempts: agent.max_attempts,
    })),
  };
}

/**
 * An agent with a script is asked each time. An agent that we run and that has neither script nor bid would
 * never answer.
 */
function standing({ standing_bid, bid_script, program }: AgentConfig): {
  bidding?: Bid | undefined;
  target_types?: string[] | undefined;
} {
  if (bid_script !== undefined) return {};
  if (standing_bid === undefined) return program === undefined ? {} : { bidding: 'ignore' };
  const { bid, target_types } = standing_bid;
  return { bidding: bid, target_types: target_types === undefined ? undefined : [...target_types] };
}
