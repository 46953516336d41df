import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { gist, runChild } from '../../../child-process/bounded-child.ts';
import { readOnlyViewSupport } from '../../../child-process/view-support.ts';
import type { AgentClient, Site } from '../init/clients/client-setup.ts';
import { isOurLauncher } from '../init/shell-launcher.ts';
import { ownPrograms } from '../init/wiring.ts';
import { type DoctorFinding, idle, ok, wrong } from './doctor-finding.ts';

const START_MS_MAX = 10_000;
/** Each set of mounts has a number of its own. */
const MOUNTS = '/proc/self/ns/mnt';

/** Does the kernel keep held files read-only for the client's shell commands? One is started as the client would. */
export async function checkShells(client: AgentClient, site: Site): Promise<DoctorFinding> {
  const check = `${client.name} shells`;
  const instead = `Start it with \`cox run ${client.program}\`: then the kernel protects the whole session.`;
  const support = await readOnlyViewSupport();
  if (!support.isThere)
    return idle(check, 'read by the hooks only: the kernel does not help here (see protection)');
  const { shells } = client;
  if (process.platform !== 'linux' || shells === undefined)
    return idle(check, `read by the hooks only: ${client.title} offers no way to protect them`, instead);
  const launcher = shells.launcher(site);
  if (launcher === undefined || !isOurLauncher(launcher)) {
    const wiring = { programs: ownPrograms(), locks: 'auto', shells: '/' } as const;
    const note = shells.note(site, wiring);
    return note === undefined
      ? idle(check, 'read by the hooks only', `Run \`cox init --client ${client.name}\`.`)
      : idle(check, note);
  }
  const again = `Run \`cox init --client ${client.name}\`.`;
  if (!existsSync(launcher)) return wrong(check, `${launcher} is missing`, again);
  if (!readFileSync(launcher, 'utf8').includes('shell-view'))
    return idle(check, 'read by the hooks only, as --locks warn has it');
  const { words, env } = shells.start(launcher, `readlink ${MOUNTS}`);
  const [program = '', ...rest] = words;
  const options = { cwd: site.root, env: { ...site.env, ...env }, limit_ms: START_MS_MAX };
  const run = await runChild(program, rest, options);
  if (run.code === 0 && run.out.trim() !== readlinkSync(MOUNTS))
    return ok(check, 'the kernel keeps files that others hold read-only for its shell commands');
  return wrong(check, `${launcher} does not protect: ${gist(run.err) || 'the command ran as it is'}`, again);
}
