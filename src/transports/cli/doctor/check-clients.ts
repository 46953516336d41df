import { gist, runChild } from '../../../child-process/bounded-child.ts';
import { type FoundClient, findClients } from '../init/clients/all.ts';
import type { Site } from '../init/clients/client-setup.ts';
import { Unusable } from '../init/unusable.ts';
import { checkShells } from './check-shells.ts';
import { checkTrust } from './check-trust.ts';
import { checkWorktrees } from './check-worktrees.ts';
import { type Configured, readConfigured, wiredTwice } from './configured.ts';
import { type DoctorFinding, idle, ok, wrong } from './doctor-finding.ts';
import { checkHooks } from './hook-round-trip.ts';
import { checkMcp } from './mcp-round-trip.ts';

/** Every client: is it there, is it wired, does it trust, does what it would start really answer. */
export async function checkClients(site: Site, worktrees: readonly Site[]): Promise<DoctorFinding[]> {
  const found = findClients(site.env);
  const lists = await Promise.all(found.map((each) => checkClient(each, site, worktrees)));
  const findings = lists.flat();
  if (lists.some((list) => list.some(({ check, status }) => check.endsWith(' hooks') && status === 'ok')))
    return findings;
  if (findings.some(({ status }) => status === 'wrong')) return findings;
  return [...findings, wrong('clients', 'no agent client is set up here', 'Run `cox init`.')];
}

async function checkClient(
  found: FoundClient,
  site: Site,
  worktrees: readonly Site[],
): Promise<DoctorFinding[]> {
  const { client } = found;
  let configured: Configured;
  let trees: DoctorFinding[];
  try {
    configured = readConfigured(client, site);
    trees = checkWorktrees(client, worktrees);
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    return [
      wrong(
        client.name,
        error.message,
        error.remedy ?? 'Repair the file; until then the client ignores all of it.',
      ),
    ];
  }
  const { server, hooks, missing, scope } = configured;
  const there = await checkProgram(found, site.env);
  if (server === undefined && hooks.length === 0) {
    if (trees.length > 0) return [there, ...trees];
    if (found.program === undefined && !found.used) return [there];
    return [
      there,
      idle(`${client.name} setup`, 'not set up here', `Run \`cox init --client ${client.name}\`.`),
    ];
  }
  const again = `Run \`cox init --client ${client.name}${scope === 'user' ? ' --scope user' : ''}\`.`;
  const findings = [there];
  if (wiredTwice(client, site))
    findings.push(
      wrong(
        `${client.name} setup`,
        'the hooks stand in both scopes and run twice',
        'Run `cox init --undo --scope user`.',
      ),
    );
  if (server === undefined)
    findings.push(wrong(`${client.name} mcp`, 'the MCP server is not configured', again));
  else findings.push(await checkMcp(`${client.name} mcp`, server, { cwd: site.root, env: site.env }));
  if (missing.length > 0)
    findings.push(wrong(`${client.name} hooks`, `not set up: ${missing.join(', ')}`, again));
  else findings.push(...(await checkHooks(client, hooks, site.env)));
  findings.push(await checkShells(client, { ...site, scope }));
  const sites = scope === 'user' || client.spansWorktrees ? [site] : worktrees;
  findings.push(...trees);
  findings.push(
    await checkTrust(
      found,
      sites.map((each) => ({ ...each, scope })),
    ),
  );
  return findings;
}

const VERSION_MS_MAX = 20_000;

async function checkProgram(
  { client, program, used }: FoundClient,
  env: NodeJS.ProcessEnv,
): Promise<DoctorFinding> {
  if (program === undefined)
    return idle(
      client.name,
      used ? `has been used here, but \`${client.program}\` is not on the PATH` : 'not installed',
    );
  const run = await runChild(program, ['--version'], {
    cwd: '/',
    env,
    limit_ms: VERSION_MS_MAX,
  });
  if (run.code !== 0)
    return wrong(
      client.name,
      `${program} --version: ${gist(run.err) || `ended with code ${run.code}`}`,
      `Install ${client.title} again.`,
    );
  return ok(client.name, `${gist(run.out)} (${program})`);
}
