import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, type Refusal } from '../../../kernel/refusal.ts';
import type { Connection } from '../../../runtime/coordinator.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { acquireLock, releaseLock } from '../../locks/index.ts';
import { type BoardClaimState, boardClaimKey } from '../board-claim.ts';
import type { Phase } from '../board-settings.ts';

const TTL_MINUTES = 60;

interface Held {
  readonly connection: Connection;
  readonly claim_id: string;
  readonly phase: Phase;
  readonly files: Set<string>;
}

/**
 * Locks for the agents on the board: the same locks as for all other agents. What an agent has declared is
 * locked while it works, so that agents with the same files take turns. What it has changed in its own tree
 * stays locked until the phase is over, since the changes of its co-workers have to fit together with it.
 */
export class RunLocks {
  readonly #coxswain: Coxswain;
  readonly #held = new Map<string, Held>();

  constructor(coxswain: Coxswain) {
    this.#coxswain = coxswain;
  }

  /** Undefined: they are locked now. Otherwise the reason why not. */
  async acquire(
    run: {
      readonly run_id: string;
      readonly claim_id: string;
      readonly phase: Phase;
      readonly worker: string;
    },
    files: readonly string[],
    wait_ms: number,
    signal: AbortSignal,
  ): Promise<Refusal | undefined> {
    const { run_id, claim_id, phase, worker } = run;
    const held = this.#held.get(run_id) ?? {
      connection: this.#coxswain.connect({ agent_id: worker, agent_type: 'board' }),
      claim_id,
      phase,
      files: new Set<string>(),
    };
    this.#held.set(run_id, held);
    for (let start = 0; start < files.length; start += limits.paths_per_call) {
      const file_paths = files.slice(start, start + limits.paths_per_call);
      const input: JsonObject = {
        file_paths,
        reason: `${phase} of claim ${claim_id}`,
        ttl_minutes: TTL_MINUTES,
      };
      if (wait_ms > 0) input.wait_seconds = Math.min(wait_ms / 1000, limits.wait_seconds_max);
      const answer = await held.connection.perform(acquireLock, input, { signal });
      if (isRefusal(answer)) return answer;
      for (const file of file_paths) held.files.add(file);
    }
    return undefined;
  }

  /** It no longer works: only these files stay locked. */
  async keepOnly(run_id: string, files: readonly string[]): Promise<void> {
    const held = this.#held.get(run_id);
    if (held === undefined) return;
    const kept = new Set(files);
    await this.#let(
      held,
      [...held.files].filter((file) => !kept.has(file)),
    );
    if (held.files.size === 0) this.#held.delete(run_id);
  }

  /** Releases the locks of runs whose phase is over. A lock that can't be released now expires. */
  async releaseEnded(): Promise<void> {
    if (this.#held.size === 0) return;
    const { store, project } = this.#coxswain;
    const ids = [...new Set([...this.#held.values()].map(({ claim_id }) => claim_id))];
    const keys = ids.slice(0, limits.entities_per_commit).map(boardClaimKey);
    const { loaded } = await store.find(project, { keys });
    for (const [run_id, { claim_id, phase }] of [...this.#held]) {
      const key = boardClaimKey(claim_id);
      if (!loaded.hasKey(key)) continue;
      if (loaded.get<BoardClaimState>(key)?.state.phase !== phase) await this.keepOnly(run_id, []);
    }
  }

  async #let({ connection, files }: Held, given: readonly string[]): Promise<void> {
    for (let start = 0; start < given.length; start += limits.paths_per_call) {
      const file_paths = given.slice(start, start + limits.paths_per_call);
      for (const file of file_paths) files.delete(file);
      await connection.perform(releaseLock, { file_paths }).catch(() => {});
    }
  }

  async releaseAll(): Promise<void> {
    for (const run_id of [...this.#held.keys()]) await this.keepOnly(run_id, []);
  }

  get connections(): readonly Connection[] {
    return [...this.#held.values()].map(({ connection }) => connection);
  }
}
