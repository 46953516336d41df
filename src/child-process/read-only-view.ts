import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { inSandbox } from './sandbox-view.ts';

/**
 * A command sees the file system as every other program does, except that some files and folders are read-only for it and for all
 * that it starts. The kernel sees to that (a mount namespace with read-only binds), so it does not matter by which program or in which
 * way a file would be written. Made with the tools of util-linux, which every Linux distribution has; no privilege is needed. On macOS
 * its sandbox does the like (sandbox-view.ts).
 */
const UNSHARE = ['unshare', '--mount', '--propagation', 'private'];
/** Without being root, mounting takes a user namespace in which the same user has that capability. */
const AS_USER = ['--user', '--map-current-user', '--keep-caps'];

/** What takes the capability away again, so that the command can't undo the mounts. */
const DROP_AS_USER = ['setpriv', '--ambient-caps', '-all', '--inh-caps', '-all'];
const DROP_AS_ROOT = ['setpriv', '--bounding-set', '-sys_admin', '--inh-caps', '-sys_admin'];

/** From so many on, Perl's start (2 ms) pays off. */
const MANY = 16;
/**
 * `mount` reads the kernel's list of mounts again for each that it adds: 24 ms for 500. Three system calls do the same in 6 ms, and their
 * numbers are the same on every architecture; Perl is what a distribution is most likely to have that can make them. It fails before the
 * first mount or not at all (a file that has gone meanwhile is left out), so that `mount` can take over.
 */
const MOUNT_MANY = String.raw`
my ($OPEN_TREE, $MOVE_MOUNT, $MOUNT_SETATTR) = (428, 429, 442);
my ($CWD, $CLONE_CLOEXEC, $EMPTY_PATH, $FROM_EMPTY_PATH) = (-100, 1 | 02000000, 0x1000, 4);
my ($none, $read_only, $made) = ("", pack("Q4", 1, 0, 0, 0), 0);
sub failed { exit 1 unless $made }
open my $list, "<", $ARGV[0] or exit 1;
while (my $path = <$list>) {
  $path =~ s/ .*//s;
  $path =~ s/\\([0-7]{3})/chr oct $1/ge;
  next unless -e $path;
  my $tree = syscall($OPEN_TREE, $CWD, $path, $CLONE_CLOEXEC);
  if ($tree < 0) { failed; next }
  open(my $closed_later, "<&=", $tree) or failed;
  if (syscall($MOUNT_SETATTR, $tree, $none, $EMPTY_PATH, $read_only, 32) < 0) { failed; next }
  if (syscall($MOVE_MOUNT, $tree, $none, $CWD, $path, $FROM_EMPTY_PATH) < 0) { failed; next }
  $made++;
}`;

/**
 * First what is read-only from the start, by one process: a list of mounts. Then a helper that keeps the capability, to add and to
 * remove some later. It is no child of the command, ends with its pipe, and the command has no handle on that.
 */
const SETUP = `{ [ -n "$2" ] && perl -e "$2" "$1" || mount -a -T "$1"; } 2>/dev/null
shift 2
( (
  exec </dev/null >/dev/null 2>&1
  while IFS= read -r verb <&3 && IFS= read -r path <&3; do
    case $verb in
      hold) mount --bind -o ro "$path" "$path" ;;
      free) umount -l "$path" ;;
    esac
    echo "$verb" >&4
  done
) & )
exec 3<&- 4>&-
exec "$@"`;

/** The handles by which the helper is asked, and by which it answers. */
export const HELPER_STDIO = ['pipe', 'pipe'] as const;

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * `list`: a file with a line of `mountLine` for each path, of which there are `paths`. To be started with `HELPER_STDIO` as its handles
 * 3 and 4.
 */
export function withReadOnlyView(command: readonly string[], list: string, paths: number): string[] {
  const unshare = isRoot() ? UNSHARE : [...UNSHARE, ...AS_USER];
  const drop = isRoot() ? DROP_AS_ROOT : DROP_AS_USER;
  const many = paths < MANY ? '' : MOUNT_MANY;
  return [...unshare, 'sh', '-c', SETUP, 'coxswain', list, many, ...drop, ...command];
}

/** As in fstab(5). */
export function mountLine(path: string): string {
  const escaped = path.replace(
    /[ \t\n\\]/g,
    (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `${escaped} ${escaped} none bind,ro 0 0\n`;
}

/** The helper of a command that runs: what it is asked is done when the promise resolves. */
export class ReadOnlyView {
  readonly #input: Writable;
  readonly #waiting: (() => void)[] = [];
  #left = '';
  #isOver = false;

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    const end = () => {
      this.#isOver = true;
      for (const done of this.#waiting.splice(0)) done();
    };
    input.on('error', end);
    output.on('error', end).on('close', end);
    output.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#left + text).split('\n');
      this.#left = lines.pop() ?? '';
      for (const _ of lines) this.#waiting.shift()?.();
    });
  }

  hold(path: string): Promise<void> {
    return this.#ask('hold', path);
  }

  free(path: string): Promise<void> {
    return this.#ask('free', path);
  }

  close(): void {
    this.#input.end();
  }

  #ask(verb: 'hold' | 'free', path: string): Promise<void> {
    // It reads lines.
    if (this.#isOver || path.includes('\n')) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#input.write(`${verb}\n${path}\n`);
    });
  }
}

export type ViewSupport =
  | { readonly isThere: true }
  | { readonly isThere: false; readonly why: string; readonly remedy: string };

const TRY_MS_MAX = 3000;

/** Whether it works here: tried, because no single setting says so. */
export async function readOnlyViewSupport(): Promise<ViewSupport> {
  if (process.platform === 'darwin') return await tried(inSandbox(['true'], []));
  if (process.platform === 'linux')
    return await tried(
      withReadOnlyView(['true'], '/dev/null', 0).map((word) => (word === SETUP ? PROBE : word)),
    );
  return {
    isThere: false,
    why: `${process.platform} has no such protection`,
    remedy: 'The hooks and git hooks work as before.',
  };
}

const PROBE = 'mount --bind -o ro /dev/null /dev/null && shift 2 && exec "$@"';

async function tried([program = '', ...words]: readonly string[]): Promise<ViewSupport> {
  const said = await new Promise<string | undefined>((resolve) => {
    const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'], timeout: TRY_MS_MAX });
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? undefined : text.trim() || `it ended with ${code}`));
  });
  return said === undefined ? { isThere: true } : { isThere: false, why: said, remedy: remedyFor(said) };
}

function remedyFor(said: string): string {
  if (process.platform === 'darwin') return 'The hooks and git hooks work as before.';
  if (/ENOENT|not found/.test(said)) return 'Install util-linux 2.36 or newer (unshare, mount, setpriv).';
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
