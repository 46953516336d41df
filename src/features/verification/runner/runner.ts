import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { answerOf, type Decision } from '../../../ledger/decision.ts';
import type { Caller } from '../../../ledger/lease.ts';
import type { Connection } from '../../../runtime/coordinator.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import type { InternalCommand } from '../../../runtime/operation.ts';
import { type Changeset, unwitnessed } from '../../changesets/index.ts';
import { rulesFor, type StepRules } from '../../trust/rules/index.ts';
import { dispatchRun, finishRun, renewRun, routeChangeset, startRun } from '../commands.ts';
import type { ExecutorName, VerificationPolicy } from '../verification-policy.ts';
import { openRuns, type RunResult, type RunState, takeable } from '../verification-run.ts';
import { type Executor, failedToRun, type VerificationJob } from './executor.ts';
import { filesOfCommit } from './verified-files.ts';

const LOOKED_AT_MAX = 100;
/** A webhook may take its time; so long after the run's own time it is given up. */
const REPORT_MS = 15 * 60_000;

export interface RunnerOptions {
  readonly coxswain: Coxswain;
  readonly connection: Connection;
  readonly executors: readonly Executor[];
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly lease_ms?: number | undefined;
}

interface Candidate {
  readonly id: string;
  readonly state: RunState;
}

/** Takes runs that wait, has them done, and puts down what came of them. Any number may work side by side. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #unseen = new Set<string>();
  readonly #ready = new Map<ExecutorName, Promise<string | undefined>>();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** One run, if there is one that this runner can do. Answers what came of it. */
  async runNext(
    signal: AbortSignal,
    wanted: ReadonlySet<string> | undefined = undefined,
  ): Promise<JsonObject | undefined> {
    for (const candidate of await this.#candidates(wanted)) {
      const executor = await this.#executorFor(candidate.state.policy);
      if (executor === undefined) continue;
      const answer = await this.#take(candidate, executor, signal);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  async #candidates(wanted: ReadonlySet<string> | undefined): Promise<Candidate[]> {
    const { store, project } = this.#options.coxswain;
    const range = openRuns(LOOKED_AT_MAX);
    const { loaded, now_ms } = await store.find(project, { ranges: [range] });
    return loaded
      .list<RunState>(range)
      .filter(({ id, state }) => takeable(state, now_ms) && (wanted?.has(id) ?? true));
  }

  /**
   * Which files a commit changes is git's to say: what an agent left out of its list is routed too. A server without the
   * repository can't tell; then the agent's word stands, and the status says whose it is.
   */
  async witness(): Promise<void> {
    const { coxswain, root, env } = this.#options;
    const range = unwitnessed(LOOKED_AT_MAX);
    const { loaded } = await coxswain.store.find(coxswain.project, { ranges: [range] });
    for (const { id: changeset_id, state } of loaded.list<Changeset>(range)) {
      if (state.routed === undefined || this.#unseen.has(changeset_id)) continue;
      const { commit_sha } = state.routed;
      const seen = await filesOfCommit(commit_sha, state.base_sha, { root, env }).catch(() => undefined);
      // Once is enough: a commit that is not here does not come by being looked for.
      if (seen === undefined) this.#unseen.add(changeset_id);
      else
        await this.#commit('route_changeset', ({ default_trust }) =>
          routeChangeset({ changeset_id, commit_sha, seen, is_person: false, default_trust }),
        );
    }
  }

  /** The policy's own, or what it says instead where that is not set up. */
  async #executorFor({ executor, fallback }: VerificationPolicy): Promise<Executor | undefined> {
    for (const name of [executor, fallback]) {
      const found = this.#options.executors.find((each) => each.name === name);
      if (found !== undefined && (await this.#missing(found)) === undefined) return found;
    }
    return undefined;
  }

  #missing(executor: Executor): Promise<string | undefined> {
    const known = this.#ready.get(executor.name) ?? executor.missing(this.#options.env);
    this.#ready.set(executor.name, known);
    return known;
  }

  /** Which of these wait still, and what this runner lacks for them. */
  async leftOver(wanted: ReadonlySet<string>): Promise<string[]> {
    const waiting = await this.#candidates(wanted);
    return await Promise.all(
      waiting.map(async ({ state: { policy } }) => `${policy.name} waits: ${await this.#explain(policy)}.`),
    );
  }

  async #explain({ executor, fallback }: VerificationPolicy): Promise<string> {
    const reasons: string[] = [];
    for (const name of [executor, fallback]) {
      if (name === undefined) continue;
      const found = this.#options.executors.find((each) => each.name === name);
      const missing = found === undefined ? 'a runner that has it' : await this.#missing(found);
      if (missing !== undefined) reasons.push(`${name} needs ${missing}`);
    }
    return reasons.join('; ');
  }

  async #take(
    { id, state }: Candidate,
    executor: Executor,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    const { connection, root, env } = this.#options;
    const caller = connection.actor;
    const ttl_ms = this.#options.lease_ms ?? limits.verification_lease_ms;
    const start = { run_id: id, caller, executor: executor.name, ttl_ms };
    const started = await this.#commit('start_run', startRun(start));
    if (started.success === false) return undefined;
    if (started.started !== true) return started;
    const mine = { ...caller, token: started.fencing_token as number };
    const job: VerificationJob = {
      run_id: id,
      commit_sha: state.commit_sha,
      policy: state.policy,
      root,
      env,
    };
    const keeping = this.#keep(id, mine, ttl_ms, signal);
    try {
      const done = await executor.run(job, keeping.signal).catch((error: unknown) => {
        if (keeping.signal.aborted) throw error;
        return failedToRun(error);
      });
      if (done.status === 'dispatched') {
        const reported_ms = state.policy.timeout_seconds * 1000 + REPORT_MS;
        return await this.#commit('dispatch_run', dispatchRun(id, mine, done.external, reported_ms));
      }
      const result: RunResult = { ...done, executor: executor.name };
      return await this.#commit('finish_run', finishRun(id, mine, result));
    } catch (error) {
      if (!keeping.signal.aborted) throw error;
      // Stopped or taken over: the next runner begins anew once the lease is over.
      return undefined;
    } finally {
      keeping.stop();
    }
  }

  /** Says again and again that the run is being worked on; when another one has it, the work is stopped. */
  #keep(id: string, mine: Caller, ttl_ms: number, signal: AbortSignal) {
    const stopping = new AbortController();
    const lost = new AbortController();
    const keep = async () => {
      const { clock } = this.#options.coxswain;
      while (!stopping.signal.aborted) {
        await clock.sleep(ttl_ms / 3, stopping.signal);
        const answer = await this.#commit('renew_run', renewRun(id, mine, ttl_ms)).catch(() => undefined);
        if (answer?.success === false && answer.error === 'superseded') lost.abort();
      }
    };
    keep().catch(() => {});
    return { signal: AbortSignal.any([signal, lost.signal]), stop: () => stopping.abort() };
  }

  /** Through the one loop, so that the log says which runner did what. */
  async #commit(name: string, decision: Decided): Promise<JsonObject> {
    return await this.#options.connection.performBuilt(step(name, decision), {});
  }
}

/** What a runner decides, or how it follows from the rules it goes by. */
type Decided = Decision<JsonObject> | ((rules: StepRules) => Decision<JsonObject>);

function step(name: string, decision: Decided): InternalCommand {
  return {
    name,
    group: 'verification',
    mutates: true,
    handle: async (_input, given) =>
      answerOf(await given.run(typeof decision === 'function' ? decision(rulesFor(given)) : decision)),
  };
}
