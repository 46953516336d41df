import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { hasEnded, parseProcStat } from '../../../../child-process/client-process.ts';
import type { RunFiles } from './run-files.ts';
import { REFUSED_CODE, WRAPPER } from './wrapper-script.ts';

/** The time between being asked to end and being killed. */
export const GRACE_MS = 2_000;
/** The process that watches a run ends it in time. Its wrapper does so only if no process watches. */
const UNWATCHED_MS = 5_000;

/** The process that a command runs under. It leads the process group. */
export interface Wrapper {
  readonly pid: number;
  hasEnded(): boolean;
  /** Another wrapper already had the run. */
  wasRefused(): boolean;
  /** Called when it ends, if that is known at once. */
  onEnd(call: () => void): void;
}

export interface Wrapped {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly limit_ms: number;
  /** What is written to `ended` when the time is over. */
  readonly late: string;
}

/** Throws if it can't be started. */
export async function startWrapper(
  run: RunFiles,
  { command, cwd, env, limit_ms, late }: Wrapped,
): Promise<Wrapper> {
  const limit_seconds = Math.ceil((limit_ms + UNWATCHED_MS) / 1000);
  const told = [run.folder, run.name, String(limit_seconds), String(GRACE_MS / 1000), late];
  const words = ['-c', WRAPPER, 'cox-run', ...told, ...command];
  // A session of its own, so that neither a terminal's Ctrl-C nor a hang-up reaches it; and it shares no
  // stream with us.
  const child = spawn('/bin/sh', words, { cwd, env, detached: true, stdio: 'ignore' });
  await once(child, 'spawn');
  const { pid } = child;
  if (pid === undefined) throw new Error('no process');
  return {
    pid,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    wasRefused: () => child.exitCode === REFUSED_CODE,
    onEnd: (call) => void child.once('exit', call),
  };
}

/** The wrapper that the run's folder names, dead or alive. */
export function namedWrapper(run: RunFiles): Wrapper | undefined {
  const [pid = '', boot = '', stat = ''] = run.read('process')?.split('\n') ?? [];
  if (!/^\d+$/.test(pid)) return undefined;
  const started = parseProcStat(stat)?.started ?? stat.trim();
  const facts = { pid: Number(pid), started };
  return {
    pid: facts.pid,
    // Process ids are reused, and after a reboot so are start times.
    hasEnded: () => boot !== bootId() || hasEnded(facts),
    wasRefused: () => false,
    onEnd: () => {},
  };
}

const GIVEN_UP = 'given up\n';

/**
 * From now on no wrapper of this run starts. False: one has started. A file that names no wrapper means that
 * the run was given up before, or that the file lost its contents in a power failure; then no wrapper is left
 * either.
 */
export function giveUp(run: RunFiles): boolean {
  if (run.writeOnce('process', GIVEN_UP)) return true;
  return run.read('process') !== undefined && namedWrapper(run) === undefined;
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
