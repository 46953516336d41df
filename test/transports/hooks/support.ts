import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { isRefusal } from '../../../src/kernel/refusal.ts';
import type { Coxswain } from '../../../src/runtime/coxswain.ts';
import { open } from '../../../src/runtime/open.ts';
import { ensureBundle } from '../../../src/transports/cli/init/bundle.ts';
import { ownPrograms } from '../../../src/transports/cli/init/wiring.ts';
import type { HookEvent } from '../../../src/transports/hooks/hook-call.ts';
import { nodeFlags } from '../../../src/transports/hooks/quick.ts';
import type { Client } from '../../../src/transports/shared/agent-clients.ts';
import { type Finished, finished } from '../support.ts';
import { editOf, payloadOf, responseOf } from './payloads.ts';
import { perform } from './perform.ts';

const BIN = fileURLToPath(new URL('../../../bin/cox', import.meta.url));
/** Sees everything and is no agent. */
const LOOKER = 'looker';
const MINUTE_MS = 60_000;

export const HOOK_PROGRAM = ownPrograms().hook;
const problem = ensureBundle();
if (problem !== undefined) throw new Error(problem);

export interface Asked {
  /** Instead of the client's payload; several come one after the other. */
  readonly stdin?: string | Buffer | readonly Buffer[];
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly flags?: readonly string[];
  /** Node's own, instead of those that `cox init` writes. */
  readonly nodeFlags?: readonly string[];
  /** From the sources instead of the bundle. */
  readonly unbundled?: boolean;
}

export interface Answered extends Finished {
  /** What stood on stdout; empty for nothing. */
  readonly answer: JsonObject;
  readonly denied: string | undefined;
  readonly context: string | undefined;
  readonly notice: string | undefined;
}

/** An agent's client, as far as its hooks see it: each hook is a process of its own. */
export class FakeAgent {
  readonly name: string;
  readonly client: Client;
  readonly cwd: string;
  readonly #stage: Stage;
  readonly #asked: Asked;

  constructor(stage: Stage, name: string, client: Client, asked: Asked) {
    this.#stage = stage;
    this.name = name;
    this.client = client;
    this.cwd = asked.cwd ?? stage.repo;
    this.#asked = asked;
  }

  async hook(event: HookEvent, payload: JsonObject = {}, asked: Asked = {}): Promise<Answered> {
    const { env, flags = [], unbundled, stdin, ...rest } = { ...this.#asked, ...asked };
    const bundle = [...(rest.nodeFlags ?? nodeFlags(event)), HOOK_PROGRAM];
    const program = unbundled === true ? [BIN, 'hook'] : bundle;
    const child = spawn(process.execPath, [...program, this.client, event, ...flags], {
      cwd: this.cwd,
      env: { ...this.#stage.env, AGENT_ID: this.name, SESSION_ID: `${this.name}-1`, ...env },
    });
    // A hook that answers before it has read everything closes the pipe.
    child.stdin.on('error', () => {});
    const end = finished(child);
    const pieces = stdin ?? JSON.stringify(payloadOf(this.client, event, this.cwd, payload));
    for (const piece of Array.isArray(pieces) ? pieces : [pieces]) {
      child.stdin.write(piece);
      await new Promise(setImmediate);
    }
    child.stdin.end();
    return answered(await end);
  }

  start(asked?: Asked): Promise<Answered> {
    return this.hook('session-start', {}, asked);
  }

  /** Before an edit of one file, as the client would make it. */
  edit(file: string, asked?: Asked): Promise<Answered> {
    return this.hook('before-tool', editOf(this.client, this.cwd, file), asked);
  }

  edited(file: string, asked?: Asked): Promise<Answered> {
    const payload = { ...editOf(this.client, this.cwd, file), ...responseOf(this.client) };
    return this.hook('after-tool', payload, asked);
  }

  shell(command: string, asked?: Asked): Promise<Answered> {
    return this.hook('before-tool', this.#call(command), asked);
  }

  /** After a command that `shell` has let through. */
  ran(command: string, payload: JsonObject = {}, asked?: Asked): Promise<Answered> {
    return this.hook('after-tool', { ...this.#call(command), ...responseOf(this.client), ...payload }, asked);
  }

  #call(command: string): JsonObject {
    const tool_name = this.client === 'gemini-cli' ? 'run_shell_command' : 'Bash';
    return { tool_name, tool_input: { command } };
  }
}

export function answered(run: Finished): Answered {
  const answer = (run.out === '' ? {} : JSON.parse(run.out)) as JsonObject;
  const specific = (answer.hookSpecificOutput ?? {}) as JsonObject;
  const denied = answer.decision === 'deny' ? answer.reason : specific.permissionDecisionReason;
  return {
    ...run,
    answer,
    denied: denied as string | undefined,
    context: specific.additionalContext as string | undefined,
    notice: answer.systemMessage as string | undefined,
  };
}

export function git(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });
}

/** A repository with a few committed files, the store where it belongs, and the people around it. */
export class Stage {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'cox-hooks-')));
  readonly repo: string = join(this.folder, 'repo');
  readonly state: string = join(this.folder, 'state');
  readonly store: string = join(this.repo, '.git', 'coxswain', 'cox.db');
  readonly env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: join(this.folder, 'home'),
    COX_STATE_DIR: this.state,
  };
  readonly #opened: Coxswain[] = [];

  constructor() {
    mkdirSync(join(this.repo, 'src'), { recursive: true });
    mkdirSync(this.env.HOME ?? '');
    git(this.repo, 'init', '-q', '-b', 'main');
    for (const file of ['a.txt', 'b.txt', 'src/c.ts']) writeFileSync(join(this.repo, file), 'one\n');
    git(this.repo, 'add', '-A');
    git(this.repo, 'commit', '-q', '-m', 'first');
  }

  agent(name: string, client: Client = 'claude-code', asked: Asked = {}): FakeAgent {
    return new FakeAgent(this, name, client, asked);
  }

  /** The store as another process sees it; `ago_minutes` sets that one's clock back. */
  async open(ago_minutes = 0, presence?: 'off'): Promise<Coxswain> {
    const clock: Clock = {
      ...systemClock,
      now_ms: () => systemClock.now_ms() - ago_minutes * MINUTE_MS,
    };
    const coxswain = await open({ cwd: this.repo, env: this.env, clock, presence });
    this.#opened.push(coxswain);
    return coxswain;
  }

  /** What an agent asks for itself, as through its MCP server. */
  async ask(name: string, operation: string, input: JsonObject = {}, ago_minutes = 0): Promise<JsonObject> {
    const coxswain = await this.open(ago_minutes, name === LOOKER ? 'off' : undefined);
    const actor = { agent_id: name, agent_type: 'claude-code', session_id: `${name}-1` };
    const answer = await perform(coxswain.connect(actor), operation, input);
    if (isRefusal(answer)) throw new Error(`${operation}: ${answer.message}`);
    return answer;
  }

  /** Who holds what: `a.txt: alice (why)`. */
  async locks(): Promise<string[]> {
    const { locks } = await this.ask(LOOKER, 'check_locks');
    return (locks as JsonObject[]).map(
      ({ file_path, locked_by, reason }) => `${file_path}: ${locked_by} (${reason ?? ''})`,
    );
  }

  async handoffs(): Promise<JsonObject[]> {
    return (await this.ask(LOOKER, 'read_handoff', { limit: 20 })).handoffs as JsonObject[];
  }

  /** The files recorded for an agent, oldest first. */
  async changed(name: string): Promise<string[][]> {
    const answer = await this.ask(name, 'list_changesets', { of_session: `${name}-1`, limit: 50 });
    return (answer.changesets as JsonObject[]).map(({ files }) => files as string[]).reverse();
  }

  /** What the log has of an operation. */
  async rows(operation: string): Promise<JsonObject[]> {
    return (await this.ask(LOOKER, 'query_audit', { operation, limit: 100 })).entries as JsonObject[];
  }

  hookLog(): string {
    for (const folder of [join(this.repo, '.git', 'coxswain'), this.state])
      try {
        return readFileSync(join(folder, 'hooks.log'), 'utf8');
      } catch {
        // Then it is in the other one, or nowhere.
      }
    return '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const coxswain of this.#opened) await coxswain.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
