import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanupDeadAgents } from '../../../src/features/sessions/operations.ts';
import { open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { inTerminal } from '../../support/pty.ts';
import { until } from '../../support/until.ts';
import { COX, Place, type Repository } from './support.ts';

interface Running {
  readonly child: ChildProcess;
  readonly said: { out: string; err: string };
  ended(): Promise<[number | null, NodeJS.Signals | null]>;
}

/**
 * `cox run` of a shell script that goes on when a file called `go` appears. What the kernel would not let it change has tests of its own
 * (run-protected.long.test.ts): here it is noticed, as on systems without that.
 */
function start(repository: Repository, flags: readonly string[], script: string): Running {
  const words = [COX, 'run', '--protect', 'off', ...flags, '--', 'sh', '-c', script];
  const child = spawn(process.execPath, words, {
    cwd: repository.root,
    env: { ...repository.place.env, TMPDIR: repository.place.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  repository.place.children.push(child);
  const said = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    said.out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    said.err += text;
  });
  const closed = once(child, 'close');
  return { child, said, ended: async () => (await closed) as [number | null, NodeJS.Signals | null] };
}

const PAUSE = 'until [ -e .git/go ]; do sleep 0.02; done';
const go = (repository: Repository) => repository.write('.git/go', '');

async function locks(repository: Repository): Promise<JsonObject[]> {
  return ((await repository.ask('carol', 'check_locks')).locks as JsonObject[]) ?? [];
}

async function lockedBy(repository: Repository, agent: string, ...files: string[]): Promise<JsonObject[]> {
  return await until(async () => {
    const held = (await locks(repository)).filter(({ locked_by }) => locked_by === agent);
    return held.map(({ file_path }) => file_path).join() === files.join() ? held : undefined;
  });
}

test('[HOOK-4] a command gets a session, locks as its files change, and leaves changes and a hand-off', async () => {
  using place = new Place();
  const repository = place.repository();
  repository.write('.gitignore', 'ignored/\n*.log\n');
  assert.equal(repository.commit().code, 0);
  repository.write('before.ts', 'changed before it started\n');
  const script = `echo "$AGENT_ID $AGENT_TYPE $SESSION_ID"
    mkdir -p src/deep ignored; echo 1 > ignored/x; echo 1 > x.log
    echo 1 > b.ts; echo 1 > 'src/deep/[new] ü.ts'; rm a.ts; echo 1 > gone; rm gone
    ${PAUSE}; git add b.ts; git commit -qm 'b is done'; exit 7`;
  const running = start(repository, ['--agent', 'alice', '--name', 'helper'], script);
  const held = await lockedBy(repository, 'alice', 'a.ts', 'b.ts', 'src/deep/[new] ü.ts');
  assert.equal(held[0]?.reason, 'editing (automatic)');
  assert.match(running.said.out, /^alice helper run-[0-9a-f]{12}\n/);
  const { agents } = await repository.ask('carol', 'discover_agents');
  const [alice] = (agents as JsonObject[]).filter(({ agent_id }) => agent_id === 'alice');
  assert.deepEqual([alice?.status, alice?.current_task], ['active', 'helper']);
  go(repository);
  assert.deepEqual(await running.ended(), [7, null]);
  assert.deepEqual(await locks(repository), []);
  assert.equal(running.said.err, '');
  const listed = await repository.ask('carol', 'list_changesets');
  const [left, committed] = listed.changesets as JsonObject[];
  assert.deepEqual(committed?.files, ['b.ts']);
  assert.equal(committed?.commit_sha, repository.must('rev-parse', 'HEAD').trim());
  assert.deepEqual(left?.files, ['a.ts', 'src/deep/[new] ü.ts']);
  const { handoffs } = await repository.ask('carol', 'read_handoff', { agent_name: 'alice' });
  const [handoff] = handoffs as JsonObject[];
  assert.match(String(handoff?.summary), /^helper ended with exit code 7 .* commits made: 1, .*: 2\.$/);
  assert.deepEqual(handoff?.relevant_files, ['a.ts', 'src/deep/[new] ü.ts', 'b.ts']);
  const gone = await repository.ask('carol', 'discover_agents', { status: 'disconnected' });
  assert.equal((gone.agents as JsonObject[])[0]?.agent_id, 'alice');
  assert.deepEqual(
    readdirSync(place.folder).filter((name) => name.startsWith('cox-hooks-')),
    [],
  );
});

test('[HOOK-4] [LOCK-12] what another holds: a loud warning, a letter to the holder, and no commit of it', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  const script = `echo mine > a.ts; echo mine > b.ts; ${PAUSE}; git commit -qam both`;
  const running = start(repository, ['--agent', 'alice'], script);
  await lockedBy(repository, 'alice', 'b.ts');
  await until(async () =>
    /sh has changed what others hold:\n {2}a\.ts is locked by bob/.test(running.said.err),
  );
  const { messages } = await until(async () => {
    const inbox = await repository.ask('bob', 'read_inbox');
    return (inbox.messages as JsonObject[]).length > 0 ? inbox : undefined;
  });
  const [letter] = messages as JsonObject[];
  assert.match(String(letter?.body), /has changed a\.ts, which you hold/);
  go(repository);
  assert.deepEqual(await running.ended(), [1, null]);
  assert.match(running.said.err, /this commit changes what others hold:\n {2}a\.ts is locked by bob/);
  assert.equal(repository.must('log', '--oneline').trim().split('\n').length, 1);
});

test('[HOOK-4] [LOCK-12] a commit past the checks of what another holds is told of, also if nobody saw the file change', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  // The work tree never differs: the commit is made of the index alone.
  const past = `git update-index --cacheinfo 100644,$(echo mine | git hash-object -w --stdin),a.ts;
    git commit -qnm mine; git checkout -q HEAD -- a.ts`;
  for (const [policy, code, letters] of [
    ['warn', 0, 0],
    ['auto', 0, 1],
    ['require', 1, 2],
  ] as const) {
    const running = start(repository, ['--agent', 'alice', '--locks', policy], past.replace('mine', policy));
    assert.deepEqual(await running.ended(), [code, null], policy);
    assert.match(
      running.said.err,
      /sh has committed what others hold \([0-9a-f]{12}\).*\n {2}a\.ts is locked by bob/,
    );
    const inbox = (await repository.ask('bob', 'read_inbox')).messages as JsonObject[];
    const told = inbox.filter(({ body }) => /has committed a\.ts, which you hold/.test(String(body)));
    assert.equal(told.length, letters, policy);
  }
  // What was free when it was committed has no holder, whichever agent takes it afterwards.
  const later = start(repository, ['--agent', 'alice'], `echo 1 > b.ts; git commit -qnam b; ${PAUSE}`);
  // Git tells the second of a commit, so the lock has to be taken in a later one.
  await until(async () => {
    const [seconds, subject] = repository.must('log', '-1', '--format=%ct%n%s').split('\n');
    return subject === 'b' && Date.now() >= (Number(seconds) + 1) * 1000;
  });
  await repository.ask('alice', 'release_lock', { file_path: 'b.ts' });
  await repository.lock('bob', 'b.ts');
  go(repository);
  assert.deepEqual(await later.ended(), [0, null]);
  assert.doesNotMatch(later.said.err, /has committed/);
});

test('[HOOK-4] where locks are required the command is stopped; where one is only warned none are taken', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  const script = `trap 'echo told; exit 0' INT; echo mine > a.ts; while :; do sleep 0.05; done`;
  const stopped = start(repository, ['--locks', 'require'], script);
  assert.deepEqual(await stopped.ended(), [1, null], 'not what it says itself: it was refused');
  assert.match(stopped.said.out, /told/);
  assert.match(stopped.said.err, /sh is stopped, as locks are required/);
  repository.must('checkout', '-q', 'a.ts');
  const warned = start(repository, ['--locks', 'warn'], `echo 1 > a.ts; echo 2 > b.ts; ${PAUSE}`);
  await until(async () => /a\.ts is locked by bob/.test(warned.said.err));
  assert.deepEqual(
    (await locks(repository)).map(({ locked_by }) => locked_by),
    ['bob'],
  );
  go(repository);
  assert.deepEqual(await warned.ended(), [0, null]);
  assert.equal(((await repository.ask('bob', 'read_inbox')).messages as JsonObject[]).length, 1);
});

test('[HOOK-4] two commands in two worktrees keep out of each other’s files', async () => {
  using place = new Place();
  const one = place.repository();
  one.must('worktree', 'add', '-q', join(place.folder, 'two'));
  const two = Object.assign(place.repository('unused'), { root: join(place.folder, 'two') });
  const first = start(one, ['--agent', 'alice'], `echo 1 > a.ts; ${PAUSE}`);
  await lockedBy(one, 'alice', 'a.ts');
  const second = start(two, ['--agent', 'bob'], 'echo 2 > b.ts; echo 2 > a.ts; git commit -qam both');
  assert.deepEqual(await second.ended(), [1, null]);
  assert.match(second.said.err, /a\.ts is locked by alice \(sh\)/);
  go(one);
  assert.deepEqual(await first.ended(), [0, null]);
  const third = start(two, ['--agent', 'bob'], 'git commit -qam both');
  assert.deepEqual(await third.ended(), [0, null], third.said.err);
});

test('[HOOK-4] in a work tree that two share nobody is accused, and nobody gets a lock on what another may have changed', async () => {
  using place = new Place();
  const repository = place.repository();
  const wait = (name: string) => `until [ -e .git/${name} ]; do sleep 0.02; done`;
  const first = start(repository, ['--agent', 'alice'], `echo 1 > a.ts; ${wait('first')}`);
  await lockedBy(repository, 'alice', 'a.ts');
  const script = `${wait('second')}; echo 2 > a.ts; echo 2 > b.ts; ${wait('third')}; echo 3 > b.ts; ${wait('end')}`;
  const second = start(repository, ['--agent', 'bob', '--locks', 'require'], script);
  repository.write('.git/second', '');
  await until(async () => /alice works in this folder too/.test(second.said.err));
  assert.deepEqual(
    (await locks(repository)).map(({ file_path }) => file_path),
    ['a.ts'],
  );
  repository.write('.git/first', '');
  assert.deepEqual(await first.ended(), [0, null]);
  // Alone again: as soon as that is noticed its changes are locked.
  repository.write('.git/third', '');
  await until(async () => {
    repository.write('c.ts', `${Math.random()}`);
    return (await locks(repository)).some(({ locked_by }) => locked_by === 'bob');
  });
  repository.write('.git/end', '');
  assert.deepEqual(await second.ended(), [0, null]);
  assert.doesNotMatch(second.said.err, /has changed what others hold/);
  assert.equal(((await repository.ask('alice', 'read_inbox')).messages as JsonObject[]).length, 0);
});

test('[HOOK-4] a client of which only the process is known is a neighbour too, but not in a worktree of its own', async () => {
  using place = new Place();
  const repository = place.repository();
  repository.must('worktree', 'add', '-q', join(repository.root, 'inner'));
  const client = fileURLToPath(new URL('./fake-client.ts', import.meta.url));
  const wait = 'echo ready; until [ -e ../go ] || [ -e go ]; do sleep 0.02; done';
  for (const [folder, file, expected] of [
    [repository.root, 'a.ts', /codex-[0-9a-f]{6} works in this folder too/],
    [join(repository.root, 'inner'), 'c.ts', /^$/],
  ] as const) {
    const codex = spawn(process.execPath, [client, 'codex', file, wait], {
      cwd: folder,
      env: place.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    place.children.push(codex);
    const closed = once(codex, 'close');
    await Promise.race([once(codex.stdout, 'data'), closed]);
    const { code, err } = repository.cox(['run', '--agent', 'alice', '--', 'sh', '-c', 'echo 1 >> b.ts']);
    assert.equal(code, 0);
    assert.match(err, expected);
    repository.write('go', '');
    assert.deepEqual(await closed, [0, null]);
    rmSync(join(repository.root, 'go'));
  }
});

test('[HOOK-4] signals go to the command, and everything is in order afterwards', async () => {
  using place = new Place();
  const repository = place.repository();
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGUSR1', 138],
  ] as const) {
    const running = start(repository, ['--agent', 'alice'], `echo ${signal} > a.ts; exec sleep 60`);
    await lockedBy(repository, 'alice', 'a.ts');
    running.child.kill(signal);
    assert.deepEqual(await running.ended(), [code, null], signal);
    assert.deepEqual(await locks(repository), []);
  }
  const died = start(repository, ['--agent', 'alice'], 'echo x > a.ts; kill -9 $$');
  assert.deepEqual(await died.ended(), [137, null]);
  assert.deepEqual(await locks(repository), []);
  const polite = start(
    repository,
    ['--agent', 'alice'],
    `trap 'exit 3' TERM; echo y > a.ts; while :; do sleep 0.02; done`,
  );
  await lockedBy(repository, 'alice', 'a.ts');
  polite.child.kill('SIGTERM');
  assert.deepEqual(await polite.ended(), [3, null]);
});

test('[HOOK-4] kill -9 of cox run itself: its session falls silent and others free its locks', async () => {
  using place = new Place();
  const repository = place.repository();
  const running = start(repository, ['--agent', 'alice'], 'echo $$; echo 1 > a.ts; exec sleep 60');
  await lockedBy(repository, 'alice', 'a.ts');
  running.child.kill('SIGKILL');
  process.kill(Number(running.said.out), 'SIGKILL');
  await running.ended();
  assert.equal((await locks(repository)).length, 1);
  const coxswain = await open({ cwd: repository.root, env: {}, presence: { touch_ms: 10, stale_ms: 50 } });
  const carol = coxswain.connect({ agent_id: 'carol' }, 'operator', { shows: 'never' });
  await until(async () => {
    await carol.perform(cleanupDeadAgents, { stale_threshold_minutes: 0.001 });
    return (await locks(repository)).length === 0;
  });
  await coxswain.close();
  assert.deepEqual(await locks(repository), []);
});

test('[HOOK-4] in a terminal Ctrl-C reaches the command once, and its input is its own', async () => {
  using place = new Place();
  const repository = place.repository();
  const script = `process.on('SIGINT', () => console.log('caught'));
    process.stdin.on('data', (line) => { console.log('heard ' + line); if (/end/.test(line)) process.exit(5); });
    console.log('ready');`;
  await using pty = await inTerminal(['run', '--agent', 'alice', '--', process.execPath, '-e', script], {
    cwd: repository.root,
    env: place.env,
  });
  await pty.shows('ready');
  pty.type('hello\n');
  await pty.shows('heard hello');
  pty.type('\u0003');
  await pty.shows('caught');
  // Long enough for a second one to come, had it been passed on.
  pty.type('more\n');
  await pty.shows('heard more');
  pty.type('end\n');
  assert.equal(await pty.ended(), 5);
  assert.equal(pty.output().match(/caught/g)?.length, 1);
});

test('[HOOK-4] the repository’s own hooks run, also those that are installed for locks, and in other repositories', () => {
  using place = new Place();
  const repository = place.repository();
  const other = place.repository('other');
  for (const each of [repository, other]) {
    each.write('.git/hooks/pre-commit', `#!/bin/sh\necho "pre-commit of $PWD"\n`, 0o755);
    each.write('.git/hooks/commit-msg', `#!/bin/sh\necho "message $(cat "$1")"\n`, 0o755);
  }
  assert.equal(repository.cox(['git', 'install']).code, 0);
  const script = `echo 1 > b.ts; git commit -qam one; cd ../other; echo 1 > b.ts; git commit -qam two; git config core.hooksPath`;
  const { code, out, err } = repository.cox(['run', '--', 'sh', '-c', script]);
  assert.equal(code, 0, err);
  assert.deepEqual(err.trim().split('\n'), [
    `pre-commit of ${repository.root}`,
    'message one',
    `pre-commit of ${other.root}`,
    'message two',
  ]);
  assert.ok(out.startsWith(tmpdir()), out);
  assert.ok(!existsSync(out.trim()), 'the folder of hooks is gone with the command');
  const refusing = `#!/bin/sh\nexit 1\n`;
  repository.write('.git/hooks/pre-commit.before-coxswain', refusing, 0o755);
  assert.equal(repository.cox(['run', '--', 'sh', '-c', 'echo 2 > b.ts; git commit -qam x']).code, 1);
  const nested = repository.cox([
    'run',
    '--',
    process.execPath,
    COX,
    'run',
    '--',
    'git',
    'commit',
    '-qam',
    'x',
  ]);
  assert.equal(nested.code, 1, 'one in the other');
});

test('[HOOK-4] a command that is not there, flags that are its own, and no store', () => {
  using place = new Place();
  const repository = place.repository();
  const missing = repository.cox(['run', '--', 'no-such-command']);
  assert.equal(missing.code, 127);
  assert.match(missing.err, /no-such-command could not be started/);
  assert.equal(repository.cox(['run', '--', join(repository.root, 'a.ts')]).code, 126);
  assert.equal(repository.cox(['run', 'echo', '--json', '--', '-x']).out, '--json -- -x\n');
  assert.equal(repository.cox(['run', '--', 'cat'], {}, 'its own input').out, 'its own input');
  assert.equal(repository.cox(['run']).code, 2);
  assert.equal(repository.cox(['run', '--locks', 'never', '--', 'true']).code, 2);
  assert.equal(repository.cox(['run', '--agent', 'a\nb', '--', 'true']).code, 2);
  const away = ['--store', 'postgres://nobody:secret@127.0.0.1:1/none'];
  const alone = repository.cox(['run', ...away, '--', 'sh', '-c', 'echo "ran with $COX_STORE"; exit 3']);
  assert.deepEqual([alone.code, alone.out], [3, `ran with ${away[1]}\n`]);
  assert.match(alone.err, /^coxswain: sh runs without locks: /);
  const required = repository.cox(['run', ...away, '--locks', 'require', '--', 'sh', '-c', 'echo ran']);
  assert.deepEqual([required.code, required.out], [4, '']);
  assert.doesNotMatch(alone.err + required.err, /secret/);
});

test('[HOOK-4] [LOCK-12] a git that will not answer leaves nobody unguarded, and is told of', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  // As with a folder of another user, or in a container without git.
  const broken = join(place.folder, 'git');
  writeFileSync(
    broken,
    '#!/bin/sh\necho "fatal: detected dubious ownership" >&2\necho "advice" >&2\nexit 128\n',
    {
      mode: 0o755,
    },
  );
  place.env.PATH = `${place.folder}:${place.env.PATH}`;
  const running = start(repository, ['--agent', 'alice'], `echo mine > b.ts; ${PAUSE}; rm -f b.ts`);
  await lockedBy(repository, 'alice', 'b.ts');
  assert.match(
    running.said.err,
    /git does not say which files it ignores \(git status: fatal: detected dubious/,
  );
  go(repository);
  assert.deepEqual(await running.ended(), [0, null]);
  const script = `trap 'exit 0' INT; echo mine > a.ts; while :; do sleep 0.05; done`;
  const stopped = start(repository, ['--agent', 'alice', '--locks', 'require'], script);
  assert.deepEqual(await stopped.ended(), [1, null]);
  assert.match(stopped.said.err, /a\.ts is locked by bob/);
});

test('[HOOK-4] [LOCK-12] a store that is named from where one stands is the same one to the git hooks', async () => {
  using place = new Place();
  const repository = place.repository();
  repository.write('src/c.ts', 'c\n');
  assert.equal(repository.commit().code, 0);
  const outside = ['--store', 'sqlite:../cox.db'];
  const held = repository.cox(['lock', 'acquire', 'a.ts', '--agent', 'bob', ...outside]);
  assert.equal(held.code, 0, held.err);
  // The hook of a commit starts at the top of the work tree, wherever the command is.
  const run = (env: Record<string, string>, ...flags: string[]) =>
    repository.run(
      'sh',
      ['-c', 'cd src && exec "$@"', 'sh', process.execPath, COX, 'run', '--protect', 'off', ...flags],
      env,
    );
  const change = ['--', 'sh', '-c', 'echo mine > ../a.ts; git commit -qam mine'];
  const inside = 'sqlite:../../cox.db';
  for (const { code, err } of [
    run({}, '--agent', 'alice', '--store', inside, ...change),
    run({ COX_STORE: inside }, '--agent', 'alice', ...change),
  ]) {
    assert.equal(code, 1);
    assert.match(err, /this commit changes what others hold:\n {2}a\.ts is locked by bob/);
  }
  const installed = repository.run('sh', [
    ...['-c', 'cd src && exec "$@"', 'sh', process.execPath, COX],
    ...['git', 'install', '--store', inside],
  ]);
  assert.equal(installed.code, 0, installed.err);
  const { code, err } = repository.commit({ AGENT_ID: 'alice' });
  assert.equal(code, 1);
  assert.match(err, /a\.ts is locked by bob/);
  assert.deepEqual(
    readdirSync(place.folder).filter((name) => name.endsWith('.db')),
    ['cox.db'],
  );
});

test('[HOOK-4] without git, files are watched all the same', async () => {
  using place = new Place();
  const repository = place.repository();
  rmSync(join(repository.root, '.git'), { recursive: true });
  const script = 'mkdir -p x/y; echo 1 > x/y/z; until [ -e go ]; do sleep 0.02; done; cat x/y/z';
  const running = start(repository, ['--agent', 'alice'], script);
  await lockedBy(repository, 'alice', 'x/y/z');
  repository.write('go', '');
  assert.deepEqual(await running.ended(), [0, null]);
  assert.equal(readFileSync(join(repository.root, 'x/y/z'), 'utf8'), '1\n');
});
