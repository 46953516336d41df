import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeVerificationPolicy } from '../../../src/features/verification/operations/verification-operations.ts';
import { applyVerificationPolicies } from '../../../src/features/verification/receive-change.ts';
import type { Executor } from '../../../src/features/verification/runner/executor.ts';
import { Runner } from '../../../src/features/verification/runner/runner.ts';
import type {
  ExecutorName,
  VerificationPolicy,
} from '../../../src/features/verification/verification-policy.ts';
import { open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Coxswain } from '../../../src/runtime/coxswain.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';

export interface Repository extends AsyncDisposable {
  readonly folder: string;
  readonly store: string;
  readonly coxswain: Coxswain;
  commit(files: Record<string, string>): string;
  git(...words: string[]): string;
  ask(name: string, input?: JsonObject, agent_id?: string): Promise<JsonObject>;
  policies(...policies: VerificationPolicy[]): Promise<void>;
  /** Submitted and routed: what `verify_changeset` answers. */
  route(commit_sha: string, files: string[]): Promise<JsonObject>;
  runner(executors: readonly Executor[], options?: RunnerSettings): Runner;
}

export interface RunnerSettings {
  readonly env?: Record<string, string>;
  readonly lease_ms?: number;
  readonly name?: string;
}

export const never: AbortSignal = new AbortController().signal;

const AUTHOR = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];

/** A real repository with a store in it. */
export async function repository(): Promise<Repository> {
  const folder = mkdtempSync(join(tmpdir(), 'cox-repository-'));
  const store = `sqlite:${join(folder, '.git', 'cox.db')}`;
  const git = (...words: string[]) => {
    const env = { PATH: process.env.PATH, HOME: folder };
    const { stdout, stderr, status } = spawnSync('git', [...AUTHOR, ...words], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`git ${words[0]}: ${stderr}`);
    return stdout.trim();
  };
  git('init', '-q', '-b', 'main');
  const coxswain = await open({ store, cwd: folder, env: {} });
  const connect = (agent_id: string) =>
    coxswain.connect({ agent_id, agent_type: 'test', session_id: `s-${agent_id}` });
  const ask: Repository['ask'] = async (name, input = {}, agent_id = 'alice') => {
    const operation = operationsByName.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return await connect(agent_id).perform(operation, input);
  };
  return {
    folder,
    store,
    coxswain,
    git,
    ask,
    commit(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
      git('add', '-A');
      git('commit', '-q', '-m', 'change');
      return git('rev-parse', 'HEAD');
    },
    async policies(...policies) {
      const person = coxswain.connect({ agent_id: 'person:ann', agent_type: 'person' }, 'person');
      for (const name of ['static-analysis', 'unit-tests', 'integration-tests', 'database-migrations'])
        await person.performBuilt(removeVerificationPolicy, { name });
      await person.performBuilt(applyVerificationPolicies, { policies });
    },
    async route(commit_sha, file_paths) {
      const { changeset_id } = await ask('submit_changeset', { file_paths, commit_sha });
      return await ask('verify_changeset', { changeset_id });
    },
    runner: (executors, { env = {}, lease_ms, name = 'runner' } = {}) =>
      new Runner({
        coxswain,
        connection: connect(name),
        executors,
        root: folder,
        env: { PATH: process.env.PATH, HOME: folder, ...env },
        lease_ms,
      }),
    async [Symbol.asyncDispose]() {
      await coxswain.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function policy(
  command: string | undefined,
  more: Partial<VerificationPolicy> = {},
  executor: ExecutorName = 'inline',
): VerificationPolicy {
  return {
    name: 'checks',
    tier: 2,
    executor,
    patterns: ['**'],
    exclude_patterns: [],
    required_environment: [],
    timeout_seconds: 30,
    requires_approval: false,
    command,
    ...more,
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux' || !existsSync(`/proc/${pid}/stat`)) return existsSync(`/proc/${pid}`);
  return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}
