import { type ChildProcess, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';

export const COX = fileURLToPath(new URL('../../../bin/cox', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A folder for repositories, gone afterwards; nothing of the user who runs the tests reaches git or cox in it. */
export class Place implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-git-')));
  readonly env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: this.folder,
    GIT_CONFIG_GLOBAL: join(this.folder, 'gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.org',
    GIT_ALLOW_PROTOCOL: 'file',
  };

  /** What a test that fails leaves running is told to end, and passes it on. */
  readonly children: ChildProcess[] = [];

  constructor() {
    writeFileSync(join(this.folder, 'gitconfig'), '[init]\n\tdefaultBranch = main\n');
  }

  /** With one commit: `a.ts` and `b.ts`. */
  repository(name = 'repo'): Repository {
    const repository = new Repository(this, join(this.folder, name));
    mkdirSync(repository.root);
    repository.must('init', '-q');
    repository.write('a.ts', 'a\n');
    repository.write('b.ts', 'b\n');
    repository.must('add', '.');
    repository.must('commit', '-qm', 'first');
    return repository;
  }

  [Symbol.dispose](): void {
    for (const child of this.children) if (child.exitCode === null) child.kill('SIGTERM');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Repository {
  readonly place: Place;
  readonly root: string;

  constructor(place: Place, root: string) {
    this.place = place;
    this.root = root;
  }

  run(
    file: string,
    words: readonly string[],
    env: Record<string, string> = {},
    input = '',
    time_ms_max = 60_000,
  ): Finished {
    const options = { cwd: this.root, env: { ...this.place.env, ...env }, input, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(file, words, { ...options, timeout: time_ms_max });
    return { code: status, out: stdout, err: stderr };
  }

  git(...words: string[]): Finished {
    return this.run('git', words);
  }

  must(...words: string[]): string {
    const { code, out, err } = this.git(...words);
    if (code !== 0) throw new Error(`git ${words.join(' ')}: ${err}`);
    return out;
  }

  cox(words: readonly string[], env: Record<string, string> = {}, input = ''): Finished {
    return this.run(process.execPath, [COX, ...words], env, input);
  }

  write(name: string, text: string, mode = 0o644): string {
    const path = join(this.root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  }

  /** All changes that are there. */
  commit(env: Record<string, string> = {}): Finished {
    this.must('add', '-A');
    return this.run('git', ['commit', '-m', 'more'], env);
  }

  /** What another agent asks for through the library. */
  async ask(agent_id: string, operation: string, input: JsonObject = {}): Promise<JsonObject> {
    const coxswain = await open({ cwd: this.root, env: {} });
    try {
      const declared = operationsByName.get(operation);
      if (declared === undefined) throw new Error(`there is no operation ${operation}`);
      return await coxswain
        .connect({ agent_id, agent_type: 'test', session_id: agent_id })
        .perform(declared, input);
    } finally {
      await coxswain.close();
    }
  }

  async lock(agent_id: string, ...file_paths: string[]): Promise<void> {
    const answer = await this.ask(agent_id, 'acquire_lock', { file_paths, reason: 'rename the router' });
    if (answer.success !== true) throw new Error(JSON.stringify(answer));
  }
}
