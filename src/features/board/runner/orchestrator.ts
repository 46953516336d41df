import { readProcess } from '../../../child-process/client-process.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, type Refusal, refusalCode, refuse, StoreFailure } from '../../../kernel/refusal.ts';
import { maintain } from '../../../runtime/background-maintenance.ts';
import { type Connection, HOUSEKEEPER } from '../../../runtime/coordinator.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { storeHints } from '../../../runtime/waiting.ts';
import { isBoardRow } from '../board-claim.ts';
import type { AgentConfig, BoardConfig } from '../files/agent-config.ts';
import { configureBoard } from '../operations/board-operations.ts';
import { placeBid } from '../operations/grant-operations.ts';
import { artefactOf, type BoardSeen, lookFor, type OpenGrant, wantedRuns } from './board-look.ts';
import { asContainer } from './container/runtime.ts';
import type { ContainerTool } from './container/tool.ts';
import { GrantRun, type RunContext, runOf } from './grant-run.ts';
import { machineName } from './machine-name.ts';
import type { BoardNews } from './news.ts';
import { BY_SCRIPT, runBidScript } from './process/bid-script.ts';
import type { Places } from './process/run-files.ts';
import { sweepRuns } from './process/sweep.ts';
import { boardInput } from './roster.ts';
import { RunLocks } from './run-locks.ts';
import { settleIfDue } from './settle-quietly.ts';

/** How often a process renews the grants it has taken: every third of the lease. */
const RENEW_MS = limits.grant_lease_ms / 3;
/** The board is looked at this often even without news: a hint may be lost. */
const LOOK_MS = 5_000;
/** How soon an unavailable store is asked again. */
const AWAY_MS = 500;
const BIDS_AT_ONCE = 4;

export interface OrchestratorOptions {
  readonly coxswain: Coxswain;
  readonly config: BoardConfig;
  readonly places: Places;
  readonly news: (news: BoardNews) => void;
  readonly signal: AbortSignal;
}

/**
 * Bids for agents that have a script, and runs the commands of agents that were granted something. The state
 * of the board is in the store and an agent's output is in its run's folder. So the orchestrator may be
 * killed at any moment, and any number of them may run.
 */
export async function startOrchestrator(
  options: OrchestratorOptions,
): Promise<{ readonly done: Promise<void> } | Refusal> {
  const tool = await containersFor(options);
  if (tool !== undefined && 'success' in tool) return tool;
  const orchestrator = new Orchestrator(options, tool);
  const refusal = await orchestrator.configure();
  return refusal ?? { done: orchestrator.work() };
}

/** A container tool is needed only if some agent runs in a container. Then it must be there. */
async function containersFor({
  config,
  coxswain,
  places,
}: OrchestratorOptions): Promise<ContainerTool | Refusal | undefined> {
  const boxed = config.agents.find(({ program }) => program?.runtime === 'container');
  if (boxed === undefined) return undefined;
  const { findContainerTool } = await import('./container/tool.ts');
  const tool = await findContainerTool(places.env);
  if ('missing' in tool) {
    const { file } = config;
    return refuse('board_invalid', `${file}: ${boxed.agent_id} runs in a container. ${tool.missing}`, {
      file,
    });
  }
  const { sweepContainers } = await import('./container/container-clean-up.ts');
  await sweepContainers(tool, places.runs, await wantedRuns(coxswain)).catch(() => []);
  return tool;
}

class Orchestrator {
  readonly #options: OrchestratorOptions;
  readonly #coxswain: Coxswain;
  readonly #agents: ReadonlyMap<string, AgentConfig>;
  /** Each agent acts under its own name. */
  readonly #connections = new Map<string, Connection>();
  readonly #housekeeper: Connection;
  readonly #context: RunContext;
  readonly #locks: RunLocks;
  /** By run. */
  readonly #runs = new Map<string, GrantRun>();
  readonly #bidding = new Map<string, Promise<void>>();
  /** Runs that have started and have not cleaned up after themselves. */
  readonly #begun = new Set<Promise<void>>();
  #stirred = Promise.withResolvers<void>();

  constructor(options: OrchestratorOptions, tool: ContainerTool | undefined) {
    const { coxswain, config, places } = options;
    const containers = tool === undefined ? undefined : asContainer(tool, coxswain.project, places);
    this.#options = options;
    this.#coxswain = coxswain;
    this.#agents = new Map(config.agents.map((agent) => [agent.agent_id, agent]));
    this.#housekeeper = coxswain.connect(HOUSEKEEPER, 'operator', { shows: 'never' });
    this.#locks = new RunLocks(coxswain);
    this.#context = {
      coxswain,
      places,
      host: machineName(),
      locks: this.#locks,
      runtimeOf: ({ program }) => (program?.runtime === 'container' ? containers : undefined),
      tell: (what, run, text) => this.#tell({ what, ...told(run), text }),
    };
  }

  /**
   * From here on, its agents are on the roster. They get the full time for their bids, also on artefacts that
   * came while no orchestrator ran.
   */
  async configure(): Promise<Refusal | undefined> {
    const { config } = this.#options;
    const answer = await this.#housekeeper.performBuilt(configureBoard, boardInput(config));
    if (isRefusal(answer)) return answer;
    const names = config.agents.map(({ agent_id }) => agent_id).join(', ');
    this.#tell({ what: 'up', text: `${config.file}: ${names}` });
    return undefined;
  }

  async work(): Promise<void> {
    const { store, clock, project } = this.#coxswain;
    const { signal } = this.#options;
    const { places } = this.#context;
    const hints = storeHints(store, clock, project, signal, isBoardRow);
    const tending = maintain(this.#coxswain, () => [
      ...this.#connections.values(),
      ...this.#locks.connections,
    ]);
    const renewing = this.#keepRenewing();
    let swept = false;
    try {
      while (!signal.aborted) {
        const next_ms = await this.#round().catch((error: unknown) => this.#away(error));
        if (!swept) await sweepRuns(places, () => wantedRuns(this.#coxswain)).catch(() => {});
        swept = true;
        await Promise.race([
          hints.next(clock.elapsed_ms() + Math.min(LOOK_MS, next_ms)),
          this.#stirred.promise,
        ]);
        this.#stirred = Promise.withResolvers<void>();
      }
    } finally {
      hints.close();
      await this.#stop();
      await renewing;
      tending.stop();
    }
  }

  #tell(news: Omit<BoardNews, 'at_ms'>): void {
    this.#options.news({ at_ms: this.#coxswain.clock.now_ms(), ...news });
  }

  #away(error: unknown): number {
    if (!(error instanceof StoreFailure)) throw error;
    this.#tell({ what: 'store', text: error.message });
    return AWAY_MS;
  }

  /**
   * One look at the board. Grants are taken before anything is declared late: their work may have been done
   * long ago.
   */
  async #round(): Promise<number> {
    const runnable = this.#named(({ program }) => program !== undefined);
    const asked = this.#named(({ bid_script }) => bid_script !== undefined);
    const seen = await lookFor(this.#coxswain, runnable, asked);
    this.#letGo(seen);
    await this.#schedule(seen);
    this.#bid(seen);
    await this.#locks.releaseEnded();
    return await settleIfDue(this.#coxswain, this.#housekeeper);
  }

  #named(which: (agent: AgentConfig) => boolean): string[] {
    return [...this.#agents.values()].filter(which).map(({ agent_id }) => agent_id);
  }

  /** The board no longer waits for a run that is not in the list. */
  #letGo({ grants, complete }: BoardSeen): void {
    if (!complete) return;
    const wanted = new Set(grants.map(runOf));
    for (const run of this.#runs.values())
      if (!wanted.has(run.run_id)) run.cancel('Nobody waits for it any more.');
    this.#forgetQueued();
  }

  /** Runs that are working remove themselves at their end. */
  #forgetQueued(): void {
    for (const run of this.#runs.values()) if (!run.isHeld && !run.isWorking) this.#runs.delete(run.run_id);
  }

  #runFor(open: OpenGrant): GrantRun | undefined {
    const agent = this.#agents.get(open.agent_id);
    if (agent === undefined) return undefined;
    const known = this.#runs.get(runOf(open));
    return known ?? new GrantRun(this.#context, this.#connection(open.agent_id), agent, open);
  }

  #connection(agent_id: string): Connection {
    const known = this.#connections.get(agent_id);
    if (known !== undefined) return known;
    const connection = this.#coxswain.connect({ agent_id, agent_type: 'board' });
    this.#connections.set(agent_id, connection);
    return connection;
  }

  async #schedule({ grants, now_ms }: BoardSeen): Promise<void> {
    for (const open of grants) {
      const run = this.#runFor(open);
      if (run === undefined || run.isWorking || this.#options.signal.aborted) continue;
      const { taken } = open.grant;
      const isOthers = taken !== undefined && taken.queued !== true && now_ms < taken.until_ms;
      const dead = isOthers && this.#isDead(taken) ? taken.session_id : undefined;
      if (isOthers && dead === undefined) continue;
      if (this.#handsOf(run.agent) > 0) await this.#begin(run, dead);
      else if (!this.#runs.has(run.run_id) && (await run.queue())) this.#runs.set(run.run_id, run);
    }
  }

  /**
   * This can be told only for a process on this machine. Processes on other machines count as dead after too
   * long a silence.
   */
  #isDead({ host, pid }: { host?: string | undefined; pid?: number | undefined }): boolean {
    return host === this.#context.host && pid !== undefined && readProcess(pid) === undefined;
  }

  #handsOf({ agent_id, max_concurrent }: AgentConfig): number {
    const busy = [...this.#runs.values()].filter((run) => run.agent.agent_id === agent_id && run.isWorking);
    return max_concurrent - busy.length;
  }

  async #begin(run: GrantRun, instead_of: string | undefined): Promise<void> {
    this.#runs.set(run.run_id, run);
    const isOurs = await run.begin(instead_of).catch((error: unknown) => {
      this.#runs.delete(run.run_id);
      throw error;
    });
    if (!isOurs) {
      this.#runs.delete(run.run_id);
      return;
    }
    const begun = run.work().finally(() => {
      this.#runs.delete(run.run_id);
      this.#begun.delete(begun);
      this.#stirred.resolve();
    });
    this.#begun.add(begun);
  }

  #bid({ bids }: BoardSeen): void {
    for (const { agent_id, claim } of bids) {
      const key = `${agent_id}\n${claim.id}`;
      if (this.#bidding.size >= BIDS_AT_ONCE || this.#bidding.has(key)) continue;
      const agent = this.#agents.get(agent_id);
      if (agent === undefined) continue;
      const bidding = this.#placeBid(agent, claim.id, claim.state.artefact_id)
        .catch(() => {})
        .finally(() => {
          this.#bidding.delete(key);
          this.#stirred.resolve();
        });
      this.#bidding.set(key, bidding);
    }
  }

  async #placeBid(agent: AgentConfig, claim_id: string, artefact_id: string): Promise<void> {
    const artefact = await artefactOf(this.#coxswain, artefact_id);
    if (artefact === undefined) return;
    const { bid, why } = await runBidScript(agent, artefact, this.#context.places);
    if (this.#options.signal.aborted) return;
    const { agent_id } = agent;
    const answer = await this.#connection(agent_id).performBuilt(placeBid, { claim_id, bid });
    const isLate = isRefusal(answer) && refusalCode(answer) === 'bidding_over';
    const text = isRefusal(answer) ? String(answer.message) : `${bid}: ${why}`;
    const isOdd = isRefusal(answer) ? !isLate : why !== BY_SCRIPT;
    this.#tell({ what: isOdd ? 'warning' : 'bid', agent_id, claim_id, text });
  }

  async #keepRenewing(): Promise<void> {
    const { clock } = this.#coxswain;
    const { signal } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(RENEW_MS, signal).catch(() => {});
      // While the store is unavailable, no other process can take over either.
      for (const run of [...this.#runs.values()]) if (!signal.aborted) await run.renew().catch(() => {});
      this.#forgetQueued();
    }
  }

  /** Leaves nothing running. Unfinished grants are returned, and the next orchestrator starts them anew. */
  async #stop(): Promise<void> {
    const runs = [...this.#runs.values()];
    await Promise.all(runs.map((run) => run.stop().catch(() => {})));
    await Promise.all([...this.#begun, ...this.#bidding.values()]);
    await this.#locks.releaseAll().catch(() => {});
  }
}

function told({ agent, claim_id, grant }: GrantRun): Omit<BoardNews, 'at_ms' | 'what' | 'text'> {
  const { artefact_id, artefact_type } = grant.claim.state;
  return { agent_id: agent.agent_id, claim_id, phase: grant.grant.phase, artefact_id, artefact_type };
}
