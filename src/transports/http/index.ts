import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anyKeyOpens, everyKey } from '../../features/keys/index.ts';
import { resolveSessionToken } from '../../features/sessions/index.ts';
import { open } from '../../index.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { Coxswain, OpenOptions } from '../../runtime/coxswain.ts';
import { createMcpEndpoint } from '../mcp/mcp-http.ts';
import { boardMetrics } from './board-metrics.ts';
import { isLoopback } from './hosts.ts';
import { type GivenConfig, readApiConfig } from './http-config.ts';
import { type Api, type ApiOptions, createApi } from './http-server.ts';
import { SuccessMetrics } from './success-metrics.ts';

/** A thousand agents may connect at once. */
const BACKLOG = 2048;

export interface CoordinationApiOptions extends GivenConfig, OpenOptions, Omit<ApiOptions, 'config'> {
  /** An open store is used and stays open; otherwise one is opened, and closed by `stop`. */
  readonly coxswain?: Coxswain | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export interface CoordinationApi {
  readonly server: Server;
  /** For embedding in the caller's own server. */
  readonly handler: RequestListener;
  readonly coxswain: Coxswain;
  readonly routes: Api['routes'];
  /** Whether any key exists yet. */
  hasKeys(): Promise<boolean>;
  /** Returns where it listens: `http://127.0.0.1:8081`. */
  listen(): Promise<string>;
  /** Accepts nothing more and finishes what it accepted. */
  stop(): Promise<void>;
}

/** The configuration can't be served; `refusal` says which setting is wrong and why. */
export class ConfigurationError extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = 'ConfigurationError';
    this.refusal = refusal;
  }
}

/** The HTTP API, configured by its options or else the environment. */
export async function createCoordinationApi(options: CoordinationApiOptions = {}): Promise<CoordinationApi> {
  const read = readApiConfig(options, options.env ?? process.env);
  if (!read.ok) throw new ConfigurationError(read.refusal);
  const { config } = read;
  const coxswain = options.coxswain ?? (await open({ ...options, sits: options.sits ?? true }));
  const { store, project } = coxswain;
  const success = new SuccessMetrics(coxswain);
  const api = await createApi(coxswain, {
    resolveSessionToken: (token) => resolveSessionToken(store, project, token),
    mcp: createMcpEndpoint({ coxswain }),
    moreMetrics: async () => (await success.text()) + (await boardMetrics(coxswain)),
    ...options,
    config,
  });
  const hasKeys = async () => {
    if (config.keys.length > 0) return true;
    const { loaded, now_ms } = await coxswain.store.find(coxswain.project, everyKey);
    return anyKeyOpens(loaded, now_ms);
  };
  return {
    server: api.server,
    handler: (request, response) => void api.server.emit('request', request, response),
    coxswain,
    routes: api.routes,
    hasKeys,
    async listen() {
      if (!isLoopback(config.host) && !(await hasKeys())) throw new ConfigurationError(noKeyYet(config.host));
      api.server.listen({ port: config.port, host: config.host, backlog: BACKLOG });
      await once(api.server, 'listening');
      const { port } = api.server.address() as AddressInfo;
      return urlOf(config.host, port);
    },
    async stop() {
      await api.stop();
      if (options.coxswain === undefined) await coxswain.close();
    },
  };
}

export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Without a key no client could do anything with this server, so its configuration must be a mistake. */
function noKeyYet(host: string): Refusal {
  const message =
    `host: ${JSON.stringify(host)} can be reached from other machines, and there is no API key yet. ` +
    'Make one first (cox key create), or set COORDINATION_API_KEYS.';
  return refuse('invalid_input', message, { field: 'host' });
}
