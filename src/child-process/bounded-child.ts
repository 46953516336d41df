import { type ChildProcess, spawn } from 'node:child_process';
import { systemClock } from '../kernel/clock.ts';

export interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly took_ms: number;
}

const OUTPUT_CHARS_MAX = 1_000_000;
const GIST_CHARS_MAX = 300;

/** Runs until it ends or its time is up; never throws. */
export async function runChild(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; input?: string; shell?: boolean; limit_ms: number },
): Promise<Run> {
  const { cwd, env, input = '', shell = false, limit_ms } = options;
  const started_ms = systemClock.elapsed_ms();
  return await new Promise((resolve) => {
    const output = { out: '', err: '' };
    const finish = (code: number | null) => {
      clearTimeout(timer);
      resolve({ code, ...output, took_ms: systemClock.elapsed_ms() - started_ms });
    };
    // In its own process group, so that whatever a shell started ends with it.
    const child = spawn(command, args, { cwd, env, shell, detached: process.platform !== 'win32' });
    const timer = setTimeout(() => {
      output.err += `no answer within ${limit_ms / 1000} s`;
      endGroup(child);
    }, limit_ms);
    const collect = (stream: 'out' | 'err') => (text: string) => {
      if (output[stream].length < OUTPUT_CHARS_MAX) output[stream] += text;
    };
    child.stdout?.setEncoding('utf8').on('data', collect('out'));
    child.stderr?.setEncoding('utf8').on('data', collect('err'));
    child.stdin?.on('error', () => {}); // The program need not read its input.
    child.on('error', (error) => {
      output.err += error.message;
      finish(null);
    });
    child.on('close', finish);
    child.stdin?.end(input);
  });
}

export function endGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {}
}

/** The most telling line of an error output: the error line above a stack trace, or else the last line. */
export function gist(text: string): string {
  const lines = text.trim().split('\n');
  const line = lines.find((each) => /^\s*(\w*Error|error)\b/.test(each)) ?? lines.at(-1) ?? '';
  return line.trim().slice(0, GIST_CHARS_MAX);
}
