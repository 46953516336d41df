import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { RunResult } from '../../domain/verification/run.ts';
import { RUN_MARK } from './environment.ts';
import { endMarked } from './marked-processes.ts';
import { Tail } from './tail.ts';

/**
 * Reads fd 3, whose other end only the runner holds: when the runner dies, however that happens, the group dies with it. The
 * command itself gets neither the pipe nor more than its share: file size (2 GB), processor time, no core dumps, low priority.
 */
const SUPERVISED = [
  '{ cat <&3; kill -KILL 0; } >/dev/null 2>&1 &',
  'exec 3<&-',
  '{ ulimit -c 0; ulimit -f 4194304; ulimit -t "$1"; } 2>/dev/null',
  'shift; exec nice -n 10 /bin/sh -c "$1"',
].join('\n');

/** What was written before the end is read in this time; a process that can't be ended must not hold up its result. */
const DRAIN_MS = 2_000;
/** Several processors may work for it, all of the time. */
const PROCESSORS = 8;

export interface Supervised {
  readonly command: string;
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly timeout_seconds: number;
}

/** A shell command in a process group of its own. All of the group is ended with it: at its end, in time, or by the signal. */
export async function runSupervised(
  { command, cwd, env, timeout_seconds }: Supervised,
  signal: AbortSignal,
): Promise<RunResult> {
  signal.throwIfAborted();
  const words = ['-c', SUPERVISED, 'cox-verify', String(timeout_seconds * PROCESSORS), command];
  const child = spawn('/bin/sh', words, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const tail = new Tail();
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => tail.add(text));
  const endGroup = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nobody is left in it.
    }
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup();
  }, timeout_seconds * 1000);
  signal.addEventListener('abort', endGroup, { once: true });
  try {
    const exit_code = await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      // Whoever it left behind would keep the streams open, and the watch does.
      child.on('exit', () => {
        endGroup();
        endMarked(env[RUN_MARK] ?? '');
        setTimeout(() => {
          child.stdout?.destroy();
          child.stderr?.destroy();
        }, DRAIN_MS).unref();
      });
      child.on('close', (code, killedBy) => resolve(code ?? 128 + constants.signals[killedBy ?? 'SIGKILL']));
    });
    if (isLate) {
      const error_message = `Not done after ${timeout_seconds} seconds.`;
      return { status: 'timed_out', error_message, output: tail.text() };
    }
    signal.throwIfAborted();
    return { status: exit_code === 0 ? 'passed' : 'failed', exit_code, output: tail.text() };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', endGroup);
  }
}
