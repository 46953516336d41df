import { areaName } from '../../../kernel/area.ts';
import { limits } from '../../../kernel/limits.ts';
import { nameProblem, reservedProblem } from '../../../kernel/names.ts';
import { present } from '../../../kernel/present.ts';
import type { AreaOf } from '../../teams/index.ts';
import type { Bidder } from '../board-settings.ts';
import type { AgentConfig } from './agent-config.ts';
import { type ProgramContext, programOf } from './agent-program.ts';
import type { AgentFields } from './board-schema.ts';

export interface AgentContext extends ProgramContext {
  readonly areaOf: AreaOf;
}

export function agentOf(agent_id: string, agent: AgentFields, context: AgentContext): AgentConfig {
  const path = ['agents', agent_id];
  const { findings } = context;
  const misnamed = nameProblem(agent_id) ?? reservedProblem('agent_id', agent_id);
  if (misnamed !== undefined) findings.complain(path, `not a name for an agent: expected ${misnamed}`);
  if (agent.role === undefined && misnamed === undefined && agent_id.length > limits.agent_role_chars_max)
    findings.complain(path, `a name of more than ${limits.agent_role_chars_max} characters needs a role`);
  const program = programOf(agent, path, context);
  checkParts(agent, program !== undefined, path, context);
  const { bid_script } = agent;
  return {
    ...bidderOf(agent_id, agent, context),
    ...present({ bid_script, program }),
    ...crowdOf(agent, program),
  };
}

function bidderOf(agent_id: string, agent: AgentFields, { areaOf, findings }: AgentContext): Bidder {
  const { role = agent_id, bidding_strategy, timeout, on_failure, max_attempts } = agent;
  const files = agent.files?.flatMap((file, index) => {
    const area = areaOf(file);
    if (typeof area !== 'string') return [areaName(area)];
    findings.complain(['agents', agent_id, 'files', index], area);
    return [];
  });
  return {
    agent_id,
    role,
    ...present({
      standing_bid: standingBidOf(bidding_strategy),
      timeout_ms: timeout,
      on_failure,
      max_attempts,
      files,
    }),
  };
}

/** An empty list means all types, in Holt as well. */
function standingBidOf(given: AgentFields['bidding_strategy']): Bidder['standing_bid'] {
  if (given === undefined) return undefined;
  const { type: bid, target_types = [] } = given;
  return target_types.length === 0 ? { bid } : { bid, target_types };
}

function crowdOf(
  { mode, worker, replicas = 1, max_concurrent }: AgentFields,
  program: AgentConfig['program'],
): Pick<AgentConfig, 'max_concurrent' | 'workers'> {
  const own = max_concurrent ?? replicas;
  const isController = mode === 'controller';
  return {
    max_concurrent: isController ? worker?.max_concurrent || own : own,
    workers: program !== undefined && (isController || replicas > 1),
  };
}

/** Problems between fields: combinations that are not allowed, and fields that have no effect. */
function checkParts(
  { mode, worker, replicas = 1, bidding_strategy, bid_script }: AgentFields,
  hasProgram: boolean,
  path: readonly PropertyKey[],
  { findings }: AgentContext,
): void {
  if (mode === 'controller' && worker === undefined && !findings.isBroken([...path, 'worker']))
    findings.complain(path, 'a controller needs a worker');
  if (mode === undefined && worker !== undefined)
    findings.warn([...path, 'worker'], 'not used without mode: controller');
  if (!hasProgram && replicas > 1)
    findings.warn([...path, 'replicas'], 'not used: there is no command and no image to run');
  if (hasProgram && bidding_strategy === undefined && bid_script === undefined)
    findings.warn(
      path,
      'never bids: it has neither a bidding_strategy nor a bid_script, so every claim waits for it',
    );
}
