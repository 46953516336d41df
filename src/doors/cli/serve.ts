import { once } from 'node:events';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Coxswain, open } from '../../index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { readPortConfig } from '../../ports/config.ts';
import { chooseStore } from '../../stores/choose.ts';
import { shownStore } from '../about.ts';
import { invalid, refusalOf } from '../answer.ts';
import { type Api, createApi } from '../http/server.ts';
import { type CommonOptions, placeOf } from './common.ts';
import { untilStopped } from './signals.ts';
import type { Terminal } from './terminal.ts';

export interface ServeOptions extends CommonOptions {
  readonly host?: string;
  readonly port?: string;
}

const PORT_DEFAULT = 8081;
const PROBE_MS_MAX = 1000;

/** Runs until it is told to stop. Answers why it did not run; nothing if it did, or if another one already does. */
export async function serve(options: ServeOptions, terminal: Terminal): Promise<Refusal | undefined> {
  const host = options.host ?? (terminal.env.API_HOST || '127.0.0.1');
  if (!isLoopback(host))
    return refuse(
      'invalid_input',
      `host: ${JSON.stringify(host)} can be reached from other machines, and this version has no authentication yet. ` +
        'Expected 127.0.0.1, ::1 or localhost.',
      { field: 'host' },
    );
  const port = Number(options.port ?? (terminal.env.API_PORT || PORT_DEFAULT));
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    return invalid('port', 'a number from 0 to 65535');
  const ports = readPortConfig(terminal.env);
  if ('success' in ports) return ports;
  const chosen = placeOf(options, terminal);
  if (!chosen.ok) return chosen.refusal;
  if (chosen.place.notice !== undefined) await terminal.err(`cox serve: ${chosen.place.notice}\n`);
  const stopped = untilStopped();
  let coxswain: Coxswain | undefined;
  try {
    coxswain = await open({ ...chosen.place, sits: true });
    const api = await createApi(coxswain);
    const failed = await listen(api, port, host);
    if (failed !== undefined) return await explainPort(failed, { host, port }, coxswain, options, terminal);
    const { port: bound } = api.server.address() as AddressInfo;
    await announce(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`, coxswain, options, terminal);
    await stopped.signal;
    await api.stop();
    return undefined;
  } catch (error) {
    return refusalOf(error);
  } finally {
    stopped.dispose();
    await coxswain?.close();
  }
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}

async function listen(api: Api, port: number, host: string): Promise<NodeJS.ErrnoException | undefined> {
  api.server.listen({ port, host });
  try {
    await once(api.server, 'listening');
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
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
  const other = await whoIsThere(host, port);
  const store = shownStore(coxswain.store_url);
  if (other?.store === store && other.project === coxswain.project && store !== 'memory:') {
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    const text = `Another cox serve already serves this store at ${url}; there is nothing to do.\n`;
    await terminal.out(
      options.json === true ? `${JSON.stringify({ success: true, already: true, url })}\n` : text,
    );
    return undefined;
  }
  const whose = other?.store === undefined ? 'another program' : `a cox serve of ${String(other.store)}`;
  return refuse(
    'invalid_input',
    `port: ${port} is taken by ${whose}. Choose another one (--port 0 picks a free one), or stop that program.`,
    { field: 'port' },
  );
}

async function whoIsThere(host: string, port: number): Promise<JsonObject | undefined> {
  return await new Promise((resolve) => {
    const request = get({ host, port, path: '/ready', timeout: PROBE_MS_MAX }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.length < 100 && chunks.push(chunk));
      response.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString()) as JsonObject);
        } catch {
          resolve(undefined);
        }
      });
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
    request.on('close', () => resolve(undefined));
  });
}

async function announce(
  url: string,
  coxswain: Coxswain,
  options: ServeOptions,
  terminal: Terminal,
): Promise<void> {
  const store = shownStore(coxswain.store_url);
  const secret = store === coxswain.store_url ? '' : ' (with COX_STORE in its environment)';
  if (options.json === true) {
    await terminal.out(`${JSON.stringify({ success: true, url, store, project: coxswain.project })}\n`);
    return;
  }
  const executable = fileURLToPath(new URL('../../../bin/cox', import.meta.url));
  const acquire = '{"agent_id":"me","file_path":"src/app.ts"}';
  await terminal.out(`Coxswain is listening on ${url}
  store       ${store} (project ${coxswain.project})
  operations  ${url}/operations
  health      ${url}/health, ${url}/ready
  not yet     dashboard, MCP over HTTP, API keys: whoever can reach this port on this machine may use it

Try it:
  curl -s ${url}/locks/acquire -H 'content-type: application/json' -d '${acquire}'
Connect an agent${secret}:
  claude mcp add coxswain -- ${process.execPath} ${executable} mcp${storeFlag(coxswain, options, terminal)}
Stop with Ctrl-C.
`);
}

/** The default store is found again from any folder of the repository; a password belongs in COX_STORE, not in a command. */
function storeFlag({ store_url }: Coxswain, options: ServeOptions, terminal: Terminal): string {
  const isDefault = chooseStore(options.store, terminal.env).url === undefined;
  if (isDefault || store_url === 'memory:' || shownStore(store_url) !== store_url) return '';
  const [, path] = /^sqlite:(.*)$/s.exec(store_url) ?? [];
  return ` --store ${quoted(path === undefined ? store_url : `sqlite:${resolve(terminal.cwd, path)}`)}`;
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
