import type { ClaimCommand } from '../../../src/features/claims/acting.ts';
import { type ClaimRules, DEFAULT_RULES } from '../../../src/features/claims/claim-rules.ts';
import { claimEvent } from '../../../src/features/claims/edge-claim.ts';
import type { EventBody } from '../../../src/ledger/entity.ts';

export const ABOUT = { feature: 'REQ-F-1', edge: 'design_code' };

/** A fleet with roles: what `agent_roles.yml` would say. */
export const RULES: ClaimRules = {
  ...DEFAULT_RULES,
  file: 'agent_roles.yml',
  roles: {
    architect: { converge_edges: ['requirements_design', 'design_code'] },
    tdd_engineer: { converge_edges: ['code_unit_tests'] },
    full_stack: { converge_edges: ['all'] },
  },
  edges: { uat: { human_required: true }, code_unit_tests: { evaluators: ['unit', 'lint'] } },
};

export const agent = (agent_id: string, token?: number) => ({
  agent_id,
  agent_type: 'test',
  session_id: `${agent_id}-1`,
  token,
});

/** A command of this agent, in this role. */
export function by(agent_id: string, agent_role?: string, more: Partial<ClaimCommand> = {}): ClaimCommand {
  return { ...ABOUT, caller: agent(agent_id), agent_role, rules: RULES, ...more };
}

/** The same with the grant that it means. */
export function under(token: number, command: ClaimCommand): ClaimCommand {
  return { ...command, caller: { ...command.caller, token } };
}

/** An event of the claim, with as much of it as a spec is about. */
export const told = (type: string, data: EventBody['data'] = {}) => claimEvent(ABOUT, type, data);
