import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';

/**
 * Reads fd 3, whose other end only we hold: when we die, however that happens, the group dies with us. The command itself
 * gets neither the pipe nor more than its share: file size (2 GB), processor time, no core dumps, low priority.
 */
const SUPERVISED = [
  '{ cat <&3; kill -KILL 0; } >/dev/null 2>&1 &',
  'exec 3<&-',
  '{ ulimit -c 0; ulimit -f 4194304; ulimit -t "$1"; } 2>/dev/null',
  'shift; exec nice -n 10 "$@"',
].join('\n');

/** Several processors may work for it, all of the time. */
const PROCESSORS = 8;

export interface SuperviseOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly limit_seconds: number;
  readonly stdin?: 'ignore' | 'pipe';
}

/** A command in a process group of its own, which does not outlive us. Its time is for the caller to watch. */
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
