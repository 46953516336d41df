import type { Refusal } from '../../kernel/refusal.ts';
import { invalid } from '../../runtime/answer.ts';
import { type EnvironmentKey, environmentKeys } from './environment-keys.ts';
import type { WebhookConfig } from './github-webhook.ts';
import { isHostName } from './hosts.ts';

export interface ApiConfig {
  readonly host: string;
  readonly port: number;
  /** Further names under which clients reach this server. */
  readonly allowed_hosts: readonly string[];
  /** Requests with one credential; 0: unlimited. */
  readonly rate_per_minute: number;
  readonly keys: readonly EnvironmentKey[];
  readonly webhook: WebhookConfig;
}

export interface GivenConfig {
  readonly host?: string | undefined;
  readonly port?: string | number | undefined;
  readonly allowed_hosts?: readonly string[] | undefined;
  readonly rate_per_minute?: string | number | undefined;
}

const PORT_DEFAULT = 8081;
/** A thousand a second: no agent comes near it, and one that runs wild leaves room for the other agents. */
const RATE_DEFAULT = 60_000;

/**
 * Options take precedence over the environment: `API_HOST`, `API_PORT`, `API_ALLOWED_HOSTS`,
 * `API_RATE_LIMIT`, and the keys.
 */
export function readApiConfig(
  given: GivenConfig,
  env: NodeJS.ProcessEnv,
): { ok: true; config: ApiConfig } | { ok: false; refusal: Refusal } {
  const refused = (refusal: Refusal) => ({ ok: false, refusal }) as const;
  const host = given.host ?? (env.API_HOST || '127.0.0.1');
  const port = Number(given.port ?? (env.API_PORT || PORT_DEFAULT));
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    return refused(invalid('port', 'a number from 0 to 65535'));
  const listed = (env.API_ALLOWED_HOSTS ?? '').split(',').map((name) => name.trim());
  const allowed_hosts = given.allowed_hosts ?? listed.filter((name) => name !== '');
  if (!allowed_hosts.every(isHostName))
    return refused(invalid('allow_host', 'names such as cox.example.org, or * for any'));
  const rate_per_minute = Number(given.rate_per_minute ?? (env.API_RATE_LIMIT || RATE_DEFAULT));
  if (!(rate_per_minute >= 0) || !Number.isFinite(rate_per_minute))
    return refused(invalid('API_RATE_LIMIT', 'requests per minute, 0 for no limit'));
  const keys = environmentKeys(env);
  if (!keys.ok) return keys;
  const webhook = {
    secret: env.GITHUB_WEBHOOK_SECRET || undefined,
    repository: env.GITHUB_REPOSITORY || undefined,
  };
  return { ok: true, config: { host, port, allowed_hosts, rate_per_minute, keys: keys.keys, webhook } };
}
