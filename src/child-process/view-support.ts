import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { type Confinement, HELPER_STDIO, ReadOnlyView, viewProbe } from './read-only-view.ts';
import { inSandbox } from './sandbox-view.ts';

export type ViewSupport =
  | { readonly isThere: true; readonly confinement: Confinement }
  | { readonly isThere: false; readonly why: string; readonly remedy: string };

const TRY_MS_MAX = 3000;

/** Whether it works here, and how: tried, because no single setting says so. */
export async function readOnlyViewSupport(): Promise<ViewSupport> {
  const { platform } = process;
  if (platform === 'darwin') {
    const why = await problemOf(inSandbox(['true'], []));
    return why === undefined
      ? { isThere: true, confinement: 'user' }
      : { isThere: false, why, remedy: AS_BEFORE };
  }
  if (platform !== 'linux')
    return { isThere: false, why: `${platform} has no such protection`, remedy: AS_BEFORE };
  const isRoot = process.getuid?.() === 0;
  let why = '';
  for (const confinement of isRoot ? (['root', 'bare root'] as const) : (['user'] as const)) {
    const problem = await problemOf(viewProbe(confinement));
    if (problem === undefined) return { isThere: true, confinement };
    why = problem;
  }
  return { isThere: false, why, remedy: remedyFor(why) };
}

/** In which ways it may work in this process, the best one first: for a command that can't wait until all is tried. */
export function possibleConfinements(): Confinement[] {
  if (process.getuid?.() !== 0) return ['user'];
  return mayMapIds() ? ['root', 'bare root'] : ['bare root'];
}

const SETGID = 6n;
const SETUID = 7n;

function mayMapIds(): boolean {
  const [, digits = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const capabilities = BigInt(`0x${digits}`);
  return [SETGID, SETUID].every((bit) => ((capabilities >> bit) & 1n) === 1n);
}

const AS_BEFORE = 'The hooks and git hooks work as before.';

async function problemOf([program = '', ...words]: readonly string[]): Promise<string | undefined> {
  return await new Promise<string | undefined>((resolve) => {
    const child = spawn(program, words, {
      stdio: ['ignore', 'ignore', 'pipe', ...HELPER_STDIO],
      timeout: TRY_MS_MAX,
    });
    const [, , , input, output] = child.stdio;
    const view = new ReadOnlyView(child.pid ?? 0, input as Writable, output as Readable);
    let text = '';
    (child.stderr as Readable).setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? undefined : text.trim() || `it ended with ${code}`));
    child.on('exit', () => view.close());
  });
}

function remedyFor(said: string): string {
  if (/ENOENT|not found/.test(said))
    return 'Install util-linux 2.36 or newer (unshare, mount, nsenter, setpriv).';
  if (setting('kernel/apparmor_restrict_unprivileged_userns') === '1')
    return 'AppArmor forbids user namespaces here: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or a profile for unshare that allows userns.';
  if (setting('kernel/unprivileged_userns_clone') === '0')
    return 'User namespaces are switched off here: sudo sysctl -w kernel.unprivileged_userns_clone=1.';
  return 'A container needs the capability SYS_ADMIN, or a seccomp profile that allows unshare and mount (docker run --cap-add SYS_ADMIN).';
}

function setting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
  } catch {
    return undefined;
  }
}
