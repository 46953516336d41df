import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { endMarked } from '../../../src/child-process/marked.ts';
import type { AgentConfig, AgentProgram } from '../../../src/features/board/files/agent-config.ts';
import type {
  Delivery,
  GrantAssignment,
  ToolFailure,
} from '../../../src/features/board/runner/execution-port.ts';
import type { Places } from '../../../src/features/board/runner/process/run-files.ts';

export interface Stage extends Disposable {
  readonly root: string;
  readonly places: Places;
  git(...words: string[]): string;
  commit(files: Record<string, string>): string;
}

const AUTHOR = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];

/** What agents commit with. */
const WHO = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

/** A real repository with one commit, and a folder for runs beside it. */
export function stage(): Stage {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cox-board-')));
  const folder = join(root, 'repository');
  mkdirSync(folder);
  const env = { PATH: process.env.PATH, HOME: root, ...WHO };
  const git = (...words: string[]) => {
    const { stdout, stderr, status } = spawnSync('git', [...AUTHOR, ...words], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`git ${words[0]}: ${stderr}`);
    return stdout.trim();
  };
  const commit = (files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'change');
    return git('rev-parse', 'HEAD');
  };
  git('init', '-q', '-b', 'main');
  commit({ 'a.txt': 'one\n', '.gitignore': 'ignored/\n' });
  const places = { runs: join(root, 'runs'), folder, repository: folder, env };
  return {
    root,
    places,
    git,
    commit,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

export function agent(command: readonly string[], program: Partial<AgentProgram> = {}): AgentConfig {
  return {
    agent_id: 'coder',
    role: 'Coder',
    max_concurrent: 1,
    workers: false,
    program: { command, runtime: 'process', workspace: 'none', environment: {}, prompts: {}, ...program },
  };
}

let runs = 0;

/** What a shell is told to do. */
export function assignment(
  script: string,
  more: Partial<GrantAssignment> = {},
  program: Partial<AgentProgram> = {},
): GrantAssignment {
  runs += 1;
  return {
    claim_id: 'claim-1',
    phase: 'exclusive',
    attempt: 1,
    run_id: `run-${process.pid}-${runs}`,
    worker: 'coder',
    agent: agent(['/bin/sh', '-c', script], program),
    input: { claim_type: 'claim', target_artefact: { type: 'Goal', payload: 'grüße' }, context_chain: [] },
    limit_ms: 60_000,
    ...more,
  };
}

/** A shell's words that print this answer. */
export function printing(answer: object = {}): string {
  const whole = { artefact_type: 'Text', artefact_payload: 'hello', summary: 'said hello', ...answer };
  return `printf '%s' '${JSON.stringify(whole).replaceAll("'", "'\\''")}'`;
}

export function failureIn(delivery: Delivery): ToolFailure {
  if (delivery.ok) throw new Error(`it did not fail: ${JSON.stringify(delivery)}`);
  return delivery.failure;
}

/** Should a test fail half-way, nothing of it stays behind. */
export function endRun(run_id: string): void {
  endMarked({ variable: 'COX_RUN', value: run_id });
}
