import type { ClaimCommand } from './domain/claims/acting.ts';
import { claimEdge, convergeEdge, heartbeatClaim, releaseEdge } from './domain/commands.ts';
import type { JsonObject } from './kernel/json.ts';
import { StoreFailure } from './kernel/refusal.ts';
import type { Command, Decision } from './ledger/decision.ts';
import type { AgentProposal, ForeignProposals } from './ledger/foreign.ts';
import type { Fleet } from './operation.ts';

/** What is proposed, the operation that it stands for, and the decision behind that. */
interface Word {
  readonly event_type: string;
  readonly command: string;
  decide(asked: ClaimCommand, proposal: AgentProposal): Decision<JsonObject>;
}

const WORDS: readonly Word[] = [
  { event_type: 'edge_claim', command: 'claim_edge', decide: (asked) => claimEdge(asked) },
  {
    event_type: 'edge_heartbeat',
    command: 'heartbeat_claim',
    decide: (asked, { iteration }) => heartbeatClaim({ ...asked, iteration }),
  },
  {
    event_type: 'edge_released',
    command: 'release_edge',
    decide: (asked, { reason }) => releaseEdge({ ...asked, reason }),
  },
  {
    event_type: 'edge_converged',
    command: 'converge_edge',
    decide: (asked, { iteration, evaluators, convergence_type }) =>
      convergeEdge({ ...asked, iteration, evaluators, convergence_type }),
  },
];

/** How claims are proposed in an inbox, and how what is proposed there is decided. */
export function claimProposals(fleet: Fleet): ForeignProposals {
  return {
    proposalOf(command) {
      const { name, args } = innermost(command);
      const word = WORDS.find((each) => each.command === name);
      return word && proposalFrom(word, args[0] as ClaimCommand & Partial<AgentProposal>);
    },
    async decisions() {
      const rules = await fleet.rules();
      if ('success' in rules) throw new StoreFailure('roles_invalid', rules.message, { details: rules });
      return (proposal) => {
        const { agent_id, agent_role, feature, edge, fencing_token: token } = proposal;
        const word = WORDS.find(({ event_type }) => event_type === proposal.event_type);
        if (word === undefined) throw new Error(`${proposal.event_type} is no proposal`);
        const caller = { agent_id, agent_type: 'foreign', session_id: agent_id, token };
        const decision = word.decide({ caller, agent_role, feature, edge, rules }, proposal);
        return { operation: word.command, decision };
      };
    },
  };
}

/** Without what its caller's profile says about it. */
function innermost(command: Command): Command {
  return command.name === 'governed' ? innermost(command.args[1] as Command) : command;
}

function proposalFrom({ event_type }: Word, asked: ClaimCommand & Partial<AgentProposal>): AgentProposal {
  const { caller, agent_role, feature, edge, reason, iteration, evaluators, convergence_type } = asked;
  const { agent_id, token: fencing_token } = caller;
  const said = { reason, iteration, evaluators, convergence_type, fencing_token };
  return { event_type, agent_id, agent_role, feature, edge, ...said };
}
