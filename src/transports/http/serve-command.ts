import { get } from 'node:http';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPortConfig } from '../../features/port-blocks/index.ts';
import { Courier, readChannels } from '../../features/trust/notify/index.ts';
import { keepWorking, servedExecutors } from '../../features/verification/runner/index.ts';
import { open } from '../../index.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { shownStore } from '../../runtime/about.ts';
import { refusalOf } from '../../runtime/answer.ts';
import { maintain } from '../../runtime/background-maintenance.ts';
import { chooseStore } from '../../runtime/choose-store.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import type { Terminal } from '../cli/output/terminal.ts';
import { type CommonOptions, placeOf } from '../cli/program/common.ts';
import { untilStopped } from '../cli/program/signals.ts';
import { readApiConfig } from './http-config.ts';
import { ConfigurationError, type CoordinationApi, createCoordinationApi, urlOf } from './index.ts';
import { STORE_HEADER, storeMark } from './status-routes.ts';

export interface ServeOptions extends CommonOptions {
  readonly host?: string;
  readonly port?: string;
  readonly allowHost?: string[];
}

const PROBE_MS_MAX = 1000;

/**
 * Runs until it is told to stop. Returns why it did not run; undefined if it did, or if another server
 * already does.
 */
export async function serve(options: ServeOptions, terminal: Terminal): Promise<Refusal | undefined> {
  const { env } = terminal;
  const given = { host: options.host, port: options.port, allowed_hosts: options.allowHost };
  const read = readApiConfig(given, env);
  if (!read.ok) return read.refusal;
  const ports = readPortConfig(env);
  if ('success' in ports) return ports;
  const executors = servedExecutors(env);
  if ('success' in executors) return executors;
  const chosen = placeOf(options, terminal);
  if (!chosen.ok) return chosen.refusal;
  if (chosen.place.notice !== undefined) await terminal.err(`cox serve: ${chosen.place.notice}\n`);
  const channels = readChannels(env, terminal.cwd);
  if (!Array.isArray(channels)) return channels;
  const stopped = untilStopped();
  let coxswain: Coxswain | undefined;
  let courier: Courier | undefined;
  try {
    coxswain = await open({ ...chosen.place, sits: true, announce: () => courier?.stir() });
    const api = await createCoordinationApi({ ...given, env, coxswain });
    const url = await listen(api);
    if (typeof url !== 'string') return await explainPort(url, read.config, coxswain, options, terminal);
    const tending = maintain(coxswain);
    courier = new Courier(coxswain, channels);
    const working = keepWorking(coxswain, executors, env);
    await announce(url, api, options, terminal);
    await stopped.signal;
    tending.stop();
    await working.stop();
    await api.stop();
    return undefined;
  } catch (error) {
    return error instanceof ConfigurationError ? error.refusal : refusalOf(error);
  } finally {
    stopped.dispose();
    await courier?.stop();
    await coxswain?.close();
  }
}

async function listen(api: CoordinationApi): Promise<string | NodeJS.ErrnoException> {
  try {
    return await api.listen();
  } catch (error) {
    const failed = error as NodeJS.ErrnoException;
    if (failed.syscall !== undefined) return failed;
    throw error;
  }
}

async function explainPort(
  error: NodeJS.ErrnoException,
  { host, port }: { host: string; port: number },
  coxswain: Coxswain,
  options: ServeOptions,
  terminal: Terminal,
): Promise<Refusal | undefined> {
  if (error.code !== 'EADDRINUSE')
    return refuse('invalid_input', `port: could not listen on ${host}:${port}: ${error.message}`, {
      field: 'port',
    });
  const mark = await whoIsThere(host, port);
  if (mark === storeMark(coxswain) && coxswain.store_url !== 'memory:') {
    const url = urlOf(host, port);
    const text = `Another cox serve already serves this store at ${url}; there is nothing to do.\n`;
    await terminal.out(
      options.json === true ? `${JSON.stringify({ success: true, already: true, url })}\n` : text,
    );
    return undefined;
  }
  const whose = mark === undefined ? 'another program' : 'a cox serve of another store';
  return refuse(
    'invalid_input',
    `port: ${port} is taken by ${whose}. Choose another one (--port 0 picks a free one), or stop that program.`,
    { field: 'port' },
  );
}

/** The store mark of the `cox serve` that listens there. */
async function whoIsThere(host: string, port: number): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const request = get({ host, port, path: '/health', timeout: PROBE_MS_MAX }, (response) => {
      const mark = response.headers[STORE_HEADER];
      resolve(typeof mark === 'string' ? mark : undefined);
      response.destroy();
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
    request.on('close', () => resolve(undefined));
  });
}

async function announce(
  url: string,
  api: CoordinationApi,
  options: ServeOptions,
  terminal: Terminal,
): Promise<void> {
  const { coxswain } = api;
  const store = shownStore(coxswain.store_url);
  const { project } = coxswain;
  if (options.json === true) {
    await terminal.out(`${JSON.stringify({ success: true, url, store, project })}\n`);
    return;
  }
  const secret = store === coxswain.store_url ? '' : ' (with COX_STORE in its environment)';
  const executable = fileURLToPath(new URL('../../../bin/cox', import.meta.url));
  const cox = `${quoted(process.execPath)} ${quoted(executable)}`;
  const here = storeFlag(coxswain, options, terminal) + projectFlag(project, options);
  const hasKeys = await api.hasKeys();
  const make =
    coxswain.store_url === 'memory:'
      ? 'set COORDINATION_API_KEYS and start again: a store in memory keeps none'
      : `${cox} key create --agent me${here}`;
  await terminal.out(`Coxswain is listening on ${url}
  store       ${store} (project ${project})
  API         ${url}/docs, ${url}/openapi.json
  health      ${url}/health
  MCP         ${url}/mcp
  not yet     dashboard

${hasKeys ? 'Another API key' : 'There is no API key yet. Make one'}${secret}:
  ${make}
Try it with the key it shows, once:
  curl -s ${url}/locks/acquire -H 'x-api-key: KEY' -H 'content-type: application/json' -d '{"file_path":"src/app.ts"}'
Connect an agent${secret}:
  claude mcp add coxswain -- ${cox} mcp${here}
Stop with Ctrl-C.
`);
}

function projectFlag(project: string, options: ServeOptions): string {
  return options.project === undefined ? '' : ` --project ${quoted(project)}`;
}

/**
 * The default store is found from any folder of the repository. A password belongs in COX_STORE, not in a
 * command.
 */
function storeFlag({ store_url }: Coxswain, options: ServeOptions, terminal: Terminal): string {
  const isDefault = chooseStore(options.store, terminal.env).url === undefined;
  if (isDefault || store_url === 'memory:' || shownStore(store_url) !== store_url) return '';
  const [, path] = /^sqlite:(.*)$/s.exec(store_url) ?? [];
  return ` --store ${quoted(path === undefined ? store_url : `sqlite:${resolve(terminal.cwd, path)}`)}`;
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
