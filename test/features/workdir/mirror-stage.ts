// A work directory and a store in which passes show it.

import { filedTaskId } from '../../../src/features/queue/filed.ts';
import { PassMirror } from '../../../src/features/workdir/scheduler/mirror-pass.ts';
import { open } from '../../../src/index.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { EventBody } from '../../../src/ledger/entity.ts';
import type { LogEntry } from '../../../src/ledger/log.ts';
import { compareWithLive, replay } from '../../../src/ledger/replay.ts';
import type { Coxswain } from '../../../src/runtime/coxswain.ts';
import { entities } from '../../../src/runtime/entities.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';
import { Ground } from './ground.ts';

export const PASSES = { agent_id: 'cron', agent_type: 'cli', session_id: 'cron' };

export type Open = (options: { cwd: string; clock?: Clock }) => Promise<Coxswain>;

const inMemory: Open = (options) => open({ ...options, store: 'memory:', presence: 'off', env: {} });

export class MirrorStage implements AsyncDisposable {
  readonly ground: Ground;
  readonly coxswain: Coxswain;
  readonly #own: boolean;

  private constructor(ground: Ground, coxswain: Coxswain, own: boolean) {
    this.ground = ground;
    this.coxswain = coxswain;
    this.#own = own;
  }

  /** Its clock is the ground's, so that passes and the store agree on what is over. */
  static async on(files: Readonly<Record<string, string>> = {}, opens?: Open): Promise<MirrorStage> {
    const ground = new Ground(files);
    const clock: Clock = {
      ...systemClock,
      now_ms: () => ground.now_ms,
      elapsed_ms: () => ground.now_ms,
    };
    const coxswain = await (opens ?? inMemory)({
      cwd: ground.top,
      ...(opens === undefined ? { clock } : {}),
    });
    return new MirrorStage(ground, coxswain, opens === undefined);
  }

  mirror(): PassMirror {
    const { root, settings } = this.ground;
    return new PassMirror({ root, settings, actor: PASSES, open: async () => this.coxswain });
  }

  /** All of a pass with a store. */
  async pass(): Promise<PassMirror> {
    const mirror = this.mirror();
    await mirror.take();
    await mirror.show(await this.ground.pass());
    return mirror;
  }

  async call(name: string, input: JsonObject = {}, agent_id = 'ann'): Promise<JsonObject> {
    const operation = operationsByName.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return await this.coxswain.connect({ agent_id, session_id: agent_id }).perform(operation, input);
  }

  async submit(task_description: string, more: JsonObject = {}): Promise<string> {
    const { task_id } = await this.call('submit_work', { task_type: 'docs', task_description, ...more });
    return task_id as string;
  }

  /** The record of a file, by its name. */
  async shown(id: string): Promise<JsonObject> {
    return await this.call('show_work', { task_id: filedTaskId('work', id) });
  }

  async rows(): Promise<LogEntry[]> {
    const found: LogEntry[] = [];
    for (;;) {
      const { entries } = await this.coxswain.store.read(
        this.coxswain.project,
        found.at(-1)?.position ?? 0,
        1000,
      );
      if (entries.length === 0) return found;
      found.push(...entries);
    }
  }

  async events(): Promise<EventBody[]> {
    return (await this.rows()).flatMap(({ events }) => events);
  }

  /** What replay says otherwise than the store. */
  async differences(): Promise<readonly unknown[]> {
    const { store, project } = this.coxswain;
    return await compareWithLive(store, entities, project, await replay(store, entities, project));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#own) await this.coxswain.close();
    this.ground[Symbol.dispose]();
  }
}
