import { constants } from 'node:os';
import { signalGroup } from '../../../child-process/group.ts';
import { endMarked } from '../../../child-process/marked.ts';
import { supervise } from '../../../child-process/supervise.ts';
import type { RunResult } from '../verification-run.ts';
import { RUN_MARK, runMark } from './runner-environment.ts';
import { Tail } from './tail.ts';

/** What was written before the end is read in this time; a process that can't be ended must not hold up its result. */
const DRAIN_MS = 2_000;

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
  const child = supervise(['/bin/sh', '-c', command], { cwd, env, limit_seconds: timeout_seconds });
  const tail = new Tail();
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => tail.add(text));
  const endGroup = () => signalGroup(child.pid, 'SIGKILL');
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup();
  }, timeout_seconds * 1000);
  signal.addEventListener('abort', endGroup, { once: true });
  try {
    const exit_code = await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      // Processes that it left behind would keep the streams open, and so would the watcher.
      child.on('exit', () => {
        endGroup();
        endMarked(runMark(env[RUN_MARK] ?? ''));
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
