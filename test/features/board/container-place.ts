import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { endContainer } from '../../../src/features/board/runner/container/container-clean-up.ts';
import { type LaunchPlaces, prepareContainer } from '../../../src/features/board/runner/container/launch.ts';
import type { ContainerTool } from '../../../src/features/board/runner/container/tool.ts';
import type { GrantAssignment } from '../../../src/features/board/runner/execution-port.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** A folder for runs and a git repository with a linked worktree, both with names that are a trial to any parser. */
export class ContainerPlace {
  readonly folder = mkdtempSync(join(tmpdir(), 'cox-container-'));
  readonly runs = join(this.folder, 'runs');
  readonly repository = join(this.folder, 'a "b", c: d');
  readonly worktree = join(this.folder, 'work, tree');

  readonly #started: { readonly tool: ContainerTool; readonly run_id: string }[] = [];

  constructor(t: TestContext) {
    t.after(async () => {
      for (const { tool, run_id } of this.#started) await endContainer(tool, run_id);
      rmSync(this.folder, { recursive: true, force: true });
    });
    mkdirSync(this.runs, { mode: 0o700 });
    mkdirSync(this.repository);
    this.git('init', '-q', '-b', 'main');
    this.git('config', 'user.name', 'A');
    this.git('config', 'user.email', 'a@example.org');
    writeFileSync(join(this.repository, 'file'), 'first\n');
    this.git('add', '.');
    this.git('commit', '-qm', 'first');
    this.git('worktree', 'add', '-q', '--detach', this.worktree);
  }

  git(...words: string[]): string {
    const { status, stdout, stderr } = spawnSync('git', ['-C', this.repository, ...words], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  }

  /** Started as a wrapper does it: in a group of its own. */
  async start(
    assignment: GrantAssignment,
    tool: ContainerTool,
    more: Partial<LaunchPlaces> & { input?: string } = {},
  ): Promise<Started> {
    mkdirSync(join(this.runs, assignment.run_id), { recursive: true, mode: 0o700 });
    const { input = '', ...places } = more;
    const launch = await prepareContainer(assignment, tool, {
      ...{ project: 'shop', runs: this.runs, variables: {}, worktree: this.worktree },
      ...places,
    });
    if (!launch.ok) throw new Error(launch.reason);
    this.#started.push({ tool, run_id: assignment.run_id });
    const [program = '', ...words] = launch.command;
    const child = spawn(program, words, { env: launch.env, detached: true, stdio: 'pipe' });
    const ended = collect(child);
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    return { child, ended };
  }

  async run(...words: Parameters<ContainerPlace['start']>): Promise<Ended> {
    return await (await this.start(...words)).ended;
  }
}

async function collect(child: ChildProcess): Promise<Ended> {
  const output = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output.out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    output.err += text;
  });
  const [code] = await once(child, 'close');
  return { code, ...output };
}
