import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { touchedBy } from '../../src/transports/hooks/touched.ts';
import { shown } from '../command-analysis/shell-support.ts';

type Row = readonly [client: string, tool: string, input: unknown, written: string];

const PATCH = `*** Begin Patch
*** Update File: src/a.ts
@@
-a
+*** Delete File: not.ts
*** Update File: old.ts
*** Move to: new.ts
*** Add File: add.ts
+x
*** Delete File: gone.ts
*** End Patch
`;
const PATCHED = 'src/a.ts | old.ts | new.ts | add.ts | gone.ts';

async function written(client: string, tool: string, input: unknown): Promise<string> {
  return shown(await touchedBy(client, tool, input, '/repo', { home: '/h', root: '/repo' }));
}

async function check(rows: readonly Row[]): Promise<void> {
  const said = await Promise.all(
    rows.map(async ([client, tool, input]) => [client, tool, input, await written(client, tool, input)]),
  );
  assert.deepEqual(said, rows);
}

test('touched: the tools of Claude Code', async () => {
  await check([
    ['claude-code', 'Edit', { file_path: '/repo/a.ts', old_string: 'a', new_string: 'b' }, '/repo/a.ts'],
    ['claude-code', 'MultiEdit', { file_path: '/repo/a.ts', edits: [] }, '/repo/a.ts'],
    ['claude-code', 'Write', { file_path: '/repo/a.ts', content: '' }, '/repo/a.ts'],
    ['claude-code', 'NotebookEdit', { notebook_path: '/repo/a.ipynb' }, '/repo/a.ipynb'],
    ['claude-code', 'Bash', { command: 'cd src && echo x > a.ts', description: 'w' }, 'src/a.ts'],
    [
      'claude-code',
      'Bash',
      { command: 'git stash; rm ~/a $(x)' },
      '/h/a | ? $(x) as target of rm | @ git stash',
    ],
    ['claude-code', 'Read', { file_path: '/repo/a.ts' }, ''],
    ['claude-code', 'Task', { command: 'rm a.ts' }, ''],
    ['claude-code', 'write_file', { file_path: 'a.ts' }, ''],
  ]);
});

test('touched: the tools of Codex', async () => {
  await check([
    ['codex', 'apply_patch', { command: PATCH }, PATCHED],
    ['codex', 'apply_patch', { input: PATCH }, PATCHED],
    ['codex', 'apply_patch', PATCH, PATCHED],
    ['codex', 'apply_patch', { command: PATCH.replaceAll('\n', '\r\n') }, PATCHED],
    ['codex', 'apply_patch', { command: ['apply_patch', PATCH] }, PATCHED],
    // Codex takes a header that is indented.
    ['codex', 'apply_patch', { command: PATCH.replace(/^\*{3}/gm, '\t ***') }, PATCHED],
    ['codex', 'apply_patch', { command: PATCH.split('@@')[0], workdir: 'sub' }, 'sub/src/a.ts'],
    [
      'codex',
      'Bash',
      { command: `cd lib && apply_patch <<'EOF'\n${PATCH}EOF` },
      PATCHED.replace(/(^|\| )/g, '$1lib/'),
    ],
    ['codex', 'Bash', { command: 'echo three > c.txt' }, 'c.txt'],
    [
      'codex',
      'shell',
      { command: ['bash', '-lc', 'sed -i s/a/b/ a.ts'], workdir: '/repo/src' },
      '/repo/src/a.ts',
    ],
    ['codex', 'shell', { command: ['rm', 'a b.ts'] }, 'a b.ts'],
    ['codex', 'shell_command', { command: 'rm a.ts', workdir: 'src/' }, 'src/a.ts'],
    ['codex', 'exec_command', { cmd: 'rm "$PWD/a.ts"', workdir: 'src' }, '/repo/src/a.ts'],
    ['codex', 'local_shell', { action: { command: ['rm', 'a.ts'], working_directory: 'src' } }, 'src/a.ts'],
    ['codex', 'update_plan', { plan: [] }, ''],
  ]);
});

test('touched: the tools of Gemini CLI', async () => {
  await check([
    ['gemini-cli', 'write_file', { file_path: 'a.ts', content: '' }, 'a.ts'],
    ['gemini-cli', 'write_file', { absolute_path: '/repo/a.ts' }, '/repo/a.ts'],
    ['gemini-cli', 'replace', { file_path: 'a.ts', old_string: 'a', new_string: 'b' }, 'a.ts'],
    ['gemini-cli', 'run_shell_command', { command: 'rm a.ts' }, 'a.ts'],
    ['gemini-cli', 'run_shell_command', { command: 'rm a.ts', directory: 'src' }, 'src/a.ts'],
    ['gemini-cli', 'run_shell_command', { command: 'rm -r .', dir_path: 'src' }, 'tree src'],
    ['gemini-cli', 'read_file', { file_path: 'a.ts' }, ''],
  ]);
});

test('touched: file system servers behind any client', async () => {
  await check([
    ['claude-code', 'mcp__fs__write_file', { path: '/repo/a.ts' }, '/repo/a.ts'],
    ['codex', 'mcp__my_files__edit_file', { path: 'a.ts', edits: [] }, 'a.ts'],
    ['gemini-cli', 'mcp_fs_move_file', { source: 'a', destination: 'b' }, 'tree a | tree b'],
    ['claude-code', 'mcp__fs__create_directory', { path: 'new' }, 'new'],
    ['claude-code', 'mcp__fs__read_file', { path: 'a.ts' }, ''],
    ['claude-code', 'mcp__coxswain__acquire_lock', { file_path: 'a.ts' }, ''],
  ]);
});

test('touched: input that makes no sense touches nothing', async () => {
  const tools = [
    'Edit',
    'Bash',
    'apply_patch',
    'shell',
    'write_file',
    'run_shell_command',
    'mcp__x__move_file',
    '__proto__',
    'constructor',
    '',
  ];
  const clients = ['claude-code', 'codex', 'gemini-cli', 'unknown', '__proto__'];
  const odd = [
    null,
    undefined,
    1,
    'x',
    [],
    {},
    { file_path: 1 },
    { command: [1] },
    { command: {} },
    { command: [] },
    { action: 1 },
  ];
  for (const client of clients) {
    for (const tool of tools) for (const input of odd) assert.equal(await written(client, tool, input), '');
  }
  const fields = fc.constantFrom('file_path', 'path', 'command', 'cmd', 'workdir', 'action', 'input');
  const input = fc.oneof(fc.anything(), fc.dictionary(fields, fc.anything()));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...clients),
      fc.constantFrom(...tools),
      input,
      async (client, tool, value) => {
        const { writes } = await touchedBy(client, tool, value, '/repo');
        assert.ok(writes.every(({ path }) => typeof path === 'string' && path !== ''));
      },
    ),
  );
});
