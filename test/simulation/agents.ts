import type { JsonObject } from '../../src/kernel/json.ts';
import { isRefusal, refusalCode } from '../../src/kernel/refusal.ts';
import type { Connection } from '../../src/runtime/coordinator.ts';
import { AREAS, PATHS } from './model-areas.ts';
import { type Seeded, spread } from './random.ts';
import type { World } from './world.ts';

interface Asked {
  readonly operation: string;
  readonly input: JsonObject;
}

const TYPES = ['test', 'review'];
const KEYS = ['k1', 'k2', 'k3', 'k4', 'k5'];
const TTL_MINUTES = [0.05, 0.5, 2, 10];
const NOBODY = '00000000-0000-4000-8000-000000000000';
const TASKS_MAX = 24;

const WISHES = spread({
  acquire_lock: 17,
  release_lock: 11,
  check_locks: 2,
  submit_work: 13,
  submit_work_batch: 5,
  get_work: 20,
  get_work_batch: 3,
  complete_work: 15,
  complete_work_batch: 3,
  renew_work: 5,
  cancel_work: 2,
  reprioritise_work: 2,
  retry_work: 5,
  list_work: 1,
});

type Wish = (typeof WISHES)[number];

/** An agent with a will of its own: it remembers what it was told, also what is no longer true. */
export class Agent {
  readonly name: string;
  readonly #world: World;
  readonly #locks: { path: string; token: number }[] = [];
  readonly #claims: { task_id: string; token: number }[] = [];
  readonly #unsure: Asked[] = [];
  readonly #asked: Asked[] = [];
  #connection: Connection;
  #sessions = 1;
  #sequence = 0;
  #ids = 0;

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
    this.#connection = world.connect(name, `${name}-1`);
  }

  /** It comes back as a new process: its connection's grants are forgotten, what it wrote down itself is not. */
  crash(): void {
    this.#sessions += 1;
    this.#sequence = 0;
    this.#connection = this.#world.connect(this.name, `${this.name}-${this.#sessions}`);
    this.#world.count('crash');
    this.#world.trace?.(`${this.name} crashes and comes back`);
  }

  async act(): Promise<void> {
    const { random } = this.#world;
    const unsure = this.#unsure.at(-1);
    if (unsure !== undefined && random.chance(0.6)) {
      this.#world.count('retry under the same id');
      this.#unsure.pop();
      await this.ask(unsure);
      return;
    }
    await this.ask(this.#wish(random));
  }

  /** Asks again for what it has asked for before, or for something else under an id that was used. */
  async confuse(): Promise<void> {
    const { random } = this.#world;
    const named = this.#asked.filter(({ input }) => input.operation_id !== undefined);
    if (named.length === 0) return;
    const old = random.pick(named);
    if (random.chance(0.5)) {
      await this.ask(old);
      return;
    }
    const other = this.#wish(random);
    await this.ask({ ...other, input: { ...other.input, operation_id: old.input.operation_id } });
  }

  async ask(asked: Asked): Promise<void> {
    this.#sequence += 1;
    this.#asked.push(asked);
    const learn = (answer: JsonObject) => this.#learn(asked, answer);
    await this.#world.begin(this.#connection, asked.operation, asked.input, this.#sequence, learn);
  }

  #learn(asked: Asked, answer: JsonObject): void {
    if (isRefusal(answer)) {
      if (refusalCode(answer) === 'database_unavailable' && asked.input.operation_id !== undefined)
        this.#unsure.push(asked);
      return;
    }
    if (asked.operation === 'acquire_lock')
      for (const { file_path, fencing_token } of (answer.locks as JsonObject[] | undefined) ?? [answer])
        this.#locks.push({ path: file_path as string, token: fencing_token as number });
    const tasks =
      asked.operation === 'get_work'
        ? [answer]
        : asked.operation === 'get_work_batch'
          ? (answer.tasks as JsonObject[])
          : [];
    for (const { task_id, fencing_token } of tasks)
      this.#claims.push({ task_id: task_id as string, token: fencing_token as number });
  }

  #wish(random: Seeded): Asked {
    const operation = this.#sensible(random.pick(WISHES), random);
    const input = this.#input(operation, random);
    if (!['check_locks', 'list_work'].includes(operation) && random.chance(0.6)) {
      this.#ids += 1;
      input.operation_id = `op-${this.#ids}`;
    }
    return { operation, input };
  }

  /** Mostly what makes sense now: no agent completes what it never had, at least not often. */
  #sensible(wish: Wish, random: Seeded): Wish {
    const tasks = this.#world.model.tasks.all.size;
    if (wish.startsWith('submit')) return tasks < TASKS_MAX ? wish : 'get_work';
    if (!wish.endsWith('_work') || random.chance(0.1)) return wish;
    if (tasks === 0) return 'submit_work';
    const needsClaim = wish === 'complete_work' || wish === 'renew_work';
    return needsClaim && this.#claims.length === 0 ? 'get_work' : wish;
  }

  #input(operation: Wish, random: Seeded): JsonObject {
    switch (operation) {
      case 'acquire_lock':
      case 'release_lock':
        return this.#lockInput(operation, random);
      case 'submit_work':
        return this.#taskInput(random);
      case 'submit_work_batch':
        return { tasks: this.#batch(random) };
      case 'get_work':
      case 'get_work_batch': {
        const claim: JsonObject = { lease_minutes: random.pick(TTL_MINUTES) };
        if (random.chance(0.3)) claim.task_types = [random.pick(TYPES), random.pick(TYPES)];
        return operation === 'get_work' ? claim : { ...claim, count: random.between(1, 4) };
      }
      case 'complete_work':
        return this.#completion(random);
      case 'complete_work_batch': {
        const items = [this.#completion(random), this.#completion(random)];
        return { items: items[0]?.task_id === items[1]?.task_id ? items.slice(1) : items };
      }
      case 'renew_work':
        return { ...this.#claim(random), lease_minutes: random.pick(TTL_MINUTES) };
      case 'reprioritise_work':
        return { task_id: this.#someTask(random), priority: random.between(1, 10) };
      case 'retry_work':
        return { task_id: this.#someTask(random, ['failed', 'dead', 'skipped']) };
      case 'cancel_work':
        return { task_id: this.#someTask(random) };
      default:
        return {};
    }
  }

  #lockInput(operation: string, random: Seeded): JsonObject {
    const remembered =
      this.#locks.length > 0 && random.chance(0.6) ? random.pick(this.#locks.slice(-4)) : undefined;
    const path = remembered?.path ?? this.#somePath(random);
    const plain = /^[a-z]+\.ts$/.test(path);
    const input: JsonObject = { file_path: plain && random.chance(0.2) ? `./${path}` : path };
    if (remembered !== undefined && random.chance(0.5)) input.fencing_token = remembered.token;
    else if (random.chance(0.15)) {
      delete input.file_path;
      const more = Array.from({ length: random.between(0, 2) }, () => this.#somePath(random));
      input.file_paths = [...new Set([path, ...more])];
    }
    if (operation === 'release_lock') return input;
    input.ttl_minutes = random.pick(TTL_MINUTES);
    if (random.chance(0.25)) input.shared = true;
    if (random.chance(0.3)) input.wait_seconds = random.pick([1, 5, 20, 120]);
    if (random.chance(0.3)) input.reason = `reason ${random.between(1, 9)}`;
    return input;
  }

  #somePath(random: Seeded): string {
    return random.pick(random.chance(0.6) ? PATHS : AREAS);
  }

  #taskInput(random: Seeded): JsonObject {
    const { clock_ms } = this.#world;
    const input: JsonObject = {
      task_type: random.pick(TYPES),
      task_description: 'something',
      priority: random.pick([1, 5, 5, 10]),
      max_attempts: random.between(1, 3),
    };
    if (random.chance(0.35)) {
      const parents = Array.from({ length: random.between(1, 2) }, () => this.#someTask(random));
      input.depends_on = [...new Set(parents)];
      if (random.chance(0.6)) input.on_dependency_failure = random.pick(['block', 'skip', 'run']);
    }
    if (random.chance(0.25)) input.files = [random.pick(PATHS)];
    if (random.chance(0.15))
      input.not_before = new Date(clock_ms + random.between(-60_000, 900_000)).toISOString();
    if (random.chance(0.2)) input.idempotency_key = random.pick(KEYS);
    return input;
  }

  /** Tasks that name each other by key; some of the keys have been used before, and some form a cycle. */
  #batch(random: Seeded): JsonObject[] {
    const keys = KEYS.filter(() => random.chance(0.5));
    const tasks = keys.map((idempotency_key, index): JsonObject => {
      const task = { ...this.#taskInput(random), idempotency_key };
      const others = random.chance(0.1) ? keys : keys.slice(0, index);
      if (others.length === 0 || random.chance(0.4)) return task;
      const on_dependency_failure = random.pick(['block', 'skip', 'run']);
      return { ...task, depends_on: [random.pick(others)], on_dependency_failure };
    });
    return [...tasks, this.#taskInput(random)];
  }

  #completion(random: Seeded): JsonObject {
    const success = random.chance(0.65);
    return { ...this.#claim(random), success, ...(success ? {} : { error_message: 'red' }) };
  }

  /** One of its last claims, with or without the token; now and then another agent's task. */
  #claim(random: Seeded): JsonObject {
    if (this.#claims.length === 0 || random.chance(0.1)) return { task_id: this.#someTask(random) };
    const { task_id, token } = random.pick(this.#claims.slice(-4));
    return random.chance(0.5) ? { task_id, fencing_token: token } : { task_id };
  }

  /** Any task; one in such a state, if there is one. */
  #someTask(random: Seeded, states: readonly string[] = []): string {
    const tasks = [...this.#world.model.tasks.all.values()];
    const fitting = tasks.filter(({ status }) => states.includes(status));
    if (tasks.length === 0 || random.chance(0.03)) return NOBODY;
    return random.pick(fitting.length > 0 ? fitting : tasks).id;
  }
}
