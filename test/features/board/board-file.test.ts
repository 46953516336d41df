import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import {
  BOARD_FILES,
  type BoardFileOptions,
  findBoardFile,
  type ReadBoard,
  readBoardFile,
} from '../../../src/features/board/runner/load-board-file.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { findWorkspace } from '../../../src/kernel/workspace.ts';

/** A repository, or a folder without one. */
function place({ git = true } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cox-board-file-')));
  if (git) execFileSync('git', ['init', '-q', root]);
  const read = (options: BoardFileOptions = {}) =>
    readBoardFile(findWorkspace(root), { env: {}, ...options });
  return {
    root,
    read,
    find: () => findBoardFile(findWorkspace(root)),
    write(name: string, text: string) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    },
    async board(options?: BoardFileOptions): Promise<ReadBoard> {
      const found = await read(options);
      assert.ok(found !== undefined && !('success' in found), JSON.stringify(found));
      return found;
    },
    async refusal(options?: BoardFileOptions): Promise<string> {
      const found = await read(options);
      assert.ok(found !== undefined && 'success' in found, JSON.stringify(found));
      assert.equal(found.error, 'board_invalid');
      return found.message;
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

const file = (agent: string): string => `agents: { ${agent}: { command: [x], bidding_strategy: claim } }\n`;

test('cox.yml, then sett.yml, then holt.yml, and no second one beside it', async () => {
  using here = place();
  assert.equal(here.find(), undefined);
  assert.equal(await here.read(), undefined);
  const warned: Record<string, string[]> = {
    'holt.yml': [],
    'sett.yml': ['holt.yml is there, too, and is not read'],
    'cox.yml': ['sett.yml is there, too, and is not read', 'holt.yml is there, too, and is not read'],
  };
  for (const name of BOARD_FILES.toReversed()) {
    here.write(name, file(name));
    assert.equal(here.find(), join(here.root, name));
    const { config, warnings } = await here.board();
    assert.deepEqual([config.file, config.folder], [name, here.root]);
    assert.deepEqual(
      config.agents.map(({ agent_id }) => agent_id),
      [name],
    );
    assert.deepEqual(
      warnings.map(({ reason }) => reason),
      warned[name],
    );
  }
});

test('--config names another file, from where it is asked; its folder is where commands run', async () => {
  using here = place();
  here.write('cox.yml', file('not-this'));
  here.write('teams/one/board.yml', file('one'));
  const { config, warnings } = await here.board({ config: 'one/board.yml', cwd: join(here.root, 'teams') });
  assert.deepEqual([config.file, config.folder], ['teams/one/board.yml', join(here.root, 'teams/one')]);
  assert.deepEqual(warnings, []);
  using elsewhere = place();
  elsewhere.write('b.yml', file('b'));
  const outside = join(elsewhere.root, 'b.yml');
  assert.equal((await here.board({ config: outside })).config.file, outside);
  assert.equal(await here.refusal({ config: 'none.yml' }), 'none.yml:1: file: there is no such file');
});

test('files of agents are paths of the repository, in their normal form', async () => {
  using here = place();
  here.write('src/a.ts', '');
  here.write(
    'sub/board.yml',
    'agents:\n  a: { files: [./src/../src/a.ts, src, "docs//*.md", "api:users"] }\n',
  );
  const { config } = await here.board({ config: 'sub/board.yml' });
  assert.deepEqual(config.agents[0]?.files, ['src/a.ts', 'src/', 'docs/*.md', 'api:users']);
  here.write(
    'cox.yml',
    'agents:\n  a:\n    files:\n      - src/a.ts\n      - ../../x\n      - .git/config\n',
  );
  assert.match(await here.refusal(), /^cox\.yml:5: agents\.a\.files\.1: .* \(and 1 more\)$/);
});

test('a worktree where there is a repository, none where there is none', async () => {
  for (const [git, workspace] of [
    [true, 'ro'],
    [false, 'none'],
  ] as const) {
    using here = place({ git });
    here.write('cox.yml', file('a'));
    assert.equal((await here.board()).config.agents[0]?.program?.workspace, workspace);
  }
});

test('variables come from the given environment and from nowhere else', async () => {
  using here = place();
  here.write('cox.yml', 'agents: { a: { command: [x], environment: [PATH, MINE] } }');
  const { config } = await here.board({ env: { MINE: '1' } });
  assert.deepEqual(config.agents[0]?.program?.environment, { MINE: '1' });
});

test('what can’t be read is said, and nothing else is read instead', async () => {
  using here = place();
  here.write('sett.yml', file('a'));
  const path = join(here.root, 'cox.yml');
  mkdirSync(path);
  assert.equal(await here.refusal(), 'cox.yml:1: file: not a file');
  rmSync(path, { recursive: true });
  symlinkSync('nothing', path);
  assert.equal(await here.refusal(), 'cox.yml:1: file: there is no such file');
  rmSync(path);
  symlinkSync('cox.yml', path);
  assert.equal(await here.refusal(), 'cox.yml:1: file: can’t be read (ELOOP)');
  rmSync(path);
  execFileSync('mkfifo', [path]);
  assert.equal(await here.refusal(), 'cox.yml:1: file: not a file', 'and nobody waits for its writer');
  rmSync(path);
  writeFileSync(path, `#${' '.repeat(limits.fleet_file_bytes_max)}`);
  assert.match(await here.refusal(), /^cox\.yml:1: file: larger than \d+ bytes$/);
});

test('a refusal carries every mistake with its line', async () => {
  using here = place();
  here.write('cox.yml', 'agents:\n  a: { replicas: 0 }\n  b: { timeout: never }\n');
  const refused = await here.read();
  assert.ok(refused !== undefined && 'success' in refused);
  assert.deepEqual(
    [refused.file, (refused.errors as { line: number }[]).map(({ line }) => line)],
    ['cox.yml', [2, 3]],
  );
});
