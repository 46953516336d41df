import { pid } from 'node:process';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, refusalCode, StoreFailure } from '../../../kernel/refusal.ts';
import type { Connection } from '../../../runtime/coordinator.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import type { AgentConfig } from '../files/agent-config.ts';
import { deliverArtefact, returnGrant, takeGrant } from '../operations/grant-operations.ts';
import { runIdOf } from '../take-grant.ts';
import type { OpenGrant } from './board-look.ts';
import type { Delivery, Execution, GrantAssignment, ToolFailure } from './execution-port.ts';
import type { BoardNews } from './news.ts';
import { changedFiles } from './process/agent-workspace.ts';
import { adoptExecution, type Runtime, startExecution } from './process/process-execution.ts';
import type { Places } from './process/run-files.ts';
import { forgetRun } from './process/sweep.ts';
import type { RunLocks } from './run-locks.ts';

/** How soon an unavailable store is asked again. */
const AWAY_MS = 500;

/** Not the agent's fault: the next process that takes the grant starts it anew. */
const STOPPED = 'The orchestrator was stopped.';

export interface RunContext {
  readonly coxswain: Coxswain;
  readonly places: Places;
  readonly host: string;
  readonly locks: RunLocks;
  runtimeOf(agent: AgentConfig): Runtime | undefined;
  tell(what: BoardNews['what'], run: GrantRun, text: string): void;
}

export function runOf({ claim, agent_id, grant }: OpenGrant): string {
  return runIdOf(claim.id, agent_id, grant.attempt);
}

type Holding = 'queued' | 'preparing' | 'working';

/** One grant that this process handles, from the queue to the delivery. */
export class GrantRun {
  readonly agent: AgentConfig;
  readonly grant: OpenGrant;
  readonly run_id: string;
  readonly worker: string;
  readonly #context: RunContext;
  readonly #connection: Connection;
  readonly #over = new AbortController();
  #execution: Execution | undefined;
  #holding: Holding | undefined;
  #cancelled: string | undefined;
  #busy = false;
  /** The files it changed in its own tree. They stay locked for it until the phase is over. */
  #changed: readonly string[] = [];

  constructor(context: RunContext, connection: Connection, agent: AgentConfig, grant: OpenGrant) {
    this.#context = context;
    this.#connection = connection;
    this.agent = agent;
    this.grant = grant;
    this.run_id = runOf(grant);
    // The end of the id: its beginning is only the time, the same for all claims of a minute.
    const short = grant.claim.id.slice(-8);
    this.worker = agent.workers ? `${agent.role}-${short}-${grant.grant.attempt}` : agent.agent_id;
  }

  get claim_id(): string {
    return this.grant.claim.id;
  }

  /** Started, or about to start: it takes up one of its agent's slots. */
  get isWorking(): boolean {
    return this.#busy;
  }

  /** Ours, working or waiting for its turn. */
  get isHeld(): boolean {
    return this.#holding !== undefined && !this.#over.signal.aborted;
  }

  /** Waits for its turn in this process. Its time does not run meanwhile. */
  async queue(): Promise<boolean> {
    const isNew = this.#holding === undefined;
    const taken = await this.#take('queued');
    if (taken !== undefined && isNew) this.#context.tell('queued', this, 'waits for its turn');
    return taken !== undefined;
  }

  /** True: it is ours, and `work` continues with it. */
  async begin(instead_of?: string): Promise<boolean> {
    const waits = (this.agent.files ?? []).length > 0;
    this.#busy = true;
    try {
      this.#busy = (await this.#take(waits ? 'preparing' : 'working', instead_of)) !== undefined;
    } catch (error) {
      this.#busy = false;
      throw error;
    }
    return this.#busy;
  }

  /** Called regularly as long as it is ours. */
  async renew(): Promise<void> {
    if (this.#holding !== undefined) await this.#take(this.#holding);
  }

  cancel(reason: string): void {
    this.#cancelled ??= reason;
    this.#over.abort();
    this.#execution?.cancel(reason);
  }

  /** Ends it here without a result: the next process that takes the grant starts it anew. */
  async stop(): Promise<void> {
    this.cancel(STOPPED);
    await this.#execution?.delivered;
    if (this.#holding === undefined) return;
    await forgetRun(this.run_id, this.#context.places).catch(() => {});
    await this.#connection.perform(returnGrant, { claim_id: this.claim_id }).catch(() => {});
    this.#holding = undefined;
  }

  /** Runs until its result is on the board, or the grant is no longer ours. Never throws. */
  async work(): Promise<void> {
    try {
      const delivery = (await this.#prepared()) ?? (await this.#executed());
      if (delivery !== undefined) await this.#deliver(await this.#held(delivery));
    } catch (error) {
      if (!this.#over.signal.aborted) this.#context.tell('warning', this, String(error));
    } finally {
      await this.#context.locks.keepOnly(this.run_id, this.#changed).catch(() => {});
      this.#over.abort();
      this.#busy = false;
    }
  }

  async #take(holding: Holding, instead_of?: string): Promise<JsonObject | undefined> {
    const { host } = this.#context;
    const input = {
      claim_id: this.claim_id,
      host,
      pid,
      queued: holding === 'queued',
      preparing: holding === 'preparing',
      instead_of,
    };
    const answer = await this.#connection.performBuilt(takeGrant, input);
    if (!isRefusal(answer)) {
      this.#holding = holding;
      return answer;
    }
    // Another process has it by now, or the claim went on without it.
    this.#holding = undefined;
    const code = refusalCode(answer);
    if (code === 'grant_taken' || code === 'not_granted') this.cancel(String(answer.message));
    else this.#context.tell('warning', this, String(answer.message));
    return undefined;
  }

  /** Waits until its files are locked for it, or answers why it can't have them. */
  async #prepared(): Promise<Delivery | undefined> {
    const files = this.agent.files ?? [];
    if (files.length === 0) return undefined;
    const { locks } = this.#context;
    const refusal = await locks.acquire(
      this.#named(),
      files,
      limits.wait_seconds_max * 1000,
      this.#over.signal,
    );
    return refusal === undefined ? undefined : failure('Its files are not free.', String(refusal.message));
  }

  #named() {
    const { run_id, claim_id, worker } = this;
    return { run_id, claim_id, worker, phase: this.grant.grant.phase };
  }

  async #executed(): Promise<Delivery | undefined> {
    if (this.#over.signal.aborted) return undefined;
    const begun = await this.#take('working');
    if (begun === undefined || this.#over.signal.aborted) return undefined;
    const assignment = this.#assignment(begun);
    const delivery = this.#explained(await this.#execute(assignment), assignment);
    if (this.#over.signal.aborted) {
      this.#context.tell('cancelled', this, this.#cancelled ?? 'cancelled');
      return undefined;
    }
    return delivery;
  }

  async #execute(assignment: GrantAssignment): Promise<Delivery> {
    const { places, tell } = this.#context;
    const runtime = this.#context.runtimeOf(this.agent);
    const adopted = adoptExecution(assignment, places, runtime);
    if (adopted !== undefined) {
      this.#execution = adopted;
      tell('adopted', this, 'goes on with what was begun before');
      const delivery = await adopted.delivered;
      if (delivery.ok || delivery.failure.reason !== STOPPED || this.#over.signal.aborted) return delivery;
      await forgetRun(this.run_id, places);
    }
    tell('started', this, `attempt ${assignment.attempt}`);
    this.#execution = startExecution(assignment, places, runtime);
    return await this.#execution.delivered;
  }

  #explained(delivery: Delivery, assignment: GrantAssignment): Delivery {
    const explain = this.#context.runtimeOf(this.agent)?.explain;
    if (delivery.ok || explain === undefined) return delivery;
    return { ok: false, failure: explain(delivery.failure, assignment) };
  }

  #assignment(begun: JsonObject): GrantAssignment {
    const { phase, attempt } = this.grant.grant;
    const { claim_type, target_artefact, context_chain, co_workers, rework, deadline } = begun;
    const left_ms = Date.parse(deadline as string) - this.#context.coxswain.clock.now_ms();
    return {
      claim_id: this.claim_id,
      phase,
      attempt,
      run_id: this.run_id,
      worker: this.worker,
      agent: this.agent,
      input: {
        claim_type,
        target_artefact,
        context_chain,
        claim_id: this.claim_id,
        attempt,
        rework,
        co_workers,
      },
      limit_ms: Math.max(1, Math.min(left_ms, Number(begun.limit_ms))),
    };
  }

  /** Checks what it changed against all locks before the result counts. */
  async #held(delivery: Delivery): Promise<Delivery> {
    if (!delivery.ok || this.agent.program?.workspace !== 'rw') return delivery;
    const { places, locks } = this.#context;
    const files = await changedFiles(this.run_id, places);
    if (files === undefined || files.length === 0) return delivery;
    const refusal = await locks.acquire(this.#named(), files, 0, this.#over.signal);
    if (refusal === undefined) {
      this.#changed = files;
      return delivery;
    }
    const where = `What it made is kept as refs/cox/runs/${this.run_id}.`;
    return failure('It changed files that others hold.', `${refusal.message} ${where}`);
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { places, tell } = this.#context;
    const contents = contentsOf(delivery);
    const { claim_id } = this;
    const { attempt } = this.grant.grant;
    // The same for every retry, so that a lost answer is given again.
    const input = { claim_id, attempt, operation_id: `run-${this.run_id}`, ...contents };
    const answer = await this.#untilAnswered(input);
    if (answer === undefined) return;
    this.#holding = undefined;
    if (isRefusal(answer)) tell('warning', this, String(answer.message));
    else if (contents.structural_type === 'Failure') tell('failed', this, contents.summary);
    else tell('delivered', this, contents.summary);
    await forgetRun(this.run_id, places).catch(() => {});
  }

  async #untilAnswered(input: JsonObject): Promise<JsonObject | undefined> {
    const { clock } = this.#context.coxswain;
    while (!this.#over.signal.aborted) {
      try {
        return await this.#connection.perform(deliverArtefact, input);
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error;
        await clock.sleep(AWAY_MS, this.#over.signal).catch(() => {});
      }
    }
    return undefined;
  }
}

function failure(reason: string, error: string): Delivery {
  return { ok: false, failure: { reason, exit_code: null, stdout: '', stderr: '', error } };
}

interface Contents {
  readonly type: string;
  readonly payload: string;
  readonly summary: string;
  readonly structural_type?: string | undefined;
}

function contentsOf(delivery: Delivery): Contents {
  if (!delivery.ok) return failureContents(delivery.failure);
  const { artefact_type, artefact_payload, summary, structural_type } = delivery;
  const most = limits.artefact_payload_bytes_max;
  if (Buffer.byteLength(artefact_payload) > most) {
    const error = `Its payload has more than ${most} bytes; large results belong in a commit or a file.`;
    return failureContents({
      reason: 'Its result is too large.',
      exit_code: 0,
      stdout: '',
      stderr: '',
      error,
    });
  }
  return {
    type: artefact_type,
    payload: artefact_payload,
    summary: summary.slice(0, limits.reason_chars_max).toWellFormed(),
    structural_type,
  };
}

function failureContents(payload: ToolFailure): Contents {
  return {
    type: 'ToolExecutionFailure',
    payload: JSON.stringify(payload),
    summary: payload.reason.slice(0, limits.reason_chars_max).toWellFormed(),
    structural_type: 'Failure',
  };
}
