import type { Readable, Writable } from 'node:stream';
import { HELPER_STDIO } from '../../child-process/read-only-view.ts';
import { readOnlyViewSupport } from '../../child-process/view-support.ts';
import { sendMessage } from '../../features/mail/operations.ts';
import { registerSession } from '../../features/sessions/operations.ts';
import { open } from '../../index.ts';
import { isRefusal } from '../../kernel/refusal.ts';
import type { Actor } from '../../ledger/log.ts';
import { refusalOf } from '../../runtime/answer.ts';
import { maintain } from '../../runtime/background-maintenance.ts';
import type { Connection } from '../../runtime/coordinator.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { findConflict } from '../git/git-check.ts';
import type { LockPolicy } from '../shared/enforcement-policy.ts';
import { describeHeld, type HeldFile } from '../shared/held-by-others.ts';
import { Neighbours } from '../shared/neighbours.ts';
import { inTheWayOfGit } from './git-in-advance.ts';
import { HeldView } from './held-view.ts';
import { leave } from './leaving.ts';
import { LockKeeper, RENEW_MS } from './lock-keeper.ts';
import { type Child, canStart, startChild } from './run-child.ts';
import { type Commit, commitsSince, countMoves } from './run-commits.ts';
import { Watching } from './watching.ts';

export interface Run {
  readonly command: readonly string[];
  /** What it is called. */
  readonly name: string;
  readonly actor: Actor;
  readonly capabilities: readonly string[];
  readonly policy: LockPolicy;
  readonly place: { readonly store: string | undefined; readonly project: string; readonly cwd: string };
  /** Of the process that started this one, and what the command gets on top of it. */
  readonly env: NodeJS.ProcessEnv;
  readonly added: Readonly<Record<string, string>>;
  /** Whether the kernel keeps what others hold read-only: where it can, always or never. */
  readonly protect: Protect;
  say(text: string): void;
}

export const PROTECT = ['auto', 'require', 'off'] as const;
export type Protect = (typeof PROTECT)[number];

/** The exit code if locks are required and the store can not be asked. */
const NO_STORE_CODE = 4;
const REFUSED_CODE = 1;
/** The exit code if protection is required and not to be had. */
const NO_PROTECTION_CODE = 2;

/** Runs a command that knows nothing of us as an agent: with a session, locks as its files change, and an orderly end. */
export async function runAgent(run: Run): Promise<number> {
  let coxswain: Coxswain;
  try {
    coxswain = await open({ ...run.place, env: run.env, sits: true });
  } catch (error) {
    return await withoutStore(run, String(refusalOf(error).message));
  }
  try {
    if (await isObjectedTo(run, coxswain)) return REFUSED_CODE;
    const connection = coxswain.connect(run.actor, 'operator', {
      capabilities: run.capabilities,
      door: 'cli',
    });
    // Its arguments may hold keys: they are not recorded.
    const registered = await connection.perform(registerSession, { current_task: run.name });
    if (isRefusal(registered)) return await withoutStore(run, String(registered.message));
    return await new Agent(run, coxswain, connection).work();
  } finally {
    await coxswain.close();
  }
}

/** What git can't tell in advance is left to the kernel and to what is noticed afterwards. */
async function isObjectedTo({ command, policy, say, ...run }: Run, coxswain: Coxswain): Promise<boolean> {
  const context = { ...run, coxswain, cwd: run.place.cwd };
  const problem = await inTheWayOfGit(command, context).catch(() => undefined);
  if (problem === undefined) return false;
  say(policy === 'warn' ? problem : `${run.name} was not started: ${problem}`);
  return policy !== 'warn';
}

async function withoutStore(run: Run, why: string): Promise<number> {
  if (run.policy === 'require') {
    run.say(`locks are required and there is no store, so ${run.name} was not started: ${why}`);
    return NO_STORE_CODE;
  }
  run.say(`${run.name} runs without locks: ${why}`);
  const child = start(run);
  const code = await child.ended;
  child.letGo();
  return code;
}

function start({ command, place, env, added, say }: Run, view?: HeldView): Child {
  const options = { cwd: place.cwd, env: { ...env, ...added } };
  // A program that is not there is told of as without a view.
  if (view === undefined || !canStart(command, options)) return startChild(command, options, say);
  const child = startChild(view.around(command, options), { ...options, besides: HELPER_STDIO }, say);
  const [input, output] = child.handles;
  if (child.pid !== undefined) view.follow(child.pid, input as Writable, output as Readable);
  return child;
}

class Agent {
  readonly #run: Run;
  readonly #coxswain: Coxswain;
  readonly #connection: Connection;
  readonly #keeper: LockKeeper;
  readonly #over = new AbortController();
  readonly #neighbours: Neighbours;
  readonly #metNeighbours = new Set<string>();
  /** Whom we have written to, and of what. */
  readonly #written = new Set<string>();
  #child: Child | undefined;
  #stopped = false;

  constructor(run: Run, coxswain: Coxswain, connection: Connection) {
    this.#run = run;
    this.#coxswain = coxswain;
    this.#connection = connection;
    this.#neighbours = new Neighbours(coxswain, new Set([run.actor.session_id, run.env.SESSION_ID ?? '']));
    this.#keeper = new LockKeeper(connection, coxswain.workspace, run.policy, {
      conflict: (held) => this.#conflict(held),
      trouble: (message) => run.say(message),
    });
  }

  async work(): Promise<number> {
    const { workspace, clock } = this.#coxswain;
    const call = { cwd: workspace.root, env: this.#run.env };
    const [started_ms, started_at_ms] = [clock.elapsed_ms(), clock.now_ms()];
    const view = await this.#protection();
    if (view === 'missing') return NO_PROTECTION_CODE;
    const moves = await countMoves(call);
    const watching = await Watching.start(this.#coxswain, this.#run.env, (paths) => this.#noticed(paths));
    if (watching.unanswered !== undefined)
      this.#run.say(
        `git does not say which files it ignores (${watching.unanswered}): every file that changes is locked.`,
      );
    const tending = maintain(this.#coxswain, () => [this.#connection]);
    this.#renew().catch(() => {});
    const child = start(this.#run, view);
    this.#child = child;
    const exit_code = await child.ended;
    view?.close();
    this.#over.abort();
    tending.stop();
    await watching.stop();
    const minutes = Math.round((clock.elapsed_ms() - started_ms) / 60_000);
    const commits = await commitsSince(moves, call).catch(() => []);
    for (const commit of commits) await this.#committed(commit, started_at_ms).catch(() => {});
    const { name } = this.#run;
    await leave(this.#connection, workspace, {
      name,
      exit_code,
      minutes,
      commits,
      changed: this.#keeper.changed,
    });
    child.letGo();
    return this.#stopped && exit_code === 0 ? REFUSED_CODE : exit_code;
  }

  /** Undefined: it runs without, as the policy or the system will have it. */
  async #protection(): Promise<HeldView | 'missing' | undefined> {
    const { name, policy, protect, actor, env, say } = this.#run;
    if (protect === 'off' || policy === 'warn') return undefined;
    const support = await readOnlyViewSupport();
    if (support.isThere) {
      const { confinement } = support;
      const { agent_id } = actor;
      return await HeldView.create({ coxswain: this.#coxswain, agent_id, env, confinement, trouble: say });
    }
    if (protect === 'auto') return undefined;
    say(
      `${name} was not started, because the kernel can't keep held files read-only here: ${support.why}. ${support.remedy}`,
    );
    return 'missing';
  }

  async #renew(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#coxswain.clock.sleep(RENEW_MS, this.#over.signal);
      await this.#keeper.renew();
    }
  }

  /** With a neighbour in the same work tree the author of a change is unknown, and a wrong lock would keep that agent from its file. */
  async #noticed(paths: readonly string[]): Promise<void> {
    const neighbours = await this.#neighbours.here();
    if (neighbours.length === 0) return await this.#keeper.noticed(paths);
    for (const { agent_id: name } of neighbours) {
      if (this.#metNeighbours.has(name)) continue;
      this.#metNeighbours.add(name);
      this.#run.say(
        `${name} works in this folder too, and nobody can tell whose change is whose: no locks are taken. Give each agent a worktree of its own (git worktree add).`,
      );
    }
  }

  async #conflict(held: readonly HeldFile[]): Promise<void> {
    const { name, policy, say } = this.#run;
    const lines = describeHeld(held, this.#coxswain.clock.now_ms());
    say(`${name} has changed what others hold:\n${lines}`);
    if (policy === 'warn') return;
    await this.#write(held);
    if (policy !== 'require' || this.#stopped) return;
    this.#stopped = true;
    say(`${name} is stopped, as locks are required. Its changes are still in the work tree.`);
    this.#child?.stop();
  }

  /** The checks can be gone past (`git commit --no-verify`), and so quickly that the file was never seen to differ. */
  async #committed({ sha, files, at_ms }: Commit, started_at_ms: number): Promise<void> {
    // It may be a neighbour's.
    if (this.#metNeighbours.size > 0 || (await this.#neighbours.here()).length > 0) return;
    const { name, actor, policy, place, env, added, say } = this.#run;
    // A commit may give itself an earlier date, but was not made before we began.
    const where = { ...place, env: { ...env, ...added }, at_ms: Math.max(at_ms, started_at_ms) };
    const found = await findConflict(where, actor, async () => files);
    if (found === undefined) return;
    const lines = describeHeld(found.held, found.now_ms);
    say(`${name} has committed what others hold (${sha.slice(0, 12)}), past the check of commits:\n${lines}`);
    if (policy === 'warn') return;
    if (policy === 'require') this.#stopped = true;
    await this.#write(found.held, 'committed');
  }

  async #write(held: readonly HeldFile[], done: 'changed' | 'committed' = 'changed'): Promise<void> {
    const { workspace } = this.#coxswain;
    const after =
      done === 'changed'
        ? 'It works without hooks and could not be kept from it; expect a conflict when it commits.'
        : 'It has gone past the check of commits; expect a conflict.';
    for (const { held_by, path } of held) {
      const letterOf = `${done} ${held_by}`;
      if (this.#written.has(letterOf)) continue;
      this.#written.add(letterOf);
      const body = `${this.#run.name} has ${done} ${path}, which you hold, in its work tree ${workspace.root}. ${after}`;
      const letter = { to: [held_by], subject: `${path} was ${done}`.slice(0, 200), body };
      await this.#connection.perform(sendMessage, letter);
    }
  }
}
