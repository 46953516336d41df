import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { type Command, Option } from 'commander';
import { open } from '../../../index.ts';
import { quickClock, systemClock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { quickRandom } from '../../../kernel/quick-random.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import type { Actor } from '../../../ledger/log.ts';
import { EXIT_CODES, invalid, refusalOf, verdictOf } from '../../../runtime/answer.ts';
import { anchored, chooseStore } from '../../../runtime/choose-store.ts';
import type { Showing } from '../../../runtime/coordinator-context.ts';
import type { Coxswain, OpenOptions } from '../../../runtime/coxswain.ts';
import {
  type Checked,
  checkIdentity,
  checkName,
  environmentCapabilities,
  environmentIdentity,
  environmentRole,
} from '../../shared/identity.ts';
import type { Field } from '../../shared/input-fields.ts';
import type { Done } from '../output/sentences.ts';
import { print, type Terminal } from '../output/terminal.ts';

export interface CommonOptions {
  readonly json?: boolean;
  readonly color?: boolean;
  readonly store?: string;
  readonly project?: string;
  readonly agent?: string;
  readonly agentType?: string;
  readonly session?: string;
}

const STORE_OPTIONS: readonly [string, string][] = [
  ['--json', 'Print exactly one JSON object.'],
  [
    '--store <url>',
    'sqlite:PATH, files:DIR, postgres://…, dynamodb://TABLE or memory: (default: COX_STORE, POSTGRES_DSN, else SQLite beside the repository)',
  ],
  ['--project <name>', 'The tenant inside the store (default: COX_PROJECT, else "default")'],
  ['--color', 'Colour, whoever reads it (default: in a terminal, unless NO_COLOR is set)'],
  ['--no-color', 'No colour.'],
];

const IDENTITY_OPTIONS: readonly [string, string][] = [
  ['--agent <id>', 'Who acts (default: AGENT_ID, else cli-<your user name>)'],
  ['--agent-type <type>', 'What kind of agent (default: AGENT_TYPE, else cli)'],
  ['--session <id>', 'Which of its sessions (default: SESSION_ID, else one per agent)'],
];

export function declareCommon(command: Command, which: 'store' | 'identity'): void {
  const options = which === 'store' ? STORE_OPTIONS : [...STORE_OPTIONS, ...IDENTITY_OPTIONS];
  for (const [flags, description] of options) {
    const option = new Option(flags, description).helpGroup('Common options:');
    // If the operation has a field of the same name (`cox key create --agent`), that field is meant.
    if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
  }
}

/**
 * A person's invocations belong together: they have the same agent and session each time. Otherwise extending
 * a lock with the next command would be a takeover by another session.
 */
export function cliIdentity(
  options: CommonOptions,
  env: NodeJS.ProcessEnv,
): { ok: true; actor: Actor } | { ok: false; refusal: Refusal } {
  const named = claimedIdentity(options, env);
  if (!named.ok) return named;
  const { agent_id = `cli-${userName()}`, agent_type = 'cli' } = named.identity;
  const session_id =
    named.identity.session_id ?? (agent_id.startsWith('cli-') ? agent_id : `cli-${agent_id}`);
  return {
    ok: true,
    actor: { agent_id, agent_type, session_id: session_id.slice(0, limits.agent_id_chars_max) },
  };
}

export function claimedIdentity(options: CommonOptions, env: NodeJS.ProcessEnv): Checked {
  const inherited = environmentIdentity(env);
  return checkIdentity({
    agent_id: options.agent ?? inherited.agent_id,
    agent_type: options.agentType ?? inherited.agent_type,
    session_id: options.session ?? inherited.session_id,
  });
}

/** A command that only reads leaves no trace of its caller beyond its audit row. */
export function cliShowing(env: NodeJS.ProcessEnv, options: CommonOptions = {}): Showing {
  return {
    door: 'cli',
    shows: 'writes',
    capabilities: environmentCapabilities(env),
    unnamed: (options.agent ?? environmentIdentity(env).agent_id) === undefined,
    agent_role: environmentRole(env),
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id that has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}

export interface Place {
  readonly store: string | undefined;
  readonly project: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** What a person should know about the choice. */
  readonly notice?: string | undefined;
}

/** The store and the project in it, from the flags or else the environment. */
export function placeOf(
  options: CommonOptions,
  terminal: Terminal,
): { ok: true; place: Place } | { ok: false; refusal: Refusal } {
  const project = checkName('project', options.project ?? (terminal.env.COX_PROJECT || 'default'));
  if (typeof project !== 'string') return { ok: false, refusal: project };
  try {
    const { cwd, env } = terminal;
    const { url, notice } = chooseStore(options.store, env);
    const store = url === undefined ? undefined : anchored(url, cwd);
    return { ok: true, place: { store, project, cwd, env, notice } };
  } catch (error) {
    return { ok: false, refusal: refusalOf(error) };
  }
}

/** The usual clock and generator load modules of Node's that take a tenth of a short command. */
function forShortProcess(): Pick<OpenOptions, 'leaves' | 'clock' | 'random'> {
  return { leaves: true, clock: quickClock, random: quickRandom() };
}

/** Opens, uses and closes the store, and says so if a named one was made. A failure to open is an answer like any other. */
export async function withStore(
  options: CommonOptions,
  terminal: Terminal,
  use: (coxswain: Coxswain, place: Place) => Promise<JsonObject>,
): Promise<JsonObject> {
  const chosen = placeOf(options, terminal);
  if (!chosen.ok) return chosen.refusal;
  const named = fileOf(chosen.place.store);
  const isNew = named !== undefined && isAbsent(named);
  try {
    let isNews = false;
    const announce = () => {
      isNews = true;
    };
    const coxswain = await open({ ...chosen.place, announce, ...(terminal.ends ? forShortProcess() : {}) });
    try {
      if (isNew) await terminal.err(`coxswain: there was no store at ${named}; this command has made one.\n`);
      return await use(coxswain, chosen.place);
    } finally {
      await coxswain.close();
      if (isNews) {
        const { sendDetached } = await import('../../../features/trust/notify/detached.ts');
        sendDetached({ ...chosen.place, store_url: coxswain.store_url });
      }
    }
  } catch (error) {
    return refusalOf(error);
  }
}

/** The same for commands that only look: a named store that does not exist yet is a typo, and is not created. */
export async function withStoreThere(
  options: CommonOptions,
  terminal: Terminal,
  use: (coxswain: Coxswain, place: Place) => Promise<JsonObject>,
): Promise<JsonObject> {
  const chosen = placeOf(options, terminal);
  const field = options.store === undefined ? 'COX_STORE' : 'store';
  const refusal = chosen.ok ? refuseAbsent(chosen.place.store, field) : chosen.refusal;
  return refusal ?? (await withStore(options, terminal, use));
}

/**
 * A typo must not look like an empty log. `store` is as `placeOf` gives it; the default store is never a
 * typo.
 */
export function refuseAbsent(store: string | undefined, field: string): Refusal | undefined {
  const path = fileOf(store);
  if (path === undefined || !isAbsent(path)) return undefined;
  return invalid(field, 'a store that is there already; a command that writes would make an empty one');
}

/** The file or folder of a store that was named. */
function fileOf(store: string | undefined): string | undefined {
  return /^(?:sqlite|files):(.+)$/s.exec(store ?? '')?.[1];
}

function isAbsent(path: string): boolean {
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return false;
    const above = dirname(path);
    // Below a file nothing can be made; opening it says so.
    return statSync(above, { throwIfNoEntry: false })?.isDirectory() ?? isAbsent(above);
  } catch {
    // It may exist but be unreachable; opening it says why.
    return false;
  }
}

/** What the chosen command ended with. */
export interface Result {
  code: number;
}

export async function conclude(
  terminal: Terminal,
  answer: JsonObject,
  options: CommonOptions,
  result: Result,
  about?: Done,
): Promise<void> {
  result.code = EXIT_CODES[verdictOf(answer)];
  const { json, color } = options;
  await print(terminal, answer, { json, color, now_ms: systemClock.now_ms() }, about);
}

/**
 * Common options may come before the group or after the verb; the nearer one counts. An operation's own
 * fields are not among them, even with the same name.
 */
export function mergedOptions<T = CommonOptions>(command: Command, own: readonly Field[] = []): T {
  const fields = new Set(own.map(({ name }) => new Option(`--${name.replaceAll('_', '-')}`).attributeName()));
  const nearest = Object.entries(command.opts()).filter(([name]) => !fields.has(name));
  const chain: Record<string, unknown>[] = [Object.fromEntries(nearest)];
  for (let current = command.parent; current !== null; current = current.parent)
    chain.unshift(current.opts());
  return Object.assign({}, ...chain) as T;
}
