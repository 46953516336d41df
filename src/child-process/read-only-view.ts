import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { shellWord } from '../kernel/shell-word.ts';
import { mountPoints } from './mount-list.ts';

/**
 * A command sees the file system as every other program does, except that some files and folders are read-only for it and for all
 * that it starts. The kernel sees to that (a mount namespace with read-only binds), so it does not matter by which program or in which
 * way a file would be written. Made with the tools of util-linux, which every Linux distribution has; no privilege is needed. On macOS
 * its sandbox does the like (sandbox-view.ts).
 */
const UNSHARE = ['unshare', '--mount', '--propagation', 'private'];

/**
 * Mounting takes a capability, which a user namespace gives, and the command must not have. Root gets such a namespace too, in which all
 * ids are its own: what it could do to processes outside (enter their namespaces, go through their /proc/PID/root, trace them, open a
 * file by its handle) takes capabilities outside. Where root may not have one, it is root without these capabilities: an outside process
 * of another user remains a way around then.
 */
const CONFINED = {
  user: {
    unshare: ['--user', '--map-current-user', '--keep-caps'],
    drop: ['--ambient-caps', '-all', '--inh-caps', '-all'],
  },
  root: {
    unshare: ['--user', '--keep-caps'],
    drop: ['--bounding-set', '-sys_admin,-sys_ptrace', '--ambient-caps', '-all', '--inh-caps', '-all'],
  },
  'bare root': {
    unshare: [],
    drop: ['--bounding-set', `-${around().join(',-')}`, '--inh-caps', '-sys_admin'],
  },
} as const;

export type Confinement = keyof typeof CONFINED;

function around(): string[] {
  return ['sys_admin', 'sys_ptrace', 'sys_module', 'sys_rawio', 'mknod', 'dac_read_search'];
}

/** From so many on, Perl's start (2 ms) pays off. */
const MANY = 16;
/**
 * `mount` reads the kernel's list of mounts again for each that it adds: 24 ms for 500. Three system calls do the same in 6 ms, and their
 * numbers are the same on every architecture; Perl is what a distribution is most likely to have that can make them. It fails before the
 * first mount or not at all (a file that has gone meanwhile is left out), so that `mount` can take over.
 */
const MOUNT_MANY = String.raw`
my ($OPEN_TREE, $MOVE_MOUNT, $MOUNT_SETATTR) = (428, 429, 442);
my ($CWD, $CLONE_ALL, $EMPTY_PATH, $RECURSIVE, $FROM_EMPTY_PATH) = (-100, 1 | 02000000 | 0x8000, 0x1000, 0x8000, 4);
my ($none, $read_only, $made) = ("", pack("Q4", 1, 0, 0, 0), 0);
sub failed { exit 1 unless $made }
open my $list, "<", $ARGV[0] or exit 1;
while (<$list>) {
  my ($from, $to, $type, $options) = split / /;
  s/\\([0-7]{3})/chr oct $1/ge for $from, $to;
  next unless -e $from;
  my $tree = syscall($OPEN_TREE, $CWD, $from, $CLONE_ALL);
  if ($tree < 0) { failed; next }
  open(my $closed_later, "<&=", $tree) or failed;
  if ($options =~ /ro/ && syscall($MOUNT_SETATTR, $tree, $none, $EMPTY_PATH | $RECURSIVE, $read_only, 32) < 0) { failed; next }
  if (syscall($MOVE_MOUNT, $tree, $none, $CWD, $to, $FROM_EMPTY_PATH) < 0) { failed; next }
  $made++;
}`;

/**
 * On a file system that is mounted `nosuid` or `nodev`, in a user namespace that has to be kept, and `mount` before util-linux 2.39 does
 * not: it makes the bind and leaves it writable. Said once more in full, it makes it read-only; one by one, because `mount -a` would make
 * the file system around it read-only as well.
 */
const AGAIN = String.raw`again() {
  mount -c -o remount,bind,ro,nosuid,nodev none "$1" || mount -c -o remount,bind,ro,nosuid,nodev,noexec none "$1"
}
again_all() {
  grep ' rbind,ro 0 0$' "$1" | sed 's/^[^ ]* //; s/ .*//; s/\\/\\0/g' | while IFS= read -r path; do
    again "$(printf %b "$path")"
  done
}`;

/** Our process sees the new namespaces before anything is done in them, and maps root's ids. */
const GREET = 'echo greeting >&4; read -r answer <&3; [ "$answer" = go ] || exit';
/**
 * First what is read-only from the start, by one process: a list of mounts. Then a helper that keeps the capability, to add and to
 * remove some later. It is no child of the command, ends with its pipe, and the command has no handle on that. It stays in the view below
 * the command's own, which only the command enters. Folders that were opened outside lead around all mounts: the command gets none of them,
 * and goes to its own folder again by its name.
 */
const SETUP = `${GREET}
${AGAIN}
{ [ -n "$2" ] && perl -e "$2" "$1" || mount -c -a -T "$1" || again_all "$1"; } 2>/dev/null
( (
  exec </dev/null >/dev/null 2>&1
  cd /
  echo ready >&4
  while IFS= read -r verb <&3 && IFS= read -r path <&3; do
    case $verb in
      hold) mount -c --rbind -o ro "/..$path" "/..$path" || again "/..$path" ;;
      free) umount -c -l "/..$path" ;;
      keep) mount -c --rbind "$path" "$path" ;;
      drop) umount -c -l "$path" ;;
    esac
    echo "$verb" >&4
  done
) & )
exec 3<&- 4>&-
[ ! -d /dev/fd/0 ] || exec </dev/null
[ ! -d /dev/fd/1 ] || exec >/dev/null
[ ! -d /dev/fd/2 ] || exec 2>/dev/null
[ -n "$4" ] && PWD=$4 || unset PWD
[ -n "$5" ] && OLDPWD=$5 || unset OLDPWD
own=/..$3
shift 5
exec nsenter --root=/.. --wd="$own" "$@"`;
/** To see whether it would work. */
const PROBE = `${GREET}; mount -c --rbind / /. && mount -c --bind -o ro /../dev/null /../dev/null && exec nsenter --root=/.. --wd=/.. "$@"`;

/** The handles by which the helper is asked, and by which it answers. */
export const HELPER_STDIO = ['pipe', 'pipe'] as const;

export interface ViewOf {
  readonly confinement: Confinement;
  /** A file with the lines of a `MountList`, of which there are `mounts`. */
  readonly list: string;
  readonly mounts: number;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** To be started with `HELPER_STDIO` as its handles 3 and 4, and attended by a `ReadOnlyView`. */
export function withReadOnlyView(command: readonly string[], view: ViewOf): string[] {
  const { PWD = '', OLDPWD = '' } = view.env;
  const many = view.mounts < MANY ? '' : MOUNT_MANY;
  return confined(view.confinement, [SETUP, 'coxswain', view.list, many, view.cwd, PWD, OLDPWD], command);
}

/** Does nothing but what the kernel could forbid. */
export function viewProbe(confinement: Confinement): string[] {
  return confined(confinement, [PROBE, 'coxswain'], ['true']);
}

function confined(confinement: Confinement, setup: readonly string[], command: readonly string[]): string[] {
  const { unshare, drop } = CONFINED[confinement];
  return [...UNSHARE, ...unshare, 'sh', '-c', ...setup, 'setpriv', ...drop, ...command];
}

/**
 * Shell text that replaces the shell by the command in its positional parameters. `handles`: the FIFOs that stand for `HELPER_STDIO`. The
 * text does nothing where the kernel forbids it.
 */
export function viewAsShellText(
  view: ViewOf,
  confinements: readonly Confinement[],
  handles: { readonly input: string; readonly output: string },
): string {
  const text = (words: readonly string[]) => words.map(shellWord).join(' ');
  const ends = `3<${shellWord(handles.input)} 4>${shellWord(handles.output)}`;
  return confinements
    .map((confinement) => {
      const attempt = text([...UNSHARE, ...CONFINED[confinement].unshare, 'nsenter', '--root=/', 'true']);
      const start = text(withReadOnlyView([], { ...view, confinement }));
      return `${attempt} >/dev/null 2>&1 && exec ${start} "$@" ${ends}\n`;
    })
    .join('');
}

/** The view of a command that was started: what its helper is asked is done when the promise resolves. */
export class ReadOnlyView {
  readonly #pid: number;
  readonly #input: Writable;
  readonly #waiting: (() => void)[] = [];
  readonly #ended: () => void;
  /** What is read-only from the start is so, or never will be. */
  readonly ready: Promise<void>;
  #isReady: () => void = () => {};
  #mounts: number | undefined;
  #left = '';
  #isOver = false;

  /** `ended`: the helper has ended, by whatever it was killed, while it was still needed. */
  constructor(pid: number, input: Writable, output: Readable, ended: () => void = () => {}) {
    this.#pid = pid;
    this.#input = input;
    this.#ended = ended;
    this.ready = new Promise((resolve) => {
      this.#isReady = resolve;
    });
    input.on('error', () => this.#end());
    output.on('error', () => this.#end()).on('close', () => this.#end());
    output.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#left + text).split('\n');
      this.#left = lines.pop() ?? '';
      for (const line of lines) {
        if (line === 'greeting') this.#greet();
        else if (line === 'ready') this.#isReady();
        else this.#waiting.shift()?.();
      }
    });
  }

  hold(path: string): Promise<void> {
    return this.#ask('hold', path);
  }

  free(path: string): Promise<void> {
    return this.#ask('free', path);
  }

  keep(name: string): Promise<void> {
    return this.#ask('keep', name);
  }

  drop(name: string): Promise<void> {
    return this.#ask('drop', name);
  }

  /** What is mounted in it now: a file that was replaced outside has lost its mount. */
  mounted(): ReturnType<typeof mountPoints> | undefined {
    return this.#mounts === undefined ? undefined : mountPoints(this.#mounts);
  }

  close(): void {
    this.#input.end();
    this.#isOver = true;
    if (this.#mounts !== undefined) closeSync(this.#mounts);
    this.#mounts = undefined;
  }

  #greet(): void {
    try {
      // The handle stays with this namespace, wherever the process goes.
      this.#mounts = openSync(`/proc/${this.#pid}/mountinfo`, 'r');
      mapIds(this.#pid);
      this.#input.write('go\n');
    } catch {
      this.#input.write('failed\n');
    }
  }

  #ask(verb: 'hold' | 'free' | 'keep' | 'drop', path: string): Promise<void> {
    // It reads lines.
    if (this.#isOver || path.includes('\n')) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#input.write(`${verb}\n${path}\n`);
    });
  }

  #end(): void {
    const isEarly = !this.#isOver;
    this.#isOver = true;
    this.#isReady();
    for (const done of this.#waiting.splice(0)) done();
    if (isEarly) this.#ended();
  }
}

/** All ids that there are for us, each as itself. A namespace that has its ids already stays as it is. */
function mapIds(pid: number): void {
  for (const map of ['uid_map', 'gid_map']) {
    const path = `/proc/${pid}/${map}`;
    if (readFileSync(path, 'utf8').trim() !== '') continue;
    const ranges = readFileSync(`/proc/self/${map}`, 'utf8').trim().split('\n');
    const own = ranges
      .map((range) => range.trim().split(/\s+/))
      .map(([first, , count]) => [first, first, count]);
    writeFileSync(path, own.map((words) => `${words.join(' ')}\n`).join(''));
  }
}
