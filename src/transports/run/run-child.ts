import { spawn } from 'node:child_process';
import { accessSync, closeSync, constants as fileModes, fstatSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { systemClock } from '../../kernel/clock.ts';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
/** The terminal sends these to everything that runs in it; passed on once more they would mean "now at once". */
const FROM_TERMINAL: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT']);
const PATIENCE_MS = 5_000;

export interface Child {
  /** What a shell would say: the command's exit code, 128 and the signal it died of, 126 and 127 if it did not start. */
  readonly ended: Promise<number>;
  readonly pid: number | undefined;
  /** First as Ctrl-C would, then as `kill` does. */
  stop(): void;
  /** The ends of the handles after the standard ones, as `startChild` was given them. */
  readonly handles: readonly (Readable | Writable | null | undefined)[];
  /** Everything is in order: from now on a signal ends this process as usual. */
  letGo(): void;
}

/** Whether there is such a program, as far as its name tells. */
export function canStart(
  [file = '']: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
) {
  const folders = file.includes('/') ? [''] : (env.PATH ?? '').split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(resolve(cwd, folder, file), fileModes.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A folder that was opened outside leads around what is mounted for the command. To be called before this process opens any itself. */
export function closeInheritedFolders(): void {
  if (process.platform !== 'linux') return;
  for (const handle of readdirSync('/proc/self/fd').map(Number))
    try {
      if (handle > 2 && fstatSync(handle).isDirectory()) closeSync(handle);
    } catch {}
}

/** The command with our terminal, standard streams and signals, as if it had been started without us. */
export function startChild(
  [file = '', ...words]: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly besides?: readonly 'pipe'[] },
  say: (text: string) => void,
): Child {
  const { cwd, env, besides = [] } = options;
  const child = spawn(file, words, { cwd, env, stdio: ['inherit', 'inherit', 'inherit', ...besides] });
  // Not by `process.stdin`: to open it would make the command's own input non-blocking.
  const inTerminal = [0, 1, 2].some((stream) => isatty(stream));
  const forward = (signal: NodeJS.Signals) => {
    if (!(inTerminal && FROM_TERMINAL.has(signal))) child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  const over = new AbortController();
  const ended = new Promise<number>((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      // Also told when a signal could not be delivered; then it runs on.
      if (child.pid !== undefined) return;
      say(`${file} could not be started: ${error.message}`);
      resolve(error.code === 'ENOENT' ? 127 : 126);
    });
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
  void ended.then(() => over.abort());
  return {
    ended,
    pid: child.pid,
    handles: child.stdio.slice(3),
    stop() {
      child.kill('SIGINT');
      const insist = async () => {
        await systemClock.sleep(PATIENCE_MS, over.signal);
        child.kill('SIGTERM');
      };
      insist().catch(() => {});
    },
    letGo() {
      for (const signal of FORWARDED) process.removeListener(signal, forward);
    },
  };
}
