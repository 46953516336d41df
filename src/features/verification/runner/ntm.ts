import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endMarked } from '../../../child-process/marked.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { fingerprint } from '../../../kernel/fingerprint.ts';
import { limits } from '../../../kernel/limits.ts';
import type { RunResult } from '../verification-run.ts';
import type { CleanTree } from './clean-tree.ts';
import type { Executor, VerificationJob } from './executor.ts';
import { inCleanTree } from './in-clean-tree.ts';
import { cleanEnvironment, runMark } from './runner-environment.ts';
import { fitToShow } from './tail.ts';

/** A tmux server of our own: neither its sessions nor its settings mix with a person's. */
const SERVER = ['-L', 'coxswain', '-f', '/dev/null'];
const LOOK_MS = 100;

/** In a tmux session that a person can attach to: `tmux -L coxswain attach -t cox-…`. */
export const ntm: Executor = {
  name: 'ntm',
  missing: async (env) => ((await tmux(['-V'], env)) === 0 ? undefined : 'tmux, which is not installed'),
  run: (job, signal) => inCleanTree(job, (command, clean) => runInSession(job, command, clean, signal)),
};

/** Its exit code; 127 if there is no tmux. */
async function tmux(words: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn('tmux', [...SERVER, ...words], {
    env: { PATH: env.PATH, HOME: env.HOME, TMUX_TMPDIR: env.TMUX_TMPDIR, TERM: 'screen' },
    stdio: 'ignore',
  });
  const ended = await Promise.race([once(child, 'exit'), once(child, 'error').then(() => [127])]).catch(
    () => [127],
  );
  return typeof ended[0] === 'number' ? ended[0] : 1;
}

async function runInSession(
  job: VerificationJob,
  command: string,
  clean: CleanTree,
  signal: AbortSignal,
): Promise<RunResult> {
  // The run's own name: a runner that takes over from a dead one ends the session it left.
  const session = `cox-${fingerprint(job.run_id)}`;
  const [script, code, output] = ['run.sh', 'exit-code', 'output'].map((name) => join(clean.folder, name));
  if (script === undefined || code === undefined || output === undefined) throw new Error('three names');
  writeFileSync(script, scriptFor(job, command, clean, code, output), { mode: 0o700 });
  await tmux(['kill-session', '-t', `=${session}`], job.env);
  const started = await tmux(
    ['new-session', '-d', '-s', session, '-x', '200', '-y', '50', '/bin/sh', script],
    job.env,
  );
  if (started !== 0) return { status: 'error', error_message: 'tmux could not start a session.' };
  try {
    const ended = await untilThere(code, session, job, signal);
    if (ended === 'late') {
      const error_message = `Not done after ${job.policy.timeout_seconds} seconds.`;
      return { status: 'timed_out', error_message, output: endOf(output) };
    }
    if (ended === 'gone')
      return {
        status: 'error',
        error_message: 'The tmux session was ended by somebody.',
        output: endOf(output),
      };
    const exit_code = Number(readFileSync(code, 'utf8'));
    return { status: exit_code === 0 ? 'passed' : 'failed', exit_code, output: endOf(output) };
  } finally {
    await tmux(['kill-session', '-t', `=${session}`], job.env);
    endMarked(runMark(clean.mark));
  }
}

/** The window shows what the file gets. The code appears whole or not at all. */
function scriptFor(
  job: VerificationJob,
  command: string,
  clean: CleanTree,
  code: string,
  output: string,
): string {
  const env = Object.entries(cleanEnvironment(job, clean.home, clean.mark));
  const words = env.map(([name, value]) => quoted(`${name}=${value}`)).join(' ');
  const inner = `{ /bin/sh -c ${quoted(command)}; echo $? > ${quoted(`${code}.part`)}; } 2>&1 | tee ${quoted(output)}`;
  return [
    `cd ${quoted(clean.tree)} || exit 1`,
    `env -i ${words} nice -n 10 /bin/sh -c ${quoted(inner)}`,
    `mv ${quoted(`${code}.part`)} ${quoted(code)}`,
    '',
  ].join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

async function untilThere(
  code: string,
  session: string,
  job: VerificationJob,
  signal: AbortSignal,
): Promise<'there' | 'late' | 'gone'> {
  const started_ms = systemClock.elapsed_ms();
  for (let looks = 1; ; looks += 1) {
    signal.throwIfAborted();
    if (existsSync(code)) return 'there';
    if (systemClock.elapsed_ms() - started_ms > job.policy.timeout_seconds * 1000) return 'late';
    // Asking tmux takes a process; the file says it nearly always.
    if (looks % 20 === 0 && (await tmux(['has-session', '-t', `=${session}`], job.env)) !== 0)
      return existsSync(code) ? 'there' : 'gone';
    await systemClock.sleep(LOOK_MS, signal);
  }
}

function endOf(file: string): string {
  const bytes_max = 4 * limits.verification_output_chars_max;
  const descriptor = openSync(file, 'a+');
  try {
    const { size } = statSync(file);
    const buffer = Buffer.alloc(Math.min(size, bytes_max));
    readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
    return fitToShow(buffer.toString('utf8'));
  } finally {
    closeSync(descriptor);
  }
}
