import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';

/**
 * Reads fd 3, whose other end only our process holds: when our process dies, however that happens, the group
 * is killed. The command itself does not get the pipe, and its resources are limited: file size (2 GB),
 * processor time, no core dumps, low priority.
 */
const SUPERVISED = [
  '{ cat <&3; kill -KILL 0; } >/dev/null 2>&1 &',
  'exec 3<&-',
  '{ ulimit -c 0; ulimit -f 4194304; ulimit -t "$1"; } 2>/dev/null',
  'shift; exec nice -n 10 "$@"',
].join('\n');

/** A command may keep this many processors busy for its whole run. */
const PROCESSORS = 8;

export interface SuperviseOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly limit_seconds: number;
  readonly stdin?: 'ignore' | 'pipe';
}

/**
 * Runs a command in a process group of its own, which does not outlive our process. The caller watches its
 * time limit.
 */
export function supervise(
  command: readonly string[],
  { cwd, env, limit_seconds, stdin = 'ignore' }: SuperviseOptions,
): ChildProcess {
  const words = [
    '-c',
    SUPERVISED,
    'cox-supervise',
    String(Math.ceil(limit_seconds) * PROCESSORS),
    ...command,
  ];
  const stdio: StdioOptions = [stdin, 'pipe', 'pipe', 'pipe'];
  return spawn('/bin/sh', words, { cwd, env, detached: true, stdio });
}
