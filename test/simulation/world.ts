import type { Fleet } from '../../src/features/claims/fleet/fleet.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { FileStat, FileSystem } from '../../src/kernel/file-system.ts';
import { createIds } from '../../src/kernel/ids.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { findWorkspace } from '../../src/kernel/workspace.ts';
import type { LogEntry, Request } from '../../src/ledger/log.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import { Connection } from '../../src/runtime/coordinator.ts';
import { entities } from '../../src/runtime/entities.ts';
import type { AnyOperation, Authority } from '../../src/runtime/operation.ts';
import { operations } from '../../src/runtime/operation-list.ts';
import { placeServices } from '../../src/runtime/place-services.ts';
import type { Services } from '../../src/runtime/service.ts';
import type { Hints } from '../../src/runtime/waiting.ts';
import { MemoryStore, type Point } from '../../src/stores/memory/store.ts';
import { checkAnswer } from './answers.ts';
import { Grants } from './grants.ts';
import { insist, Model } from './model.ts';
import { areaNamed, share } from './model-areas.ts';
import { before } from './model-tasks.ts';
import { Seeded } from './random.ts';
import { Scheduler } from './scheduler.ts';

const PROJECT = 'simulated';

/** One call of an agent, from its start to its answer, if one comes. */
export interface Call {
  readonly agent_id: string;
  readonly session_id: string;
  readonly sequence: number;
  readonly operation: string;
  readonly input: JsonObject;
  /** The log's length when it began. */
  readonly began: number;
  clock_ms_min: number;
  clock_ms_max: number;
  /** The log's length when its present attempt began to read. */
  read_from: number;
  last: { point: Point; request: Request; position: number } | undefined;
  answer: JsonObject | undefined;
  /** Its caller may go away while it waits. */
  readonly gone: AbortController;
  readonly meant: ReadonlyMap<string, number>;
  /** Told the answer, when it comes. */
  readonly done: (answer: JsonObject) => void;
}

/** A disk with one empty folder: paths are compared, never opened. */
const folder: FileStat = {
  mtimeMs: 0,
  ino: 1,
  dev: 1,
  isFile: () => false,
  isDirectory: () => true,
  isSymbolicLink: () => false,
};
const emptyDisk: FileSystem = {
  windows: false,
  lstat: (path) => (path === '/' || path === '/repo' ? folder : undefined),
  readlink: () => '',
  realpath: (path) => path,
  readFile: () => '',
  readdir: () => [],
};
const workspace = findWorkspace('/repo', emptyDisk, () => 0);

/** Schemas come by dynamic import; loaded once, so that a call's way has no step that depends on the disk. */
const declared: ReadonlyMap<string, AnyOperation> = new Map(
  await Promise.all(
    operations.map(async (operation): Promise<[string, AnyOperation]> => {
      const schema = await operation.input();
      return [operation.name, { ...operation, input: async () => schema }];
    }),
  ),
);

/** Everything that one run has of its own: time, chance, the store, the calls under way, and the model of the promises. */
export class World {
  readonly random: Seeded;
  readonly model = new Model();
  readonly scheduler = new Scheduler<Call>();
  readonly counts = new Map<string, number>();
  readonly log: LogEntry[] = [];
  readonly trace: ((line: string) => void) | undefined;
  readonly calls = new Set<Call>();
  readonly grants = new Grants();
  /** No faults and no waiting any more: everything comes to its end. */
  calm = false;
  clock_ms: number;
  clock_ms_max: number;
  readonly #store: MemoryStore;
  readonly #context: {
    store: MemoryStore;
    clock: Clock;
    ids: ReturnType<typeof createIds>;
    services: Services;
  };
  #elapsed_ms = 0;
  #violation: unknown;

  constructor(seed: number, trace?: (line: string) => void, fleet?: Fleet) {
    this.random = new Seeded(seed);
    this.trace = trace;
    this.clock_ms = Date.UTC(2026, 0, 5) + this.random.between(0, 999);
    this.clock_ms_max = this.clock_ms;
    const clock: Clock = {
      now_ms: () => this.clock_ms,
      elapsed_ms: () => this.#elapsed_ms,
      sleep: async () => {
        if (!this.calm) await this.scheduler.park('asleep');
      },
    };
    const ids = createIds(clock, this.random);
    const context = { entities, clock, random: this.random, ids };
    this.#store = new MemoryStore(context, { at: (point, request) => this.#at(point, request) });
    this.#context = { store: this.#store, clock, ids, services: placeServices({ fleet }) };
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  connect(agent_id: string, session_id: string, authority?: Authority): Connection {
    const actor = { agent_id, agent_type: 'simulated', session_id };
    const hints = () => this.#hints();
    return new Connection({ ...this.#context, workspace, project: PROJECT, hints }, actor, authority);
  }

  /** A waiter stands until the scheduler wakes it, for a reason or without one; in the end time passes at once. */
  #hints(): Hints {
    return {
      next: async (until_ms) => {
        this.count('waits');
        if (this.calm) this.moveClock(Math.max(1, until_ms - this.#elapsed_ms));
        else await this.scheduler.park('waiting');
      },
      close: () => {},
    };
  }

  moveClock(by_ms: number): void {
    this.clock_ms += by_ms;
    this.#elapsed_ms += Math.max(0, by_ms);
    this.clock_ms_max = Math.max(this.clock_ms_max, this.clock_ms);
    for (const call of this.calls) {
      call.clock_ms_min = Math.min(call.clock_ms_min, this.clock_ms);
      call.clock_ms_max = Math.max(call.clock_ms_max, this.clock_ms);
    }
    this.trace?.(`clock ${by_ms >= 0 ? '+' : ''}${by_ms} ms`);
  }

  /** Runs until the call stands somewhere or has its answer. */
  async begin(
    connection: Connection,
    name: string,
    input: JsonObject,
    sequence: number,
    done: (answer: JsonObject) => void,
  ): Promise<Call> {
    const { agent_id, session_id } = connection.actor;
    const { clock_ms } = this;
    const about = { agent_id, session_id, sequence, operation: name, input, began: this.model.position };
    const call: Call = {
      ...about,
      clock_ms_min: clock_ms,
      clock_ms_max: clock_ms,
      read_from: 0,
      last: undefined,
      answer: undefined,
      gone: new AbortController(),
      meant: this.grants.meant(session_id, name, input),
      done,
    };
    this.calls.add(call);
    this.trace?.(`${session_id} ${sequence} ${name} ${JSON.stringify(input)}`);
    await this.scheduler.start(call, async () => {
      const operation = declared.get(name);
      if (operation === undefined) throw new Error(`no operation ${name}`);
      call.answer = await connection.perform(operation, input, { signal: call.gone.signal });
    });
    await this.afterStep(call);
    return call;
  }

  /** The log has grown, the call may have ended: look at both before anything else happens. */
  async afterStep(call: Call): Promise<void> {
    await this.#readOn(call);
    if (this.#violation !== undefined) throw this.#violation;
    if (call.answer === undefined) return;
    this.calls.delete(call);
    this.trace?.(`  ${call.session_id} ${call.sequence} answer ${JSON.stringify(call.answer)}`);
    checkAnswer(this, call, call.answer);
    this.grants.learn(call, call.meant, call.answer);
    call.done(call.answer);
  }

  async #readOn(call: Call): Promise<void> {
    const { entries } = await this.#store.read(PROJECT, this.model.position, 1000);
    for (const row of entries) {
      this.log.push(row);
      const events = row.events.map(({ type, id }) => `${type}(${id})`).join(' ');
      this.trace?.(`  row ${row.position} at ${row.at_ms} ${row.operation} ${events}`);
      this.#countRow(row);
      const { clock_ms, clock_ms_max } = this;
      const meant = (key: string) => call.meant.get(key);
      this.model.apply(row, { clock_ms, clock_ms_max, read_from: call.read_from, meant });
    }
  }

  #countRow(row: LogEntry): void {
    const { locks, tasks } = this.model;
    for (const { type, id, data } of row.events) {
      this.count(type);
      if (type === 'edge_released') this.count(`edge_released: ${data.cause}`);
      if (type === 'edge_converged' && data.approved_by !== undefined)
        this.count('edge_converged: by a person');
      const token = (data.lease as JsonObject | undefined)?.token;
      const area = areaNamed((data.pattern as string | undefined) ?? id);
      if (type === 'lock_refreshed' && token !== locks.held(area, row.agent_id)?.grant.token)
        this.count('another session takes over');
      if (type === 'lock_acquired') this.#countGrant(area, data, row);
      if (type !== 'task_claimed') continue;
      const taken = tasks.of(id);
      for (const other of tasks.all.values())
        if (
          other.status === 'ready' &&
          before(other, taken) &&
          !tasks.takeable(other, undefined, row.agent_id, row.at_ms)
        )
          this.count('passed over: its files are locked');
    }
    for (const task of (row.result.tasks as JsonObject[] | undefined) ?? [])
      if (task.existing === true) this.count('the same key again');
  }

  #countGrant(area: string, data: JsonObject, row: LogEntry): void {
    const held = this.model.locks.holdings.filter((each) => share(each.area, area));
    if (data.shared === true) this.count('granted: shared');
    if (held.some(({ grant }) => grant.agent_id !== row.agent_id)) this.count('granted: two readers');
    if (/[*?]/.test(area)) this.count('granted: pattern');
    else if (area.endsWith('/')) this.count('granted: folder');
    if (row.result.locks !== undefined) this.count('granted: several at once');
    if (row.result.waited_seconds !== undefined) this.count('granted: after waiting');
    if (row.events.some((event) => event.type === 'lock_released'))
      this.count('granted: reader becomes writer');
  }

  /** The store's hook: what was committed is looked at, then chance decides whether the line breaks or others go first. */
  async #at(point: Point, request: Request): Promise<void> {
    const call = this.scheduler.running;
    try {
      await this.#readOn(call);
    } catch (error) {
      // Thrown from here it would become an answer.
      this.#violation ??= error;
    }
    if (!this.calm) {
      if (this.random.chance(point === 'after_commit' ? 0.04 : 0.008)) {
        this.count(point === 'after_commit' ? 'lost answer' : 'store away');
        this.trace?.(`  fault at ${point}`);
        throw new StoreFailure('database_unavailable', `simulated at ${point}`);
      }
      if (this.random.chance(point === 'after_commit' ? 0.15 : 0.4)) {
        this.trace?.(`  stands at ${point}`);
        await this.scheduler.park(point);
      }
    }
    const { last } = call;
    if (point === 'load' && (last?.point !== 'load' || last.request !== request)) {
      const again = last?.request === request && last.point === 'after_commit';
      if (again) this.count(this.#changedSince(call) ? 'conflict' : 'conflict by time');
      call.read_from = this.model.position;
    }
    call.last = { point, request, position: call.read_from };
  }

  /** Whether the one thing that the call is about was changed by another agent while it thought. */
  #changedSince({ input, last }: Call): boolean {
    const { locks, tasks } = this.model;
    const { file_path, task_id } = input;
    const position = last?.position ?? 0;
    if (typeof file_path === 'string') return locks.changed(areaNamed(file_path)) > position;
    const task = tasks.all.get(String(task_id));
    return task === undefined || task.changed > position;
  }

  /** The log, replayed from its first row by the product itself, is what the store holds. */
  async checkReplay(): Promise<void> {
    const differences = await compareWithLive(
      this.#store,
      entities,
      PROJECT,
      await replay(this.#store, entities, PROJECT),
    );
    insist(differences.length === 0, 'replay differs from the live records', differences);
    this.count('replay compared');
  }

  async live(kind: string, id: string): Promise<JsonObject> {
    const { loaded } = await this.#store.find(PROJECT, { keys: [{ kind, id }] });
    const record = loaded.get<JsonObject>({ kind, id });
    insist(record !== undefined, 'in the log but not in the store', kind, id);
    return record.state;
  }
}
