import type { JsonObject } from '../../../src/kernel/json.ts';
import { type Seeded, spread } from '../random.ts';
import { type Asked, Somebody } from '../somebody.ts';
import type { World } from '../world.ts';

const BIDS = spread({ review: 4, claim: 4, exclusive: 4, ignore: 3, 'no bid at all': 1 });
const REVIEWS = spread({ '{}': 3, '[]': 2, '{"fix":"it"}': 3, 'not yet': 3 });
/** Who is hardly ever content sends work back until a person has to decide. */
const PICKY_REVIEWS = spread({ '{}': 1, 'not yet': 8 });

const WISHES = spread({
  my_grants: 12,
  place_bid: 20,
  take_grant: 14,
  deliver_artefact: 40,
  return_grant: 3,
  publish_artefact: 4,
  board_status: 4,
  join_board: 3,
  leave_board: 2,
  terminate_claim: 1,
});

interface Known {
  readonly claim_id: string;
  readonly attempt: number;
  readonly run_id: string;
}

/** A participant, or an orchestrator's run of it: it remembers what it was granted, also what is no longer true. */
export class BoardAgent extends Somebody {
  readonly #reviews: readonly string[];
  #granted: Known[] = [];
  #asked: string[] = [];
  /** The session before the last crash, which a process on the same machine knows to be dead. */
  #before: string | undefined;

  constructor(world: World, name: string, label: string, isPicky = false) {
    super(world, name, false, label);
    this.#reviews = isPicky ? PICKY_REVIEWS : REVIEWS;
  }

  override crash(): void {
    this.#before = this.session_id;
    this.#granted = [];
    this.#asked = [];
    super.crash();
  }

  protected override wish(random: Seeded): Asked | undefined {
    const operation = random.pick(WISHES);
    switch (operation) {
      case 'my_grants':
        return { operation, input: random.chance(0.2) ? { wait_seconds: random.pick([1, 20, 120]) } : {} };
      case 'board_status':
        return { operation, input: {} };
      case 'join_board':
        return { operation, input: this.#joining(random) };
      case 'leave_board':
        return { operation, input: {} };
      case 'publish_artefact':
        return { operation, input: this.#publication(random) };
      case 'place_bid':
        return this.#bid(random);
      default:
        return this.#part(operation, random);
    }
  }

  #joining(random: Seeded): JsonObject {
    const input: JsonObject = { role: random.chance(0.9) ? `role of ${this.name}` : 'the same for all' };
    if (random.chance(0.3)) input.bidding = random.pick(['review', 'claim', 'exclusive', 'ignore']);
    if (random.chance(0.3)) input.timeout_seconds = random.pick([30, 600]);
    return input;
  }

  #publication(random: Seeded): JsonObject {
    const { artefacts } = this.world.model.board.threads;
    const input: JsonObject = { type: 'Goal', payload: 'something to do' };
    const [first] = artefacts.values();
    if (first !== undefined && random.chance(0.3)) input.logical_id = first.logical_id;
    if (random.chance(0.2)) input.structural_type = 'Terminal';
    return input;
  }

  #bid(random: Seeded): Asked | undefined {
    if (this.#asked.length === 0 && random.chance(0.8)) return { operation: 'my_grants', input: {} };
    const claim_id = this.#anyClaim(random, this.#asked);
    if (claim_id === undefined) return undefined;
    return { operation: 'place_bid', input: { claim_id, bid: random.pick(BIDS) } };
  }

  /** Mostly what it was told of; sometimes any claim there is. */
  #anyClaim(random: Seeded, known: readonly string[]): string | undefined {
    if (known.length > 0 && random.chance(0.85)) return random.pick(known);
    const all = [...this.world.model.board.claims.keys()];
    return all.length === 0 ? undefined : random.pick(all.slice(-6));
  }

  #part(operation: string, random: Seeded): Asked | undefined {
    if (this.#granted.length === 0 && random.chance(0.85)) return { operation: 'my_grants', input: {} };
    const known = this.#granted.length > 0 && random.chance(0.9) ? random.pick(this.#granted) : undefined;
    const claim_id = known?.claim_id ?? this.#anyClaim(random, []);
    if (claim_id === undefined) return undefined;
    const input: JsonObject = { claim_id };
    if (operation === 'terminate_claim') input.reason = 'enough of it';
    if (operation === 'take_grant') {
      if (random.chance(0.15)) input.queued = true;
      else if (random.chance(0.1)) input.preparing = true;
      if (this.#before !== undefined && random.chance(0.5)) input.instead_of = this.#before;
    }
    if (operation !== 'deliver_artefact') return { operation, input };
    const claim = this.world.model.board.claims.get(claim_id);
    const isReview = claim?.phase === 'review';
    Object.assign(input, { type: 'Part', payload: isReview ? random.pick(this.#reviews) : 'done' });
    if (random.chance(0.1)) input.structural_type = 'Failure';
    else if (!isReview && claim?.isRework !== true && random.chance(0.8)) input.structural_type = 'Terminal';
    if (known !== undefined && random.chance(0.6)) {
      input.attempt = known.attempt;
      input.operation_id = `run-${known.run_id}`;
    }
    return { operation, input };
  }

  protected override learn({ operation }: Asked, answer: JsonObject): void {
    if (operation !== 'my_grants' || answer.success !== true) return;
    this.#granted = answer.grants as unknown as Known[];
    this.#asked = (answer.open_bids as JsonObject[]).map(({ claim_id }) => String(claim_id));
  }
}

/** The person who decides about another round. */
export class Judge extends Somebody {
  readonly #shown = new Map<string, string>();

  constructor(world: World) {
    super(world, 'person:ann', true);
  }

  protected override wish(random: Seeded): Asked | undefined {
    const [shown] = this.#shown;
    if (shown !== undefined && random.chance(0.8)) {
      const [approval_id, shown_hash] = shown;
      this.#shown.delete(approval_id);
      const operation = random.chance(0.6) ? 'approve' : 'deny_approval';
      return { operation, input: { approval_id, shown_hash, reason: 'looked at it' } };
    }
    const asked = [...this.world.model.board.threads.asked];
    if (asked.length === 0) return undefined;
    return { operation: 'show_approval', input: { approval_id: random.pick(asked) } };
  }

  protected override learn({ operation, input }: Asked, answer: JsonObject): void {
    if (operation !== 'show_approval' || answer.success !== true) return;
    const { shown_hash } = answer.approval as JsonObject;
    this.#shown.set(String(input.approval_id), String(shown_hash));
  }
}
