import type { JsonObject } from '../../../src/kernel/json.ts';
import { type Seeded, spread } from '../random.ts';
import { type Asked, Somebody } from '../somebody.ts';
import type { World } from '../world.ts';
import { EDGES, FEATURES, ROLE_NAMES } from './rules.ts';

const WISHES = spread({
  claim_edge: 34,
  heartbeat_claim: 18,
  release_edge: 10,
  converge_edge: 24,
  claims_status: 6,
});

/** An agent with a role: it remembers what it was granted, also what is no longer true. */
export class ClaimAgent extends Somebody {
  readonly #role: string;
  readonly #granted: { feature: string; edge: string; token: number }[] = [];

  constructor(world: World, name: string) {
    super(world, name, false);
    this.#role = world.random.pick(ROLE_NAMES);
  }

  protected override wish(random: Seeded): Asked {
    const operation = random.pick(WISHES);
    if (operation === 'claims_status') return { operation, input: {} };
    const known = operation !== 'claim_edge' || random.chance(0.3) ? this.#granted.slice(-3) : [];
    if (known.length === 0 || random.chance(0.15)) {
      const input: JsonObject = { feature: random.pick(FEATURES), edge: random.pick(EDGES) };
      if (operation !== 'claim_edge') return { operation, input };
      if (random.chance(0.9)) input.agent_role = this.#role;
      if (random.chance(0.15)) input.wait_seconds = random.pick([1, 20, 120]);
      return { operation, input };
    }
    const { feature, edge, token } = random.pick(known);
    const input: JsonObject = { feature, edge };
    if (operation !== 'claim_edge' && random.chance(0.5)) input.fencing_token = token;
    if (operation === 'heartbeat_claim' && random.chance(0.4)) input.iteration = random.between(1, 9);
    if (operation === 'converge_edge') {
      if (random.chance(0.1)) input.agent_role = random.pick(ROLE_NAMES);
      if (random.chance(0.5)) input.evaluators = random.chance(0.8) ? '2/2' : '1/2';
    }
    return { operation, input };
  }

  protected override learn({ operation }: Asked, answer: JsonObject): void {
    if (operation !== 'claim_edge' || answer.success !== true) return;
    const { feature, edge, fencing_token } = answer;
    this.#granted.push({ feature: String(feature), edge: String(edge), token: fencing_token as number });
  }
}

/** A person who looks now and then, decides about what waits, and frees what is stale. */
export class Person extends Somebody {
  #stale: JsonObject[] = [];
  #waiting: JsonObject[] = [];
  readonly #shown = new Map<string, string>();

  constructor(world: World, name: string) {
    super(world, `person:${name}`, true);
  }

  protected override wish(random: Seeded): Asked | undefined {
    const [shown] = this.#shown;
    if (shown !== undefined && random.chance(0.8)) {
      const [approval_id, shown_hash] = shown;
      this.#shown.delete(approval_id);
      const operation = random.chance(0.6) ? 'approve' : 'deny_approval';
      return { operation, input: { approval_id, shown_hash, reason: 'looked at it' } };
    }
    if (this.#waiting.length > 0 && random.chance(0.6)) {
      const { approval_id } = random.pick(this.#waiting);
      return { operation: 'show_approval', input: { approval_id } };
    }
    if (this.#stale.length > 0 && random.chance(0.6)) {
      const { feature, edge } = random.pick(this.#stale);
      const decision = random.chance(0.7) ? 'release' : 'keep';
      return { operation: 'resolve_stale_claim', input: { feature, edge, decision } };
    }
    return { operation: 'claims_status', input: {} };
  }

  protected override learn({ operation, input }: Asked, answer: JsonObject): void {
    if (answer.success !== true) return;
    if (operation === 'claims_status') {
      this.#stale = answer.stale as JsonObject[];
      this.#waiting = answer.escalations as JsonObject[];
    }
    const { shown_hash } = (answer.approval ?? {}) as JsonObject;
    if (operation === 'show_approval') this.#shown.set(String(input.approval_id), String(shown_hash));
  }
}
