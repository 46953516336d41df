import type { Clock } from '../kernel/clock.ts';
import type { Random } from '../kernel/ids.ts';
import type { Actor } from '../ledger/log.ts';
import type { OpenOptions } from '../runtime/coxswain.ts';
import { checkIdentity, environmentIdentity } from '../transports/shared/identity.ts';

/**
 * The identity of the caller. Fields left out come from `AGENT_ID`, `AGENT_TYPE` and `SESSION_ID`, or else
 * are made up.
 */
interface Who {
  readonly agent_id?: string | undefined;
  readonly agent_type?: string | undefined;
  readonly session_id?: string | undefined;
}

interface Where {
  /** A server: `http://…` or `https://…`. Default: `COORDINATION_API_URL`, unless an option names a store. */
  readonly url?: string | undefined;
  /** Default: `COORDINATION_API_KEY`. */
  readonly api_key?: string | undefined;
  /** The token from `register_session`, instead of a key: the client then acts as that session only. */
  readonly session_token?: string | undefined;
  /** How long a server may take for an answer, in addition to the time that the call itself waits. */
  readonly timeout_ms?: number | undefined;
}

export interface ConnectOptions extends OpenOptions, Where, Who {}

export interface RemoteTarget {
  readonly kind: 'remote';
  readonly url: URL;
  readonly credential: Credential | undefined;
  readonly timeout_ms: number | undefined;
  readonly identity: Partial<Actor>;
  readonly clock: Clock | undefined;
  readonly random: Random | undefined;
}

interface Credential {
  readonly header: 'x-api-key' | 'authorization';
  readonly value: string;
}

export interface LocalTarget {
  readonly kind: 'local';
  readonly options: OpenOptions;
  readonly identity: Partial<Actor>;
}

/** These options only make sense for a store in this process. */
const LOCAL_ONLY = ['store', 'project', 'cwd', 'sits', 'presence'] as const;
const REMOTE_ONLY = ['api_key', 'session_token', 'timeout_ms'] as const;
const TIMEOUT_MS_MAX = 3600_000;

/**
 * A server, or a store in this process? An option decides, or else the environment. Contradicting settings
 * throw: working on another store than the other agents is worse than not working at all.
 */
export function chooseTarget(options: ConnectOptions, env: NodeJS.ProcessEnv): RemoteTarget | LocalTarget {
  const local = LOCAL_ONLY.find((field) => options[field] !== undefined);
  if (options.url !== undefined && local !== undefined)
    throw new TypeError(`${local}: expected either url (a server) or ${local} (a store in this process)`);
  const env_url = env.COORDINATION_API_URL || undefined;
  const url = options.url ?? (local === undefined ? env_url : undefined);
  if (url !== undefined && options.url === undefined && env.COX_STORE)
    throw new TypeError(
      'COORDINATION_API_URL and COX_STORE are both set: expected one of them, or the option url or store',
    );
  if (url !== undefined) return remoteTarget(url, options, env);
  const stray = REMOTE_ONLY.find((field) => options[field] !== undefined);
  if (stray !== undefined) throw new TypeError(`${stray}: expected only with url or COORDINATION_API_URL`);
  return { kind: 'local', options, identity: identityOf(options, env) };
}

function remoteTarget(text: string, options: ConnectOptions, env: NodeJS.ProcessEnv): RemoteTarget {
  const url = checkedUrl(text, options.url === undefined ? 'COORDINATION_API_URL' : 'url');
  const { timeout_ms, clock, random } = options;
  if (timeout_ms !== undefined && !(timeout_ms > 0 && timeout_ms <= TIMEOUT_MS_MAX))
    throw new TypeError(`timeout_ms: expected more than 0 and at most ${TIMEOUT_MS_MAX}`);
  // A token names its own agent; the environment may describe a different one.
  const identity = identityOf(options, options.session_token === undefined ? env : {});
  for (const [field, value] of Object.entries(identity))
    if (!isHeaderText(value))
      throw new TypeError(`${field}: expected printable ASCII, because it travels in a header`);
  return {
    kind: 'remote',
    url,
    credential: credentialOf(url, options, env),
    timeout_ms,
    identity,
    clock,
    random,
  };
}

function checkedUrl(text: string, field: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The address is not shown: people put passwords into addresses.
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TypeError(`${field}: expected the address of a server, http://… or https://…`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError(`${field}: expected an address alone; a key belongs in api_key`);
  return url;
}

function credentialOf(url: URL, options: ConnectOptions, env: NodeJS.ProcessEnv): Credential | undefined {
  const { api_key, session_token } = options;
  if (api_key !== undefined && session_token !== undefined)
    throw new TypeError('session_token: expected either api_key or session_token');
  const key = api_key ?? (session_token === undefined ? environmentKey(url, env) : undefined);
  for (const [field, value] of Object.entries({ api_key: key, session_token }))
    if (value !== undefined && !isHeaderText(value))
      throw new TypeError(`${field}: expected printable ASCII without spaces around it`);
  if (session_token !== undefined) return { header: 'authorization', value: `Bearer ${session_token}` };
  return key === undefined ? undefined : { header: 'x-api-key', value: key };
}

/** The key from the environment is only for the server from the environment; no other server may see it. */
function environmentKey(url: URL, env: NodeJS.ProcessEnv): string | undefined {
  const { COORDINATION_API_URL: meant, COORDINATION_API_KEY: key } = env;
  if (meant && !(URL.canParse(meant) && new URL(meant).origin === url.origin)) return undefined;
  return key || undefined;
}

function identityOf(options: Who, env: NodeJS.ProcessEnv): Partial<Actor> {
  const inherited = environmentIdentity(env);
  // The environment describes one agent. A program that names another agent means that one, with an identity
  // of its own.
  const same = options.agent_id === undefined || options.agent_id === inherited.agent_id;
  const { agent_id, agent_type, session_id } = same ? inherited : {};
  const checked = checkIdentity({
    agent_id: options.agent_id ?? agent_id,
    agent_type: options.agent_type ?? agent_type,
    session_id: options.session_id ?? session_id,
  });
  if (!checked.ok) throw new TypeError(checked.refusal.message);
  return checked.identity;
}

function isHeaderText(value: string): boolean {
  return /^[!-~]([ -~]*[!-~])?$/.test(value);
}
