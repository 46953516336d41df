import type { Connection } from '../../../src/coordinator.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { isRefusal, refusalCode } from '../../../src/kernel/refusal.ts';
import { type Seeded, spread } from '../random.ts';
import type { World } from '../world.ts';
import { EDGES, FEATURES, ROLE_NAMES } from './rules.ts';

interface Asked {
  readonly operation: string;
  readonly input: JsonObject;
}

/** What agents and people share: a connection, numbered calls, and asking again what was left without an answer. */
class Somebody {
  readonly name: string;
  protected readonly world: World;
  readonly #isPerson: boolean;
  readonly #unsure: Asked[] = [];
  readonly #asked: Asked[] = [];
  #connection: Connection;
  #sessions = 1;
  #sequence = 0;
  #ids = 0;

  constructor(world: World, name: string, isPerson: boolean) {
    this.world = world;
    this.name = name;
    this.#isPerson = isPerson;
    this.#connection = this.#connect();
  }

  #connect(): Connection {
    const session_id = `${this.name}-${this.#sessions}`;
    return this.world.connect(this.name, session_id, this.#isPerson ? 'person' : 'operator');
  }

  /** It comes back as a new process: its connection's grants are forgotten, what it wrote down itself is not. */
  crash(): void {
    this.#sessions += 1;
    this.#sequence = 0;
    this.#connection = this.#connect();
    this.world.count('crash');
    this.world.trace?.(`${this.name} crashes and comes back`);
  }

  async act(): Promise<void> {
    const { random } = this.world;
    const unsure = this.#unsure.at(-1);
    if (unsure !== undefined && random.chance(0.6)) {
      this.world.count('retry under the same id');
      this.#unsure.pop();
      return await this.#ask(unsure);
    }
    const wish = this.wish(random);
    if (wish === undefined) return;
    if (wish.operation !== 'claims_status' && wish.operation !== 'show_approval' && random.chance(0.6)) {
      this.#ids += 1;
      wish.input.operation_id = `op-${this.#ids}`;
    }
    await this.#ask(wish);
  }

  /** Asks again for what it has asked for before, or for something else under an id that was used. */
  async confuse(): Promise<void> {
    const { random } = this.world;
    const named = this.#asked.filter(({ input }) => input.operation_id !== undefined);
    const other = this.wish(random);
    if (named.length === 0 || other === undefined) return;
    const old = random.pick(named.slice(-4));
    if (random.chance(0.8)) return await this.#ask(old);
    await this.#ask({ ...other, input: { ...other.input, operation_id: old.input.operation_id } });
  }

  protected wish(_random: Seeded): Asked | undefined {
    return undefined;
  }

  protected learn(_asked: Asked, _answer: JsonObject): void {}

  async #ask(asked: Asked): Promise<void> {
    this.#sequence += 1;
    this.#asked.push(asked);
    const learn = (answer: JsonObject) => {
      const isLost = isRefusal(answer) && refusalCode(answer) === 'database_unavailable';
      if (isLost && asked.input.operation_id !== undefined) this.#unsure.push(asked);
      else this.learn(asked, answer);
    };
    await this.world.begin(this.#connection, asked.operation, asked.input, this.#sequence, learn);
  }
}

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

/** Somebody who looks now and then, decides about what waits, and frees what is stale. */
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
