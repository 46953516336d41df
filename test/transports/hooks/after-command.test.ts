import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { CLIENTS } from '../../../src/transports/shared/agent-clients.ts';
import { type FakeAgent, git, Stage } from './support.ts';

/** A program whose command line names none of the files that it writes. */
const GENERATE = 'node generate.js';

/** The hooks around a command, and what happens in between. */
async function run(agent: FakeAgent, meanwhile: () => unknown, command = GENERATE) {
  const before = await agent.shell(command);
  await meanwhile();
  return { before, after: await agent.ran(command) };
}

async function inboxOf(stage: Stage, name: string): Promise<string[]> {
  const { messages } = await stage.ask(name, 'read_inbox');
  return (messages as JsonObject[]).map(({ body }) => String(body));
}

for (const client of CLIENTS)
  test(`[LOCK-12] ${client}: what a command wrote without naming it is locked until the turn ends, and in the changeset`, async () => {
    await using stage = new Stage();
    const alice = stage.agent('alice', client);
    writeFileSync(join(stage.repo, '.gitignore'), 'dist/\n');
    git(stage.repo, 'add', '-A');
    git(stage.repo, 'commit', '-q', '-m', 'ignore');
    writeFileSync(join(stage.repo, 'b.txt'), 'of a person, before the command\n');
    const { after } = await run(alice, () => {
      writeFileSync(join(stage.repo, 'a.txt'), 'generated\n');
      mkdirSync(join(stage.repo, 'dist'));
      writeFileSync(join(stage.repo, 'dist', 'out.js'), 'built\n');
      mkdirSync(join(stage.repo, 'new folder'));
      writeFileSync(join(stage.repo, 'new folder', 'ü [1].ts'), 'new\n');
      rmSync(join(stage.repo, 'src', 'c.ts'));
    });
    assert.deepEqual([after.code, after.out], [0, '']);
    const taken = ['a.txt', 'new folder/ü [1].ts', 'src/c.ts'];
    assert.deepEqual(
      (await stage.locks()).sort(),
      taken.map((name) => `${name}: alice (editing (automatic))`),
    );
    assert.deepEqual(
      (await stage.changed('alice')).map((files) => [...files].sort()),
      [taken],
    );
    await alice.hook('turn-end');
    assert.deepEqual(await stage.locks(), []);
  });

test('[LOCK-12] a command that fails has written what it has written', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  await alice.shell(GENERATE);
  writeFileSync(join(stage.repo, 'a.txt'), 'half\n');
  await alice.ran(GENERATE, { hook_event_name: 'PostToolUseFailure', error: 'Exit code 1' });
  assert.deepEqual(await stage.locks(), ['a.txt: alice (editing (automatic))']);
  assert.deepEqual(await stage.changed('alice'), [['a.txt']]);
});

test('[LOCK-12] a file that keeps its old time, as one that is moved here, counts as well', async () => {
  await using stage = new Stage();
  writeFileSync(join(stage.folder, 'old.txt'), 'from before\n');
  await run(stage.agent('alice'), () => renameSync(join(stage.folder, 'old.txt'), join(stage.repo, 'b.txt')));
  assert.deepEqual(await stage.locks(), ['b.txt: alice (editing (automatic))']);
});

test('[LOCK-12] a file that another agent holds and that changed during a command: both are told, once by mail', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  await stage.ask('bob', 'acquire_lock', { file_paths: ['a.txt'], reason: 'the new header' });
  const write = () => writeFileSync(join(stage.repo, 'a.txt'), `${Math.random()}\n`);
  const { after } = await run(alice, write);
  assert.match(after.context ?? '', /While your command ran, files changed that others hold/);
  assert.match(after.context ?? '', /a\.txt is locked by bob .*: "the new header"/);
  assert.match(after.context ?? '', /Tell bob with send_message.*git restore/);
  assert.deepEqual(await stage.locks(), ['a.txt: bob (the new header)']);
  assert.deepEqual(await stage.changed('alice'), [], 'it may be bob’s own change');
  assert.match((await run(alice, write)).after.context ?? '', /a\.txt is locked by bob/);
  const mail = await inboxOf(stage, 'bob');
  assert.equal(mail.length, 1);
  assert.match(mail[0] ?? '', /^While a command of alice ran in .*, a\.txt changed, which you hold\./);
  const rows = await stage.rows('send_message');
  assert.match(JSON.stringify(rows[0]), /a\.txt changed during a command/);
});

test('[LOCK-12] what is free beside what is held is locked; under warn nobody is written to', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice', 'claude-code', { flags: ['--locks', 'warn'] });
  await stage.ask('bob', 'acquire_lock', { file_paths: ['a.txt'] });
  const { after } = await run(alice, () => {
    for (const name of ['a.txt', 'b.txt']) writeFileSync(join(stage.repo, name), 'two\n');
  });
  assert.match(after.context ?? '', /a\.txt is locked by bob/);
  assert.deepEqual(await stage.changed('alice'), [['b.txt']]);
  assert.ok((await stage.locks()).includes('b.txt: alice (editing (automatic))'));
  assert.deepEqual(await inboxOf(stage, 'bob'), []);
});

test('[LOCK-12] where locks are required, the agent is told what it changed without one', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice', 'claude-code', { flags: ['--locks', 'require'] });
  await stage.ask('alice', 'acquire_lock', { file_paths: ['b.txt'] });
  const { after } = await run(alice, () => {
    for (const name of ['a.txt', 'b.txt']) writeFileSync(join(stage.repo, name), 'two\n');
  });
  assert.match(after.context ?? '', /changed a\.txt without a lock, and locks are required here/);
  assert.deepEqual((await stage.locks()).sort(), ['a.txt: alice (editing (automatic))', 'b.txt: alice ()']);
});

test('[LOCK-12] two agents’ commands in one work tree: what both could have written belongs to the first to notice', async () => {
  await using stage = new Stage();
  const [alice, bob] = [stage.agent('alice'), stage.agent('bob')];
  await alice.shell(GENERATE);
  await bob.shell('make docs');
  writeFileSync(join(stage.repo, 'a.txt'), 'of one of them\n');
  await bob.ran('make docs');
  assert.deepEqual(await stage.locks(), ['a.txt: bob (editing (automatic))']);
  assert.match((await alice.ran(GENERATE)).context ?? '', /a\.txt is locked by bob/);
  assert.deepEqual(await stage.locks(), ['a.txt: bob (editing (automatic))']);
});

test('[LOCK-12] a command in another worktree locks what changed there, by its name in the repository', async () => {
  await using stage = new Stage();
  const other = join(stage.folder, 'other');
  git(stage.repo, 'worktree', 'add', '-q', other);
  const alice = stage.agent('alice');
  const command = { tool_name: 'Bash', tool_input: { command: GENERATE } };
  await alice.hook('before-tool', { ...command, cwd: other });
  writeFileSync(join(other, 'b.txt'), 'two\n');
  await alice.hook('after-tool', { ...command, cwd: stage.repo, tool_response: {} });
  assert.deepEqual(await stage.locks(), ['b.txt: alice (editing (automatic))']);
});

test('[LOCK-12] what an unfinished merge brings from another commit is no work of the command', async () => {
  await using stage = new Stage();
  const write = (name: string) => writeFileSync(join(stage.repo, name), `${Math.random()}\n`);
  git(stage.repo, 'switch', '-q', '-c', 'theirs');
  write('a.txt');
  git(stage.repo, 'commit', '-qam', 'theirs');
  git(stage.repo, 'switch', '-q', 'main');
  const merge = 'git merge --no-ff --no-commit theirs';
  const merged = await run(
    stage.agent('alice'),
    async () => {
      // Before the merge it would have been in its way.
      await stage.ask('bob', 'acquire_lock', { file_paths: ['a.txt'] });
      git(stage.repo, ...merge.split(' ').slice(1));
      write('b.txt');
    },
    merge,
  );
  assert.deepEqual([merged.before.denied, merged.after.context], [undefined, undefined]);
  assert.deepEqual((await stage.locks()).sort(), ['a.txt: bob ()', 'b.txt: alice (editing (automatic))']);
  git(stage.repo, 'merge', '--abort');
  const { after } = await run(stage.agent('alice'), () => {
    write('a.txt');
    git(stage.repo, 'add', '-A');
  });
  assert.match(after.context ?? '', /a\.txt is locked by bob/);
});

test('[LOCK-12] a command that only reads is not looked at, nor one that was denied', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  await stage.ask('bob', 'acquire_lock', { file_paths: ['a.txt'] });
  for (const command of ['git status && grep -rn one src | head', 'echo two > a.txt']) {
    await run(alice, () => writeFileSync(join(stage.repo, 'b.txt'), `of a person ${command}\n`), command);
    assert.deepEqual(await stage.locks(), ['a.txt: bob ()'], command);
  }
});

test('[HOOK-2] a git that fails stops no agent, and is in the log; locks and mail go on', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  await stage.ask('bob', 'send_message', { to: ['alice'], body: 'hello' });
  const { after } = await run(alice, () => writeFileSync(join(stage.repo, '.git', 'index'), 'no index'));
  assert.equal(after.code, 0);
  assert.match(after.context ?? '', /"hello"/);
  assert.match(stage.hookLog(), /after-tool: git status: /);
});

// Elsewhere a process can't be asked for its environment.
if (process.platform === 'linux')
  test('[LOCK-12] what another agent in the work tree has recorded as its own change is not taken from it', async () => {
    await using stage = new Stage();
    const [alice, bob] = [stage.agent('alice'), stage.agent('bob')];
    await bob.start();
    const theirs = spawn('sleep', ['60'], { cwd: stage.repo, env: { ...stage.env, SESSION_ID: 'bob-1' } });
    try {
      await run(alice, async () => {
        await bob.edit('a.txt');
        for (const name of ['a.txt', 'b.txt']) writeFileSync(join(stage.repo, name), 'two\n');
        await bob.edited('a.txt');
        await bob.hook('turn-end');
      });
      assert.deepEqual(await stage.locks(), ['b.txt: alice (editing (automatic))']);
      assert.deepEqual(await stage.changed('alice'), [['b.txt']]);
    } finally {
      theirs.kill();
    }
  });

test('[HOOK-2] a git that takes too long is given up, and not asked again for a while', async () => {
  await using stage = new Stage();
  const bin = join(stage.folder, 'bin');
  mkdirSync(bin);
  const asked = join(stage.folder, 'asked');
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n: > '${asked}'\nexec sleep 60\n`);
  chmodSync(join(bin, 'git'), 0o755);
  const alice = stage.agent('alice', 'claude-code', {
    env: { PATH: `${bin}:${stage.env.PATH}`, SESSION_ID: 'alice-1' },
  });
  assert.equal((await run(alice, () => {})).after.code, 0);
  assert.match(stage.hookLog(), /after-tool: git status: took longer than 1200 ms/);
  rmSync(asked);
  assert.equal((await run(alice, () => {})).after.code, 0);
  assert.equal(existsSync(asked), false);
});
