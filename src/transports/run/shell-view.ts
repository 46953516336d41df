import {
  closeSync,
  createReadStream,
  createWriteStream,
  openSync,
  readlinkSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { clientIdentity, clientProcess, hasEnded, readProcess } from '../../child-process/client-process.ts';
import { possibleConfinements } from '../../child-process/view-support.ts';
import { quickClock } from '../../kernel/clock.ts';
import { quickRandom } from '../../kernel/quick-random.ts';
import { findWorkspace, type Workspace } from '../../kernel/workspace.ts';
import type { Actor } from '../../ledger/log.ts';
import { openLedger } from '../../runtime/open-ledger.ts';
import { hookEntities } from '../hooks/hook-entities.ts';
import { type Client, clientActor, isClient } from '../shared/agent-clients.ts';
import { HeldView } from './held-view.ts';

/** A command must not wait for a store that is away: it runs unprotected then, as the hooks have said. */
const TIME_MS_MAX = 4000;
/** A command that has not come to its view by then runs without: the kernel has forbidden it. */
const ARRIVAL_MS_MAX = 3000;
const LOOK_EVERY_MS = 500;

/** What a launcher asks for (src/transports/cli/init/shell-launcher.ts). */
interface ShellOrder {
  readonly client: Client;
  /** The process that starts the client's shells: the client, or a shell of it. */
  readonly from_pid: number;
  /** The shell that becomes the command. */
  readonly shell_pid: number;
  /** Its own, with two FIFOs. */
  readonly folder: string;
  readonly store: string | undefined;
}

/** The bundle's entry point (scripts/hook-bundle.ts). Whatever fails, the launcher runs the command as it is. */
export function start(beforeEnd: () => void): void {
  const order = readShellOrder(process.argv.slice(2));
  const leave = (code: number) => {
    rmSync(order.folder, { recursive: true, force: true });
    process.exit(code);
  };
  const late = setTimeout(() => leave(1), TIME_MS_MAX);
  attend(order, process.env, () => {
    clearTimeout(late);
    beforeEnd();
  }).then(
    () => leave(0),
    () => leave(1),
  );
}

/** `<client> shell-view <pid> <pid> <folder> [--store URL]` */
function readShellOrder([client, , from, shell, folder = '', flag, store]: readonly string[]): ShellOrder {
  if (!isClient(client) || folder === '')
    throw new TypeError('expected a client, two processes and a folder');
  return {
    ...{ client, from_pid: Number(from), shell_pid: Number(shell), folder },
    store: flag === '--store' ? store : undefined,
  };
}

/** Says how the command is started with what others hold read-only for it, and sees to that until it ends. */
async function attend(order: ShellOrder, env: NodeJS.ProcessEnv, answered: () => void): Promise<void> {
  const { shell_pid, folder } = order;
  const shell = readProcess(shell_pid);
  if (shell === undefined) throw new Error('the shell has ended');
  const confinements = possibleConfinements();
  const view = await viewFor(order, env, confinements[0] ?? 'user');
  const handles = { input: join(folder, 'input'), output: join(folder, 'output') };
  // Opened in both ways, so that neither side waits for the other; the end of the command is seen by its process.
  const [input, output] = [openSync(handles.input, 'r+'), openSync(handles.output, 'r+')];
  const said = createReadStream('', { fd: output });
  try {
    writeSync(1, view.asShellText(confinements, { cwd: process.cwd(), env }, handles));
    const arrived = new Promise<boolean>((resolve) => {
      said.once('data', () => resolve(true));
      setTimeout(() => resolve(false), ARRIVAL_MS_MAX);
    });
    view.follow(shell_pid, createWriteStream('', { fd: input }), said);
    // The launcher waits for the end of the text.
    closeSync(1);
    answered();
    process.chdir('/');
    if (!(await arrived)) return;
    rmSync(folder, { recursive: true, force: true });
    while (!hasEnded({ ...shell, pid: shell_pid })) await quickClock.sleep(LOOK_EVERY_MS);
  } finally {
    view.close();
    // A thread that reads would keep the process from ending.
    said.destroy();
    writeSync(output, '\n');
  }
}

async function viewFor(
  { client, from_pid, store }: ShellOrder,
  env: NodeJS.ProcessEnv,
  confinement: ReturnType<typeof possibleConfinements>[number],
): Promise<HeldView> {
  const who = clientActor(client, env, {}, () => clientIdentity(client, readProcess, from_pid));
  const { agent_id } = (who.ok ? who.identity : {}) as Partial<Actor>;
  if (agent_id === undefined) throw new Error('the client is not known');
  const coxswain = await openLedger({
    ...{ store, workspace: workspaceOf(from_pid), env, entities: hookEntities, brief: true },
    ...{ clock: quickClock, random: quickRandom() },
  });
  return await HeldView.create({ coxswain, agent_id, env, confinement, trouble: () => {} });
}

/** The repository that the client was started in, as for its hooks, wherever its shell has gone since. */
function workspaceOf(from_pid: number): Workspace {
  const client = clientProcess(readProcess, from_pid);
  const found = findWorkspace(readlinkSync(`/proc/${client?.pid ?? from_pid}/cwd`));
  return found.gitCommonDir === undefined ? findWorkspace(process.cwd()) : found;
}
