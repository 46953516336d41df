import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { type Client, isClient } from '../shared/agent-clients.ts';
import { LOCK_POLICIES, type LockPolicy } from '../shared/enforcement-policy.ts';

const EVENTS = ['session-start', 'before-tool', 'after-tool', 'turn-end', 'session-end'] as const;
export type HookEvent = (typeof EVENTS)[number];

/** The arguments with which the client calls us. */
export interface Order {
  readonly client: Client;
  readonly event: HookEvent;
  readonly locks: LockPolicy;
  readonly store?: string | undefined;
}

/** What the client says on stdin, the same for all of them. */
export interface HookCall {
  /** Where the agent's paths start. Absolute. */
  readonly cwd: string;
  /** The client's own id of the conversation. */
  readonly conversation: string;
  /** The client's id of this one use of the tool, the same before and after it; empty for those that have none. */
  readonly use: string;
  /** The client's own name for the event. */
  readonly happened: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** The tool did not succeed. */
  readonly failed: boolean;
}

/** What we say back: nothing, or one of these. */
export interface HookVerdict {
  /** The tool must not run; the agent reads why. */
  readonly deny?: string | undefined;
  /** The person at the client decides, and reads why. */
  readonly ask?: string | undefined;
  /** Shown to the agent. */
  readonly context?: string | undefined;
  /** Shown to the person who watches. */
  readonly notice?: string | undefined;
}

export const NOTHING: HookVerdict = {};

function oneOf<T extends string>(known: readonly T[], text: string | undefined): T | undefined {
  return known.find((each) => each === text);
}

/** `<client> <event> [--locks POLICY] [--store URL]`; otherwise returns what is wrong with it. */
export function readOrder(argv: readonly string[]): Order | string {
  const [client, name, ...flags] = argv;
  const event = oneOf(EVENTS, name);
  if (!isClient(client) || event === undefined)
    return `expected <client> <event>: claude-code, codex or gemini-cli, and one of ${EVENTS.join(', ')}`;
  let locks: LockPolicy | undefined = 'auto';
  let store: string | undefined;
  for (let index = 0; index < flags.length; index += 2) {
    const [flag, value] = [flags[index], flags[index + 1]];
    if (flag === '--locks') locks = oneOf(LOCK_POLICIES, value);
    else if (flag === '--store' && value !== undefined) store = value;
    else return `unknown option ${JSON.stringify(flag)}`;
  }
  if (locks === undefined) return `--locks: expected ${LOCK_POLICIES.join(', ')}`;
  return { client, event, locks, store };
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Throws when it is no JSON object; what is in it may be of any type. */
export function readCall(text: string, cwd: string): HookCall {
  const payload: unknown = JSON.parse(text);
  if (!isObject(payload)) throw new TypeError('the payload is no JSON object');
  const said = textOf(payload.cwd);
  const { tool_response: response } = payload;
  const event = textOf(payload.hook_event_name);
  return {
    cwd: /^(\/|[A-Za-z]:[\\/])/.test(said) ? said : cwd,
    conversation: textOf(payload.session_id),
    use: textOf(payload.tool_use_id),
    happened: event,
    tool: textOf(payload.tool_name),
    input: isObject(payload.tool_input) ? payload.tool_input : {},
    failed: event.endsWith('Failure') || (isObject(response) && saysFailed(response)),
  };
}

function saysFailed({ error, is_error, isError, success }: JsonObject): boolean {
  const hasError = error !== undefined && error !== null && error !== false && error !== '';
  return hasError || is_error === true || isError === true || success === false;
}

const SHELLS = ['Bash', 'shell', 'local_shell', 'shell_command', 'exec_command', 'run_shell_command'];

/** The clients' names for running a command. */
export function runsCommands({ tool }: HookCall): boolean {
  return SHELLS.includes(tool);
}
