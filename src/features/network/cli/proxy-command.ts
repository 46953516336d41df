import { open } from '../../../index.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import { shownStore } from '../../../runtime/about.ts';
import { invalid, refusalOf } from '../../../runtime/answer.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { type CommonOptions, placeOf } from '../../../transports/cli/program/common.ts';
import { untilStopped } from '../../../transports/cli/program/signals.ts';
import { environmentKeys } from '../../../transports/http/environment-keys.ts';
import { isLoopback } from '../../../transports/http/hosts.ts';
import { urlOf } from '../../../transports/http/index.ts';
import { checkIdentity } from '../../../transports/shared/identity.ts';
import { createProxy, type NetworkProxy } from '../proxy/proxy.ts';
import type { FixedAgent } from '../proxy/proxy-callers.ts';
import { hostsFile, type Resolve, systemResolve } from '../proxy/resolve.ts';
import { networkSettings } from '../settings/network-settings.ts';

export interface ProxyCommandOptions extends CommonOptions {
  readonly host?: string;
  readonly port?: string;
  readonly hostsFile?: string;
}

/** Runs until it is told to stop. Answers why it did not run. */
export async function serveProxy(
  options: ProxyCommandOptions,
  terminal: Terminal,
): Promise<Refusal | undefined> {
  const plan = planOf(options, terminal);
  if ('success' in plan) return plan;
  const chosen = placeOf(options, terminal);
  if (!chosen.ok) return chosen.refusal;
  const stopped = untilStopped();
  let coxswain: Coxswain | undefined;
  try {
    coxswain = await open({ ...chosen.place, sits: true });
    const proxy = createProxy(coxswain, plan);
    const port = await listen(proxy, plan);
    if (typeof port !== 'number') return port;
    await announce(urlOf(plan.host, port), plan.agent, coxswain, options, terminal);
    await stopped.signal;
    await proxy.stop();
    return undefined;
  } catch (error) {
    return refusalOf(error);
  } finally {
    stopped.dispose();
    await coxswain?.close();
  }
}

function planOf(options: ProxyCommandOptions, terminal: Terminal) {
  const { host = '127.0.0.1' } = options;
  const port = Number(options.port ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    return invalid('port', 'a number from 0 to 65535');
  const settings = networkSettings(terminal.env);
  if ('success' in settings) return settings;
  const keys = environmentKeys(terminal.env);
  if (!keys.ok) return keys.refusal;
  const agent = fixedAgent(options);
  if (agent !== undefined && 'success' in agent) return agent;
  // Without a key there would be no telling who comes in from other machines.
  if (agent !== undefined && !isLoopback(host))
    return invalid('host', 'an address of this machine only, as --agent lets everybody in who reaches it');
  const resolve = resolverOf(options.hostsFile);
  return 'success' in resolve ? resolve : { host, port, settings, keys: keys.keys, agent, resolve };
}

/** By flags alone: a variable that happens to be set must not open the proxy to every host. */
function fixedAgent({ agent, agentType }: ProxyCommandOptions): FixedAgent | Refusal | undefined {
  if (agent === undefined)
    return agentType === undefined ? undefined : invalid('agent', 'whose type --agent-type is');
  const checked = checkIdentity({ agent_id: agent, agent_type: agentType });
  if (!checked.ok) return checked.refusal;
  return { agent_id: agent, agent_type: checked.identity.agent_type ?? 'unknown' };
}

function resolverOf(path: string | undefined): Resolve | Refusal {
  if (path === undefined) return systemResolve;
  const read = hostsFile(path, systemResolve);
  return read.ok ? read.resolve : invalid('hosts_file', read.problem);
}

async function listen(
  proxy: NetworkProxy,
  { host, port }: { host: string; port: number },
): Promise<number | Refusal> {
  try {
    return await proxy.listen(host, port);
  } catch (error) {
    return invalid('port', `one that is free on ${host}: ${(error as Error).message}`);
  }
}

async function announce(
  url: string,
  agent: FixedAgent | undefined,
  { store_url, project }: Coxswain,
  { json }: ProxyCommandOptions,
  terminal: Terminal,
): Promise<void> {
  const store = shownStore(store_url);
  if (json === true) {
    await terminal.out(`${JSON.stringify({ success: true, url, store, project, ...agent })}\n`);
    return;
  }
  const whose =
    agent === undefined
      ? 'everybody who shows an API key (cox key create)'
      : `${agent.agent_id} (${agent.agent_type}), without a key`;
  const address = agent === undefined ? url.replace('://', '://agent:KEY@') : url;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];
  await terminal.out(`The proxy is listening on ${url}
  for         ${whose}
  store       ${store} (project ${project})

In the agent's environment:
${names.map((name) => `  export ${name}=${address}`).join('\n')}
What it lets through: cox network policies. What was tried: cox network log.
Stop with Ctrl-C.
`);
}
