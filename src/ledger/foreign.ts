import type { JsonObject } from '../kernel/json.ts';
import type { Command, Decision } from './decision.ts';
import type { EntityKey, EventBody } from './entity.ts';
import type { Actor } from './log.ts';

/** Of who writes lines or files of its own. */
export const FOREIGN_TYPE = 'foreign';

/** It is in no session of ours. */
export function foreignActor(agent_id: string): Actor {
  return { agent_id, agent_type: FOREIGN_TYPE, session_id: agent_id };
}

/** What one line of another implementation says, whatever shape it has. Nothing of it is proven: it is only what it says. */
export interface ForeignRecord {
  /** In snake case, as the flat shape has it. */
  readonly event_type: string;
  readonly at_ms: number;
  readonly project?: string | undefined;
  /** `primary` for who did not say, as all readers of these logs have it. */
  readonly agent_id: string;
  /** Whether the line said so itself. */
  readonly agent_named: boolean;
  readonly agent_role?: string | undefined;
  readonly instance_id?: string | undefined;
  readonly feature?: string | undefined;
  readonly edge?: string | undefined;
  /** All that was told besides, in one place. */
  readonly data: JsonObject;
}

/** What an agent asks for in a file of its inbox, for whoever writes the log to decide. */
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
  /** Its agent's name was made up by the door it came through. */
  readonly unnamed?: boolean | undefined;
}

/** What a store has to know of the domain, for what other programs write into its log. */
export interface ForeignLines {
  /** The entity that a foreign line is about, if it is one of ours. */
  about(record: ForeignRecord): EntityKey | undefined;
  /** What it says about that entity as it was before; undefined: nothing that changes it. */
  eventOf(record: ForeignRecord, state: JsonObject | undefined): EventBody | undefined;
}

/** And for what is proposed to it. */
export interface ForeignProposals {
  /** A decision that can also be left in the inbox, in the words of a proposal; undefined: it can't. */
  proposalOf(command: Command): AgentProposal | undefined;
  /** How they are decided now, by the rules as they are. Throws when the rules have mistakes in them. */
  decisions(): Promise<DecideProposal>;
}

/** The session in which a proposal says that it was asked. It counts only where the records know it, too. */
export type SaidSession = Pick<Actor, 'agent_type' | 'session_id'>;

export type StateOf = (key: EntityKey) => JsonObject | undefined;

export type DecideProposal = (
  proposal: AgentProposal,
  session: SaidSession | undefined,
  stateOf: StateOf,
) => ProposedDecision;

export interface ProposedDecision {
  /** For whom. */
  readonly actor: Actor;
  readonly operation: string;
  readonly decision: Decision<JsonObject>;
}
