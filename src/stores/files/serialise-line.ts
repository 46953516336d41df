import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { answerOf, type Command, type Decision, type Outcome } from '../../ledger/decision.ts';
import type { EntityKey } from '../../ledger/entity.ts';
import type { DecideProposal } from '../../ledger/foreign.ts';
import type { Request } from '../../ledger/log.ts';
import type { Decided, Serialised } from '../../ledger/serialiser.ts';
import type { StoreContext } from '../../ledger/store-port.ts';
import { decideInside } from '../sqlite/deciding.ts';
import type { Writer } from '../sqlite/writer.ts';
import type { Layout } from './folder-layout.ts';
import { INBOX, listProposals, remove, type Staged, type Staging, stage } from './inbox.ts';
import { leftCall } from './left-call.ts';
import { setAside } from './set-aside.ts';

/** Recorded so that a decided proposal is not decided again if its file is still there. */
const PROPOSED = 'proposal';

interface Asked {
  readonly request: Request;
  readonly decision: Decision<JsonObject>;
}

/** The proposal that can't be decided at all. */
interface Poison {
  staged?: Staged;
  reason?: string;
}

/** Decides the proposals in the inbox, in order, in one commit of the log's one writer. */
export class Inbox {
  readonly #layout: Layout;
  readonly #writer: Writer;
  readonly #context: StoreContext;
  readonly #home: string;

  constructor(layout: Layout, writer: Writer, context: StoreContext, home: string) {
    this.#layout = layout;
    this.#writer = writer;
    this.#context = context;
    this.#home = home;
  }

  async serialise(): Promise<Serialised> {
    const { proposals, clock } = this.#context;
    const found = listProposals(this.#layout.events, clock);
    const set_aside = [...found.set_aside];
    if (found.staged.length === 0) return { taken: 0, decided: [], set_aside };
    const decide = await proposals?.decisions();
    for (let left = found.staged; ; ) {
      const poison: Poison = {};
      try {
        const decided = await this.#decideAll(left, decide, poison);
        for (const each of left) remove(each);
        return { taken: left.length, decided, set_aside };
      } catch (error) {
        const { staged, reason } = poison;
        if (staged === undefined) throw error;
        // The other proposals do not wait for it.
        const moved = this.#moveAside(staged, `it could not be decided: ${reason}`);
        if (moved !== undefined) set_aside.push(moved);
        left = left.filter((each) => each !== staged);
      }
    }
  }

  /** Leaves a call that can't be decided now for the next writer. Returns the id of the proposal. */
  leave(request: Request, command: Command): string | undefined {
    const proposal = this.#context.proposals?.proposalOf(command);
    if (proposal === undefined) return undefined;
    const staging = { ...proposal, cox: leftCall(request) } as unknown as Staging;
    const path = stage(this.#layout.events, staging, this.#context.clock);
    return path.slice(this.#layout.inbox.length + 1);
  }

  #decideAll(
    staged: readonly Staged[],
    decide: DecideProposal | undefined,
    poison: Poison,
  ): Promise<Decided[]> {
    const decideEach = () =>
      staged.map((each) => {
        try {
          return this.#decideOne(each, decide);
        } catch (error) {
          poison.staged = each;
          poison.reason = error instanceof Error ? error.message : String(error);
          throw error;
        }
      });
    return this.#writer.inTransaction(decideEach, true);
  }

  #decideOne(staged: Staged, decide: DecideProposal | undefined): Decided {
    const { proposal_id, agent_id, proposal } = staged;
    const { request, decision } = this.#asked(staged, decide);
    const outcome = decideInside(this.#writer, this.#context, request, decision);
    const answer = answerOf(outcome);
    const { event_type, feature, edge } = proposal;
    return { proposal: proposal_id, agent_id, event_type, feature, edge, outcome: answer };
  }

  /**
   * Decided by the rules as they are here and now, whichever program wrote it: no file brings its own
   * decision along.
   */
  #asked({ proposal, proposal_id, modified_ns }: Staged, decide: DecideProposal | undefined): Asked {
    if (decide === undefined) throw new Error('nobody here knows how to decide it');
    const { event_type: _, left, ...parameters } = proposal;
    const project = left?.project ?? this.#home;
    const stateOf = (key: EntityKey) => this.#writer.records.get(project, key)?.state;
    const { actor, operation, decision } = decide(proposal, left, stateOf);
    const request: Request = {
      project,
      actor,
      sequence: left?.sequence ?? proposal.sequence ?? 0,
      operation,
      parameters: { ...(parameters as JsonObject), proposal: proposal_id },
      // Some agents write all their proposals under one name.
      operation_id: left?.operation_id || `${proposal_id}@${modified_ns}`,
      input_digest: left?.input_digest || PROPOSED,
      started_ms: this.#context.clock.elapsed_ms(),
    };
    return { request, decision };
  }

  #moveAside({ proposal_id }: Staged, reason: string) {
    const slash = proposal_id.indexOf('/');
    const from = { inbox: INBOX, folder: proposal_id.slice(0, slash), name: proposal_id.slice(slash + 1) };
    return setAside(this.#layout.events, from, reason);
  }
}

/** It is in the inbox, and the next holder of the writer's seat decides it. */
export function pendingOutcome(proposal_id: string): Outcome<never> {
  const message = `Nobody can write the log now; your proposal waits in the inbox as ${proposal_id}.`;
  return { status: 'refused', refusal: refuse('pending', message, { proposal_id }) };
}
