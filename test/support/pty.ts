import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

const bin = fileURLToPath(new URL('../../bin/cox', import.meta.url));

/** `cox` in a terminal of its own, as util-linux `script` makes one. */
export interface Pty extends AsyncDisposable {
  /** Of cox itself. */
  readonly pid: number;
  /** Everything that came out so far, escapes and all. */
  output(): string;
  type(keys: string): void;
  /** As a shell's `fg` does. `script` stops when cox does, as a shell would. */
  resume(): Promise<void>;
  /** Waits until the output, from an offset on, has the text. */
  shows(text: string, from?: number): Promise<void>;
  ended(): Promise<number | null>;
}

export async function inTerminal(
  words: readonly string[],
  options: { cwd: string; env: Record<string, string>; columns?: number; rows?: number },
): Promise<Pty> {
  const { columns = 80, rows = 24 } = options;
  const quoted = [process.execPath, bin, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const command = `stty rows ${rows} cols ${columns}; echo "pid=$$"; exec ${quoted.join(' ')}`;
  const child: ChildProcess = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd: options.cwd,
    env: { PATH: process.env.PATH, TERM: 'xterm', SHELL: '/bin/sh', ...options.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const pid = await until(async () => Number(/pid=(\d+)/.exec(out)?.[1] ?? 0) || undefined);
  return {
    pid,
    output: () => out,
    type: (keys) => void child.stdin?.write(keys),
    async resume() {
      // Continued before it has stopped, either of them would stop for ever.
      const stopped = (process: number | undefined) =>
        /^\d+ \(.*\) T/.test(readFileSync(`/proc/${process}/stat`, 'utf8'));
      await until(async () => stopped(pid) && stopped(child.pid));
      child.kill('SIGCONT');
      process.kill(pid, 'SIGCONT');
    },
    shows: async (text, from = 0) => void (await until(async () => out.slice(from).includes(text))),
    ended: async () => (await closed)[0],
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await closed;
    },
  };
}
