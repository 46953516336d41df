import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Ask, Part, Reply } from './demo-agent.ts';

/** Source and built files have different extensions. */
const AGENT = new URL(`./demo-agent${extname(import.meta.url)}`, import.meta.url);

type OnWaiting = (why: JsonObject) => void;

/** An agent of the demo, as the demo process sees it. */
export class Actor {
  readonly name: string;
  readonly child: ChildProcess;
  readonly #open = new Map<number, { resolve: (answer: JsonObject) => void; onWaiting: OnWaiting }>();
  #asked = 0;

  constructor(part: Part, env: NodeJS.ProcessEnv) {
    this.name = part.agent_id;
    // Its output is not part of the demo; its errors are.
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
    this.child = fork(fileURLToPath(AGENT), [JSON.stringify(part)], { env, execArgv: [], stdio: [...stdio] });
    this.child.on('message', ({ id, answer, waiting }: Reply) => {
      if (waiting !== undefined) this.#open.get(id)?.onWaiting(waiting);
      if (answer === undefined) return;
      this.#open.get(id)?.resolve(answer);
      this.#open.delete(id);
    });
  }

  async ready(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#open.set(0, { resolve: () => resolve(), onWaiting: () => {} });
      this.child.once('exit', () => reject(new Error(`${this.name} could not start`)));
    });
  }

  ask(operation: string, input: JsonObject, onWaiting: OnWaiting = () => {}): Promise<JsonObject> {
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve) => {
      this.#open.set(id, { resolve, onWaiting });
      this.child.send({ id, operation, input } satisfies Ask);
    });
  }

  /** Without warning, like a crash. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }
}
