import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { submitWork } from '../../../src/features/queue/operations/submit-work-operation.ts';
import { CLIENTS } from '../../../src/transports/shared/agent-clients.ts';
import { git, Stage } from './support.ts';

const REQUIRE = { flags: ['--locks', 'require'] };
const WARN = { flags: ['--locks', 'warn'] };

for (const client of CLIENTS) {
  test(`[LOCK-12] ${client}: a free file is locked by the edit, and the next agent's edit is denied`, async () => {
    await using stage = new Stage();
    const [alice, bob] = [stage.agent('alice', client), stage.agent('bob', client)];
    const first = await alice.edit('a.txt');
    assert.deepEqual([first.code, first.out, first.err], [0, '', '']);
    assert.deepEqual(await stage.locks(), ['a.txt: alice (editing (automatic))']);
    assert.equal((await alice.edit('a.txt')).out, '', 'again');

    const second = await bob.edit('a.txt');
    assert.equal(second.code, 0);
    const reason = second.denied ?? '';
    assert.match(reason, /^Coxswain: a\.txt is locked by alice/);
    assert.match(reason, /until \d{4}-\d\d-\d\dT[\d:.]+Z \(120 min\): "editing \(automatic\)"/);
    assert.match(reason, /send_message/);
    assert.match(reason, /acquire_lock and wait_seconds/);
    const shape =
      client === 'gemini-cli'
        ? { decision: 'deny', reason }
        : {
            hookSpecificOutput: {
              hookEventName: 'PreToolUse',
              permissionDecision: 'deny',
              permissionDecisionReason: reason,
            },
          };
    assert.deepEqual(second.answer, shape, 'as the client wants it, and nothing else');
    assert.deepEqual(await stage.locks(), ['a.txt: alice (editing (automatic))']);
    assert.equal((await bob.edit('b.txt')).out, '', 'another file is free');
  });

  test(`[LOCK-12] ${client}: require wants the lock first; its own lets the edit through`, async () => {
    await using stage = new Stage();
    const alice = stage.agent('alice', client, REQUIRE);
    assert.match(
      (await alice.edit('a.txt')).denied ?? '',
      /you do not hold a\.txt\. Lock it first \(acquire_lock/,
    );
    assert.deepEqual(await stage.locks(), []);
    // Shorter than what an edit would take: it is held now, and that is what counts.
    await stage.ask('alice', 'acquire_lock', { file_path: 'a.txt', reason: 'mine', ttl_minutes: 5 });
    assert.equal((await alice.edit('a.txt')).out, '');
    const denied = (await stage.agent('bob', client, REQUIRE).edit('a.txt')).denied ?? '';
    assert.match(denied, /a\.txt is locked by alice .*: "mine"/);
  });

  test(`[LOCK-12] ${client}: warn lets the edit through and says who is at work there`, async () => {
    await using stage = new Stage();
    await stage.agent('alice', client).edit('a.txt');
    const bob = stage.agent('bob', client, WARN);
    const { denied, context, notice } = await bob.edit('a.txt');
    assert.equal(denied, undefined);
    assert.match(notice ?? '', /^Coxswain: a\.txt is locked by alice/);
    // Gemini drops what is said to its agent before a tool; so it is said afterwards.
    const said = client === 'gemini-cli' ? (await bob.edited('a.txt')).context : context;
    if (client === 'gemini-cli') assert.equal(context, undefined);
    assert.match(said ?? '', /^Coxswain warns: a\.txt is locked by alice/);
    assert.deepEqual(await stage.locks(), ['a.txt: alice (editing (automatic))']);
    await bob.edit('b.txt');
    assert.equal(
      (await stage.locks())[1],
      'b.txt: bob (editing (automatic))',
      'a free one is locked here too',
    );
  });
}

test('[LOCK-12] under require a lock on the folder or on a pattern is the lock', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice', 'claude-code', REQUIRE);
  await stage.ask('alice', 'acquire_lock', { file_path: 'src/' });
  assert.equal((await alice.edit('src/c.ts')).out, '');
  await stage.ask('alice', 'acquire_lock', { file_path: '*.txt' });
  assert.equal((await alice.edit('a.txt')).out, '');
  assert.notEqual((await alice.edit('README.md')).denied, undefined);
  await stage.ask('alice', 'acquire_lock', { file_path: 'docs/', shared: true });
  assert.notEqual((await alice.edit('docs/a.md')).denied, undefined, 'a reader may not write');
});

test('[LOCK-12] under require a command is denied whose written files can’t be told from its text', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice', 'claude-code', REQUIRE);
  const unread = 'f=$(next-file); echo x > "$f"';
  assert.match((await alice.shell(unread)).denied ?? '', /could not tell which files this writes/);
  assert.equal((await alice.shell('ls && npm test')).denied, undefined, 'what writes nothing is no question');
  assert.equal(
    (await stage.agent('bob').shell(unread)).denied,
    undefined,
    'where locks are not required it goes ahead',
  );
});

test('[LOCK-12] a file in a folder, or under a pattern, that another holds is that other’s', async () => {
  await using stage = new Stage();
  await stage.ask('alice', 'acquire_lock', { file_path: 'src/', reason: 'moving the router' });
  const bob = stage.agent('bob');
  assert.match((await bob.edit('src/c.ts')).denied ?? '', /alice.*who holds src\/,.*"moving the router"/);
  assert.match((await bob.edit('src/new/deep.ts')).denied ?? '', /alice/);
});

test('[LOCK-10] [LOCK-12] braces beside a wildcard that are a name’s own are no way around a lock', async () => {
  await using stage = new Stage();
  await stage.ask('alice', 'acquire_lock', { file_path: 'src/', reason: 'moving the router' });
  const bob = stage.agent('bob');
  assert.match((await bob.edit('src/*{a,b}.ts')).denied ?? '', /alice/);
  const command = "rm 'src/{a,b}'*.ts";
  const { denied } = await bob.hook('before-tool', { tool_name: 'Bash', tool_input: { command } });
  assert.match(denied ?? '', /alice/);
  assert.equal((await bob.edit('lib/*{a,b}.ts')).out, '');
});

test('[LOCK-12] what lies outside the repository or in git’s own folder is nobody’s', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  for (const file_path of [
    '/nowhere/x.txt',
    join(stage.folder, 'x'),
    join(stage.repo, '.git', 'description'),
  ]) {
    const { code, out } = await alice.hook('before-tool', { tool_name: 'Write', tool_input: { file_path } });
    assert.deepEqual([code, out], [0, ''], file_path);
  }
  assert.deepEqual(await stage.locks(), []);
});

test('[LOCK-12] a tool that only looks is let through without a store', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice', 'claude-code', REQUIRE);
  const tools = ['Read', 'Grep', 'mcp__coxswain__acquire_lock', 'mcp_coxswain_acquire_lock'];
  for (const tool_name of tools) {
    const { out } = await alice.hook('before-tool', {
      tool_name,
      tool_input: { file_path: `${stage.repo}/a.txt` },
    });
    assert.equal(out, '', tool_name);
  }
  assert.ok(!existsSync(stage.store), 'nobody has opened it');
});

test('[LOCK-12] all spellings of a held file are that file', async () => {
  await using stage = new Stage();
  await stage.agent('alice').edit('a.txt');
  mkdirSync(join(stage.folder, 'elsewhere', 'deep'), { recursive: true });
  symlinkSync(join(stage.repo, 'a.txt'), join(stage.repo, 'alias.txt'));
  symlinkSync(join(stage.folder, 'elsewhere', 'deep'), join(stage.repo, 'away'));
  symlinkSync(stage.repo, join(stage.folder, 'door'));
  const bob = stage.agent('bob');
  const spellings = [
    `${stage.repo}/alias.txt`,
    `${stage.folder}/door/a.txt`,
    `${stage.repo}/src/../a.txt`,
    `${stage.repo}//./a.txt`,
    'a.txt',
    // The kernel looks for it next to `deep`; a client that tidies the path up first means ours.
    `${stage.repo}/away/../a.txt`,
    // Longer than any system opens, and short once it is tidied up.
    `${stage.repo}/${'./'.repeat(3000)}a.txt`,
    `${stage.repo}/${'src/../'.repeat(1000)}a.txt`,
  ];
  for (const file_path of spellings) {
    const { denied } = await bob.hook('before-tool', { tool_name: 'Write', tool_input: { file_path } });
    assert.match(denied ?? '', /a\.txt is locked by alice/, file_path.slice(0, 200));
  }
});

test('[LOCK-12] a name that can’t be locked is still part of a folder that can', async () => {
  await using stage = new Stage();
  const [alice, bob] = [stage.agent('alice'), stage.agent('bob')];
  const names = ['src/x\ny.ts', 'src/x\u2028y.ts', `src/${'deep/'.repeat(200)}y.ts`];
  for (const name of names) assert.equal((await alice.edit(name)).out, '', 'free');
  for (const name of names) assert.match((await bob.edit(name)).denied ?? '', /alice/, 'taken');
  await alice.hook('turn-end');
  assert.deepEqual(await stage.locks(), []);
  await stage.ask('alice', 'acquire_lock', { file_path: 'src/' });
  for (const name of names)
    assert.match((await bob.edit(name)).denied ?? '', /alice/, JSON.stringify(name).slice(0, 60));
  assert.equal(
    (await bob.hook('before-tool', { tool_name: 'Write', tool_input: { file_path: '/odd/x\ny' } })).out,
    '',
  );
});

test('[LOCK-12] a command that writes several files gets all of them or none', async () => {
  await using stage = new Stage();
  const [alice, bob] = [stage.agent('alice'), stage.agent('bob')];
  const many = Array.from({ length: 45 }, (_, index) => `echo x > f${index}.txt`).join('; ');
  await alice.edit('f44.txt');
  assert.match((await bob.shell(many)).denied ?? '', /f44\.txt is locked by alice/);
  assert.deepEqual(
    await stage.locks(),
    ['f44.txt: alice (editing (automatic))'],
    'the first forty are free again',
  );
  await alice.hook('turn-end');
  assert.equal((await bob.shell(many)).out, '');
  assert.equal((await stage.locks()).length, 45);
});

test('[LOCK-12] agents in different worktrees of one repository share its locks', async () => {
  await using stage = new Stage();
  const tree = join(stage.folder, 'tree');
  git(stage.repo, 'worktree', 'add', '-q', tree, '-b', 'side');
  const alice = stage.agent('alice');
  const bob = stage.agent('bob', 'claude-code', { cwd: tree });
  await alice.edit('a.txt');
  assert.match((await bob.edit('a.txt')).denied ?? '', /a\.txt is locked by alice/);
  await bob.edit('b.txt');
  assert.match((await alice.edit('b.txt')).denied ?? '', /b\.txt is locked by bob/);
  // Started in the main checkout, at work in the worktree.
  const carol = stage.agent('carol', 'claude-code', { env: { CLAUDE_PROJECT_DIR: stage.repo } });
  const tool_input = { file_path: join(tree, 'a.txt') };
  assert.match(
    (await carol.hook('before-tool', { cwd: tree, tool_name: 'Write', tool_input })).denied ?? '',
    /alice/,
  );
});

test('[LOCK-12] of many edits of one file at the same moment one goes through', async () => {
  await using stage = new Stage();
  const agents = Array.from({ length: 6 }, (_, index) => stage.agent(`agent-${index}`));
  const answers = await Promise.all(agents.map((agent) => agent.edit('a.txt')));
  assert.equal(answers.filter(({ out }) => out === '').length, 1);
  assert.equal(answers.filter(({ denied }) => denied !== undefined).length, 5);
});

test('[LOCK-12] the bundle and `cox hook` answer alike', async () => {
  await using stage = new Stage();
  await stage.ask('alice', 'acquire_lock', { file_path: 'a.txt', reason: 'both' });
  const bob = stage.agent('bob');
  const [bundled, unbundled] = [await bob.edit('a.txt'), await bob.edit('a.txt', { unbundled: true })];
  assert.match(bundled.denied ?? '', /locked by alice/);
  // Minutes are counted from now.
  const plain = (text: string) => text.replace(/\(\d+ min\)/, '');
  assert.equal(plain(unbundled.out), plain(bundled.out));
  const options = { flags: ['--locks', 'warn'], unbundled: true };
  assert.match((await bob.edit('a.txt', options)).context ?? '', /warns: a\.txt is locked by alice/);
});

test('[LOCK-12] rows of the log about other things than locks, which no record shows yet, are read before an edit', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  const connection = (await stage.open()).connect({ agent_id: 'other' });
  let isOver = false;
  const busy = (async () => {
    // The records follow in a quiet moment, and there is none.
    while (!isOver) await connection.perform(submitWork, { task_type: 't', task_description: 'd' });
  })();
  const { out, denied } = await alice.edit('a.txt');
  isOver = true;
  await busy;
  assert.deepEqual([out, denied], ['', undefined]);
  assert.deepEqual(await stage.locks(), ['a.txt: alice (editing (automatic))']);
});

test('[LOCK-12] a path by way of the top of the work tree is the file that it leads to', async () => {
  await using stage = new Stage();
  const tree = join(stage.folder, 'tree');
  git(stage.repo, 'worktree', 'add', '-q', tree, '-b', 'side');
  await stage.ask('alice', 'acquire_lock', { file_paths: ['a.txt', 'src/c.ts'] });
  const commands = [
    'cd "$(git rev-parse --show-toplevel)" && sed -i s/one/two/ a.txt',
    'cd src && R=$(git rev-parse --show-toplevel); echo x > "$R/a.txt"',
    'cd src && cd "$(git rev-parse --show-cdup)" && echo x > a.txt',
    'D=$(realpath src); echo x > $D/c.ts',
    'cp b.txt "$(readlink -f a.txt)"',
  ];
  for (const cwd of [stage.repo, tree])
    for (const command of commands)
      assert.match(
        (await stage.agent('bob', 'claude-code', { cwd }).shell(command)).denied ?? '',
        /is locked by alice/,
        command,
      );
  const inside = stage.agent('bob', 'claude-code', { cwd: join(stage.repo, 'src') });
  assert.match((await inside.shell(commands[0] ?? '')).denied ?? '', /a\.txt is locked by alice/);
  const elsewhere = 'cd "$HOME" && cd "$(git rev-parse --show-toplevel)" && echo x > a.txt';
  assert.equal((await stage.agent('bob').shell(elsewhere)).denied, undefined, 'another top, if any');
});

test('[LOCK-12] a link to a held file is not that file; what goes through it is', async () => {
  await using stage = new Stage();
  await stage.ask('alice', 'acquire_lock', { file_path: 'a.txt' });
  const bob = stage.agent('bob');
  for (const command of [
    'ln -s a.txt l && rm l',
    'ln -s a.txt l.tmp && mv -T l.tmp l',
    'ln -s a.txt l; ln -sfn b.txt l; echo x > l',
  ])
    assert.equal((await bob.shell(command)).denied, undefined, command);
  symlinkSync('a.txt', join(stage.repo, 'on-disk'));
  for (const command of ['echo x > on-disk', 'cp b.txt on-disk', "sed -n 's/[/]x/y/w on-disk' b.txt"])
    assert.match((await bob.shell(command)).denied ?? '', /a\.txt is locked by alice/, command);
});
