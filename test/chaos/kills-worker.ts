// Several agents in one process that do what agents do and keep a journal: what is tried is written down before the call,
// its answer after it. Killed at any instant, the next incarnation asks again under the same operation_id.
import { appendFileSync, closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { type Line, lastUnanswered, parseJournal, type Tried } from './journal.ts';

interface Options {
  readonly store: string;
  readonly folder: string;
  readonly lanes: readonly string[];
  /** Answer what is open and end, instead of going on until killed. */
  readonly finish: boolean;
}

const PATHS = 6;
const AWAY_PAUSE_MS = 20;
const options = JSON.parse(process.argv[2] ?? '{}') as Options;
let ending = options.finish;
// The harness closes our input where it wants an end without a kill.
process.stdin.on('end', () => {
  ending = true;
});
process.stdin.resume();

let active = false;

function sayActive(): void {
  if (!active) console.log('active');
  active = true;
}

class Lane {
  readonly #journal: number;
  readonly #pending: Tried | undefined;
  readonly #name: string;
  readonly #perform: (operation: string, input: JsonObject) => Promise<JsonObject>;
  #count = 0;

  constructor(coxswain: Coxswain, name: string) {
    this.#name = name;
    const file = join(options.folder, `${name}.journal`);
    // A line torn by the kill ends here; what it said was not said.
    appendFileSync(file, '\n');
    this.#pending = lastUnanswered(parseJournal(readFileSync(file, 'utf8')));
    this.#journal = openSync(file, 'a');
    const connection = coxswain.connect({ agent_id: name, agent_type: 'chaos' });
    this.#perform = async (operation, input) => {
      const declared = operationsByName.get(operation);
      if (declared === undefined) throw new Error(operation);
      return await connection.perform(declared, input);
    };
  }

  #write(line: Line): void {
    writeSync(this.#journal, `${JSON.stringify(line)}\n`);
  }

  async run(): Promise<void> {
    if (this.#pending !== undefined) await this.#ask(this.#pending);
    while (!ending) await this.#round();
    closeSync(this.#journal);
  }

  /** One round of an agent's life; every step of it may be the last. */
  async #round(): Promise<void> {
    const file_path = `src/${Math.floor(Math.random() * PATHS)}.ts`;
    const lock = await this.#try('acquire_lock', { file_path });
    await this.#try('submit_work', { task_type: 'chaos', task_description: `of ${this.#name}` });
    const task = await this.#try('get_work', { task_types: ['chaos'] });
    const reading = await this.#perform('check_locks', {});
    if (reading.success !== true) this.#write({ unread: reading });
    if (task.success === true) {
      const { task_id, fencing_token } = task;
      await this.#try('complete_work', { task_id, fencing_token, success: Math.random() < 0.9 });
    }
    if (lock.success === true)
      await this.#try('release_lock', { file_path, fencing_token: lock.fencing_token });
  }

  #try(operation: string, input: JsonObject): Promise<JsonObject> {
    this.#count += 1;
    const id = `${this.#name}-${process.pid}-${Date.now().toString(36)}-${this.#count}`;
    const tried = { id, operation, input };
    this.#write({ tried });
    return this.#ask(tried);
  }

  async #ask(tried: Tried): Promise<JsonObject> {
    for (;;) {
      const started_ms = performance.now();
      const answer = await this.#perform(tried.operation, { ...tried.input, operation_id: tried.id });
      if (answer.error !== 'database_unavailable') {
        this.#write({ answered: tried.id, answer });
        sayActive();
        return answer;
      }
      this.#write({ away: tried.id, elapsed_ms: performance.now() - started_ms, said: `${answer.message}` });
      await systemClock.sleep(AWAY_PAUSE_MS);
    }
  }
}

const coxswain = await open({ store: options.store });
const lanes = options.lanes.map((name) => new Lane(coxswain, name));
// Loads what the first calls load, so that the time until the kill is spent on commits.
await Promise.all([...operationsByName.values()].map((operation) => operation.input()));
console.log('ready');
await Promise.all(lanes.map((lane) => lane.run()));
await coxswain.close();
process.stdin.destroy();
