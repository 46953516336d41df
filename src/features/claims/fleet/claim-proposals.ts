import type { JsonObject } from '../../../kernel/json.ts';
import { StoreFailure } from '../../../kernel/refusal.ts';
import type { Command, Decision } from '../../../ledger/decision.ts';
import {
  type AgentProposal,
  type ForeignProposals,
  foreignActor,
  type SaidSession,
  type StateOf,
} from '../../../ledger/foreign.ts';
import type { Actor } from '../../../ledger/log.ts';
import type { Demand } from '../../../runtime/access.ts';
import { isHere, type SessionState, sessionKey } from '../../sessions/index.ts';
import { governedBy } from '../../trust/enforcement/index.ts';
import { nativeEngine } from '../../trust/index.ts';
import { localTrust, type RulesOptions } from '../../trust/rules/index.ts';
import type { ClaimCommand } from '../acting.ts';
import { claimEdge, convergeEdge, heartbeatClaim, releaseEdge } from '../commands.ts';
import type { Fleet } from './fleet.ts';

/** The proposal's name, the operation it stands for, and the decision behind that. */
interface Word {
  readonly event_type: string;
  readonly command: string;
  /** Releases or ends a claim: possible even after its agent's time is up. */
  readonly winds_down?: true;
  decide(asked: ClaimCommand, proposal: AgentProposal): Decision<JsonObject>;
}

const WORDS: readonly Word[] = [
  { event_type: 'edge_claim', command: 'claim_edge', decide: (asked) => claimEdge(asked) },
  {
    event_type: 'edge_heartbeat',
    command: 'heartbeat_claim',
    decide: (asked, { iteration, note }) => heartbeatClaim({ ...asked, iteration, note }),
  },
  {
    event_type: 'edge_released',
    command: 'release_edge',
    winds_down: true,
    decide: (asked, { reason }) => releaseEdge({ ...asked, reason }),
  },
  {
    event_type: 'edge_converged',
    command: 'converge_edge',
    winds_down: true,
    decide: (asked, { iteration, evaluators, convergence_type }) =>
      convergeEdge({ ...asked, iteration, evaluators, convergence_type }),
  },
];

/**
 * How claims are proposed in an inbox, and how a proposal is decided: like a call by that agent, its profile
 * included.
 */
export function claimProposals(fleet: Fleet, ruling: RulesOptions): ForeignProposals {
  const { engine = nativeEngine } = ruling;
  const default_trust = localTrust(ruling.default_trust);
  return {
    proposalOf(command) {
      const { name, args } = innermost(command);
      const word = WORDS.find((each) => each.command === name);
      return word && proposalFrom(word, args[0] as ClaimCommand & Partial<AgentProposal>);
    },
    async decisions() {
      const rules = await fleet.rules();
      if ('success' in rules) throw new StoreFailure('roles_invalid', rules.message, { details: rules });
      return (proposal, session, stateOf) => {
        const { agent_id, unnamed, agent_role, feature, edge, fencing_token: token } = proposal;
        const word = WORDS.find(({ event_type }) => event_type === proposal.event_type);
        if (word === undefined) throw new Error(`${proposal.event_type} is no proposal`);
        const { command: operation, winds_down } = word;
        const known = knownSession(agent_id, session, stateOf);
        const actor = known ?? foreignActor(agent_id);
        const asked = { caller: { ...actor, token }, unnamed, agent_role, feature, edge, rules };
        const demand: Demand = {
          ...{ actor, operation, group: 'claim', default_trust, winds_down },
          sessionless: known === undefined ? true : undefined,
        };
        return { actor, operation, decision: governedBy(word.decide(asked, proposal), demand, engine) };
      };
    },
  };
}

/**
 * The writer of a file could name any session and any agent type, and so get another profile and unlimited
 * time. So only an existing session identifies the caller.
 */
function knownSession(
  agent_id: string,
  session: SaidSession | undefined,
  stateOf: StateOf,
): Actor | undefined {
  if (session === undefined) return undefined;
  const { agent_type, session_id } = session;
  const actor = { agent_id, agent_type, session_id };
  return isHere(stateOf(sessionKey(actor)) as SessionState | undefined, actor) ? actor : undefined;
}

/** The command without the wrapper of its caller's profile. */
function innermost(command: Command): Command {
  return command.name === 'governed' ? innermost(command.args[1] as Command) : command;
}

function proposalFrom({ event_type }: Word, asked: ClaimCommand & Partial<AgentProposal>): AgentProposal {
  const { caller, unnamed, agent_role, feature, edge } = asked;
  const { reason, iteration, evaluators, convergence_type, note } = asked;
  const { agent_id, token: fencing_token } = caller;
  const said = { reason, iteration, evaluators, convergence_type, note, unnamed, fencing_token };
  return { event_type, agent_id, agent_role, feature, edge, ...said };
}
