import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command, Notice, Order } from './server-watcher.ts';

/** What is particular to one kind of server. */
export interface Recipe {
  readonly name: string;
  command(port: number): Command;
  /** Resolves when a request was answered. */
  answers(port: number): Promise<unknown>;
  /** What it says when another program has taken the port since it was chosen. */
  readonly portTaken: RegExp;
  /** What it says when it only wants to be started again. */
  readonly notYet?: RegExp;
}

/** Two seconds on an idle machine; a busy one takes its time, above all with Java. */
const START_MS_MAX = 60_000;
const START_POLL_MS = 20;

/** A server on a port of its own, with a directory of its own, that ends with the process that started it. */
export class WatchedServer {
  readonly #directory: string;
  readonly #recipe: Recipe;
  readonly #log: string;
  readonly #watcher: ChildProcess;
  #port = 0;
  #pid: number | null = null;
  #exited = false;
  #failure: string | null = null;
  #logStart = 0;

  constructor(directory: string, recipe: Recipe) {
    this.#directory = directory;
    this.#recipe = recipe;
    this.#log = join(directory, 'log');
    // Detached: Ctrl-C in a terminal must not reach server and watcher before the tests have ended.
    this.#watcher = fork(new URL('./server-watcher.ts', import.meta.url), [directory], {
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    this.#watcher.on('message', (notice: Notice) => {
      this.#pid = notice.is === 'started' ? notice.pid : null;
      if (notice.is === 'exited') this.#exited = true;
      if (notice.is === 'failed') this.#failure = notice.message;
    });
    // Neither watcher nor channel keeps a finished test process alive; its end closes the channel.
    this.#watcher.unref();
    this.#watcher.channel?.unref();
  }

  get port(): number {
    return this.#port;
  }

  /** The process id of the running server, or null. */
  pid(): number | null {
    return this.#pid;
  }

  async start(): Promise<void> {
    const firstStart = this.#port === 0;
    if (firstStart) this.#port = await freePort();
    const deadline_ms = Date.now() + START_MS_MAX;
    await this.#launch();
    while (!(await this.#answers())) {
      if (this.#exited) {
        const said = await this.#logSinceLaunch();
        if (firstStart && this.#recipe.portTaken.test(said)) this.#port = await freePort();
        else if (this.#recipe.notYet?.test(said) !== true) await this.#giveUp('it ended');
        await this.#launch();
      }
      if (this.#failure !== null) await this.#giveUp(this.#failure);
      if (!this.#watcher.connected) await this.#giveUp('its watcher is gone');
      if (Date.now() > deadline_ms) await this.#giveUp(`no answer in ${START_MS_MAX} ms`);
      await sleep(START_POLL_MS);
    }
  }

  /** Sends the signal and waits until the server is gone; `restart` brings it back with its data. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    this.#order({ do: 'signal', signal });
    // The channel is unreferenced; the timer keeps the process alive while a caller waits.
    while (this.#pid !== null && this.#watcher.connected) await sleep(START_POLL_MS);
  }

  async restart(): Promise<void> {
    if (this.#pid !== null) await this.kill('SIGINT');
    await this.start();
  }

  /** Ends the server and removes its directory. */
  async stop(): Promise<void> {
    if (this.#watcher.exitCode === null && this.#watcher.signalCode === null) {
      this.#watcher.ref();
      const gone = once(this.#watcher, 'exit');
      if (this.#watcher.connected) this.#watcher.disconnect();
      await gone;
    }
    this.#pid = null;
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #launch(): Promise<void> {
    this.#exited = false;
    this.#failure = null;
    this.#logStart = (await stat(this.#log).catch(() => null))?.size ?? 0;
    this.#order({ do: 'start', log: this.#log, ...this.#recipe.command(this.#port) });
  }

  #order(order: Order): void {
    this.#watcher.send(order);
  }

  async #answers(): Promise<boolean> {
    if (this.#pid === null) return false;
    return this.#recipe.answers(this.#port).then(
      () => true,
      () => false,
    );
  }

  async #logSinceLaunch(): Promise<string> {
    const log = await readFile(this.#log).catch(() => Buffer.alloc(0));
    return log.subarray(this.#logStart).toString();
  }

  async #giveUp(why: string): Promise<never> {
    throw new Error(`${this.#recipe.name} did not start: ${why}\n${await this.#logSinceLaunch()}`);
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port to be had');
  return address.port;
}
