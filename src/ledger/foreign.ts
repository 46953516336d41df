import type { JsonObject } from '../kernel/json.ts';
import type { Command, Decision } from './decision.ts';
import type { EntityKey, EventBody } from './entity.ts';
import type { Actor } from './log.ts';

/** The type of an agent that writes its own lines or files. */
export const FOREIGN_TYPE = 'foreign';

/** Such an agent has no session of ours. */
export function foreignActor(agent_id: string): Actor {
  return { agent_id, agent_type: FOREIGN_TYPE, session_id: agent_id };
}

/** What one line of another implementation says, whatever its shape. None of it is proven. */
export interface ForeignRecord {
  /** In snake case, as the flat shape has it. */
  readonly event_type: string;
  readonly at_ms: number;
  readonly project?: string | undefined;
  /** `primary` if the line did not say, as in all readers of these logs. */
  readonly agent_id: string;
  /** Whether the line itself named the agent. */
  readonly agent_named: boolean;
  readonly agent_role?: string | undefined;
  readonly instance_id?: string | undefined;
  readonly feature?: string | undefined;
  readonly edge?: string | undefined;
  /** Everything else the line says, in one place. */
  readonly data: JsonObject;
}

/** What an agent asks for in a file of its inbox. The process that writes the log decides it. */
export interface AgentProposal {
  readonly event_type: string;
  readonly agent_id: string;
  readonly agent_role?: string | undefined;
  readonly feature: string;
  readonly edge: string;
  readonly reason?: string | undefined;
  readonly iteration?: number | undefined;
  readonly evaluators?: string | readonly { readonly name: string; readonly passed: boolean }[] | undefined;
  readonly convergence_type?: string | undefined;
  readonly fencing_token?: number | undefined;
  readonly note?: string | undefined;
  /** The agent's name was made up at the entry point, because the caller gave none. */
  readonly unnamed?: boolean | undefined;
}

/** What a store has to know of the domain, to read what other programs write into its log. */
export interface ForeignLines {
  /** The entity that a foreign line is about, if it is one of ours. */
  about(record: ForeignRecord): EntityKey | undefined;
  /** What it says about that entity in its previous state; undefined: nothing that changes it. */
  eventOf(record: ForeignRecord, state: JsonObject | undefined): EventBody | undefined;
}

/** What a store has to know of the domain, to decide proposals. */
export interface ForeignProposals {
  /** The proposal for a decision that can also be left in the inbox; undefined: this one can't. */
  proposalOf(command: Command): AgentProposal | undefined;
  /** Decides proposals by the current rules. Throws when the rules contain mistakes. */
  decisions(): Promise<DecideProposal>;
}

/** The session in which a proposal claims to have been made. It counts only if the records know it too. */
export type SaidSession = Pick<Actor, 'agent_type' | 'session_id'>;

export type StateOf = (key: EntityKey) => JsonObject | undefined;

export type DecideProposal = (
  proposal: AgentProposal,
  session: SaidSession | undefined,
  stateOf: StateOf,
) => ProposedDecision;

export interface ProposedDecision {
  /** The agent that proposed it. */
  readonly actor: Actor;
  readonly operation: string;
  readonly decision: Decision<JsonObject>;
}
