import type { JsonObject } from '../../src/kernel/json.ts';
import { isRefusal, refusalCode } from '../../src/kernel/refusal.ts';
import type { Connection } from '../../src/runtime/coordinator.ts';
import type { Seeded } from './random.ts';
import type { World } from './world.ts';

export interface Asked {
  readonly operation: string;
  readonly input: JsonObject;
}

/** They change nothing: no agent names them to ask again. */
const READS = new Set(['claims_status', 'show_approval', 'my_grants', 'board_status']);

/** What agents and people share: a connection, numbered calls, and asking again what was left without an answer. */
export class Somebody {
  readonly name: string;
  protected readonly world: World;
  readonly #label: string;
  readonly #isPerson: boolean;
  readonly #unsure: Asked[] = [];
  readonly #asked: Asked[] = [];
  #connection: Connection;
  #sessions = 1;
  #sequence = 0;
  #ids = 0;

  /** One agent may have several of them at once, each with a label of its own. */
  constructor(world: World, name: string, isPerson: boolean, label = name) {
    this.world = world;
    this.name = name;
    this.#label = label;
    this.#isPerson = isPerson;
    this.#connection = this.#connect();
  }

  protected get session_id(): string {
    return `${this.#label}-${this.#sessions}`;
  }

  #connect(): Connection {
    return this.world.connect(this.name, this.session_id, this.#isPerson ? 'person' : 'operator');
  }

  /** It comes back as a new process: its connection's grants are forgotten, what it wrote down itself is not. */
  crash(): void {
    this.#sessions += 1;
    this.#sequence = 0;
    this.#connection = this.#connect();
    this.world.count('crash');
    this.world.trace?.(`${this.#label} crashes and comes back`);
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
    if (!READS.has(wish.operation) && wish.input.operation_id === undefined && random.chance(0.6)) {
      this.#ids += 1;
      wish.input.operation_id = `${this.#label}-op-${this.#ids}`;
    }
    await this.#ask(wish);
  }

  /** Asks again for what it has asked for before, or for something else under an id that was used. */
  async confuse(): Promise<void> {
    const { random } = this.world;
    const named = this.#asked.filter(({ input }) => input.operation_id !== undefined);
    const other = this.wish(random);
    if (named.length === 0 || other === undefined || READS.has(other.operation)) return;
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
