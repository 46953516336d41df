import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunResult } from '../verification-run.ts';
import type { Executor, VerificationJob } from './executor.ts';
import { failedToRun } from './executor.ts';
import { inCleanTree } from './in-clean-tree.ts';
import { missingVariables } from './runner-environment.ts';
import { fitToShow } from './tail.ts';

/** As much of the `e2b` package as is used here. */
export interface E2bSandbox {
  readonly files: { write(path: string, data: ArrayBuffer): Promise<unknown> };
  readonly commands: {
    run(
      command: string,
      options: { cwd?: string; envs?: Record<string, string>; timeoutMs?: number },
    ): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  };
  kill(): Promise<unknown>;
}

export interface E2bSdk {
  readonly Sandbox: { create(options: { apiKey: string; timeoutMs: number }): Promise<E2bSandbox> };
}

const ARCHIVE = '/tmp/cox-tree.tar.gz';
const TREE = '/tmp/cox-tree';
/** Room for making the sandbox and unpacking, beside the command itself. */
const SET_UP_MS = 120_000;

/** It is no dependency of ours: who wants it adds it. */
async function installedSdk(): Promise<E2bSdk> {
  const name = 'e2b';
  return (await import(name)) as E2bSdk;
}

/** In a sandbox of e2b.dev, which nothing of this machine can be reached from. */
export function e2b(load: () => Promise<E2bSdk> = installedSdk): Executor {
  return {
    name: 'e2b',
    async missing(env) {
      if (!env.E2B_API_KEY) return 'E2B_API_KEY';
      try {
        await load();
        return undefined;
      } catch {
        return 'the package e2b: npm install e2b';
      }
    },
    async run(job, signal) {
      const { Sandbox } = await load();
      return await inCleanTree(job, async (command, { folder, tree }) => {
        const archive = join(folder, 'tree.tar.gz');
        await packed(tree, archive);
        signal.throwIfAborted();
        const timeoutMs = job.policy.timeout_seconds * 1000 + SET_UP_MS;
        const sandbox = await Sandbox.create({ apiKey: job.env.E2B_API_KEY ?? '', timeoutMs });
        const end = () => void sandbox.kill().catch(() => {});
        signal.addEventListener('abort', end, { once: true });
        try {
          return await within(sandbox, job, command, await readFile(archive));
        } catch (error) {
          signal.throwIfAborted();
          return failedToRun(error);
        } finally {
          signal.removeEventListener('abort', end);
          await sandbox.kill().catch(() => {});
        }
      });
    },
  };
}

async function within(
  sandbox: E2bSandbox,
  job: VerificationJob,
  command: string,
  archive: Buffer,
): Promise<RunResult> {
  const bytes = new Uint8Array(archive).buffer;
  await sandbox.files.write(ARCHIVE, bytes);
  await sandbox.commands.run(`mkdir -p ${TREE} && tar -xzf ${ARCHIVE} -C ${TREE}`, {});
  const envs = Object.fromEntries(
    job.policy.required_environment
      .filter((name) => !missingVariables(job).includes(name))
      .map((name) => [name, job.env[name] ?? '']),
  );
  const options = {
    cwd: TREE,
    envs: { CI: 'true', COX_COMMIT: job.commit_sha, ...envs },
    timeoutMs: job.policy.timeout_seconds * 1000,
  };
  try {
    return resultOf(await sandbox.commands.run(command, options));
  } catch (error) {
    // Its way of saying that a command ended with another code than 0, and that its time is over.
    if (isExit(error)) return resultOf(error);
    if (error instanceof Error && error.name === 'TimeoutError')
      return { status: 'timed_out', error_message: `Not done after ${job.policy.timeout_seconds} seconds.` };
    throw error;
  }
}

function isExit(error: unknown): error is { exitCode: number; stdout: string; stderr: string } {
  return (
    typeof error === 'object' &&
    error !== null &&
    typeof (error as { exitCode?: unknown }).exitCode === 'number'
  );
}

function resultOf({
  exitCode,
  stdout,
  stderr,
}: {
  exitCode: number;
  stdout: string;
  stderr: string;
}): RunResult {
  const output = fitToShow(`${stdout}${stderr === '' ? '' : `\n${stderr}`}`);
  return { status: exitCode === 0 ? 'passed' : 'failed', exit_code: exitCode, output };
}

/** Without git's own file, whose path would mean nothing there. */
function packed(tree: string, archive: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('tar', ['-czf', archive, '--exclude=./.git', '-C', tree, '.'], { stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`tar ended with ${code}`))));
  });
}
