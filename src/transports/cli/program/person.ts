import { closeSync, openSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { storedKey } from '../../../features/keys/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { nameProblem, PERSON_TYPE, personId } from '../../../kernel/names.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import type { Actor } from '../../../ledger/log.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import type { AnyOperation } from '../../../runtime/operation.ts';
import { agentAbove } from '../../shared/ancestors.ts';
import type { Terminal } from '../output/terminal.ts';

/** Set by agents' clients for the commands they run; a person's shell has none of them. */
const AGENTS_VARIABLES = [
  'AGENT_ID',
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
  'CODEX_SANDBOX',
  'CODEX_SANDBOX_NETWORK_DISABLED',
  'CODEX_THREAD_ID',
  'GEMINI_CLI',
  'CURSOR_AGENT',
  'OPENCODE',
];

const KEY_BYTES_MAX = 4096;

/** A caller that has proven to be a person: by a key of the store, or by sitting at the terminal. */
export interface Person {
  readonly actor: Actor;
  readonly by: 'key' | 'terminal';
}

export function isPerson(proof: Person | Refusal): proof is Person {
  return 'actor' in proof;
}

/**
 * Decides who may do what agents may not. With a key: its holder. Without one: the user at this terminal, if
 * there is no sign that an agent runs the command, and only after `confirm` was answered by hand. This keeps
 * an agent from approving by mistake or by being talked into it. Against a program that runs as this user and
 * hides, only a key it can't read helps.
 */
export async function personAuthority(
  coxswain: Coxswain,
  terminal: Terminal,
  options: { readonly personKeyFile?: string | undefined } = {},
): Promise<Person | Refusal> {
  const presented = presentedKey(terminal, options.personKeyFile);
  if (typeof presented === 'string') return await byKey(coxswain, presented);
  if (presented !== undefined) return presented;
  const why = noPersonHere(terminal);
  if (why !== undefined) return refuse('person_required', `This is for a person to decide: ${why}.`);
  const name = userName();
  return { by: 'terminal', actor: personActor(personId(name)) };
}

/**
 * What a person has to type. A person with a key may confirm beforehand with a flag; one at the terminal may
 * not.
 */
export async function confirmed(
  { by }: Person,
  terminal: Terminal,
  expected: string,
  yes: boolean,
): Promise<boolean | Refusal> {
  if (by === 'key' && yes) return true;
  if (terminal.ask === undefined)
    return refuse('invalid_input', 'yes: expected --yes, for nobody can be asked here', { field: 'yes' });
  const typed = await terminal.ask(`Type ${expected} to do it, anything else to leave it: `);
  return typed?.trim() === expected;
}

function presentedKey({ env, cwd }: Terminal, file: string | undefined): string | Refusal | undefined {
  if (file === undefined) return env.COX_PERSON_KEY?.trim() || undefined;
  try {
    return readFileSync(resolve(cwd, file), 'utf8').slice(0, KEY_BYTES_MAX).trim();
  } catch (error) {
    const message = `person_key_file: ${(error as Error).message}`;
    return refuse('invalid_input', message, { field: 'person_key_file' });
  }
}

async function byKey(coxswain: Coxswain, presented: string): Promise<Person | Refusal> {
  const stored = await storedKey(coxswain, presented);
  if (stored?.key.role !== 'person' || stored.key.agent_id === undefined)
    return refuse(
      'person_required',
      'This key is no person’s: it is unknown, revoked, expired or an agent’s.',
    );
  return { by: 'key', actor: personActor(stored.key.agent_id) };
}

function personActor(agent_id: string): Actor {
  return { agent_id, agent_type: PERSON_TYPE, session_id: agent_id };
}

function agentsVariable(env: NodeJS.ProcessEnv): string | undefined {
  return AGENTS_VARIABLES.find((name) => (env[name] ?? '') !== '');
}

/**
 * An agent that makes a person's key would become a person. Scripts of people have no terminal, but have none
 * of these variables either.
 */
export async function refusePersonsKey(
  operation: AnyOperation,
  input: JsonObject,
  env: NodeJS.ProcessEnv,
): Promise<Refusal | undefined> {
  if (operation.name !== 'create_key' || input.person === undefined) return undefined;
  const variable = agentsVariable(env);
  // Invalid input gets the same message for every caller.
  if (variable === undefined || !(await operation.input()).parse(input).ok) return undefined;
  return refuse(
    'person_required',
    `A person makes a person’s key: ${variable} says that an agent runs this.`,
  );
}

function noPersonHere(terminal: Terminal): string | undefined {
  if (terminal.ask === undefined) return 'nobody sits at this terminal';
  const variable = agentsVariable(terminal.env);
  if (variable !== undefined) return `${variable} says that an agent runs this command`;
  if (!(terminal.controlled ?? hasControllingTerminal)()) return 'this command has no terminal of its own';
  const agent = agentAbove(terminal.machine);
  if (agent === 'unknown') return 'this system does not tell which programs run this command';
  return agent === undefined ? undefined : `${agent} runs this command`;
}

function hasControllingTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r+'));
    return true;
  } catch {
    return false;
  }
}

function userName(): string {
  try {
    const { username } = userInfo();
    return nameProblem(personId(username)) === undefined ? username : 'unknown';
  } catch {
    // A container may run under a user id that has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
