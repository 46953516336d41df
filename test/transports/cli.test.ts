import assert from 'node:assert/strict';
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operations } from '../../src/runtime/operation-list.ts';
import { main } from '../../src/transports/cli/main.ts';
import { cox, fakeTerminal, finished, scratch, start } from './support.ts';

async function typed(folder: string, words: readonly string[], env: Record<string, string> = {}) {
  const { terminal, written } = fakeTerminal(folder, env);
  const code = await main([...words], terminal);
  return { code, ...written };
}

test('exit codes: done, refused, usage, store', async () => {
  using place = scratch();
  const as = (agent: string) => ({ AGENT_ID: agent, COX_STORE: place.store });
  const run = (words: string[], env = as('alice')) => cox(words, { cwd: place.folder, env });
  assert.equal((await run(['lock', 'acquire', 'a.ts'])).code, 0);
  const refused = await run(['lock', 'acquire', 'a.ts'], as('bob'));
  assert.equal(refused.code, 1);
  assert.equal(refused.out, '');
  assert.match(refused.err, /^cox: blocked: a\.ts is locked by alice[^\n]*\n {2}→ Work on something else/);
  for (const wrong of [
    ['lock', 'acquire'],
    ['lock', 'acquire', '../out.ts'],
    ['lok'],
    ['lock', 'acquire', 'a', '--no'],
  ])
    assert.equal((await run(wrong)).code, 2, wrong.join(' '));
  const file = join(place.folder, 'no-folder');
  writeFileSync(file, '');
  for (const store of [
    'nonsense:',
    `sqlite:${join(file, 'cox.db')}`,
    `files:${join(file, 'workspace')}`,
    'files:',
    'postgres://nobody:secret@127.0.0.1:1/none',
    'postgresq://nobody:secret@127.0.0.1:1/none',
    'host=127.0.0.1 user=nobody password=secret',
  ]) {
    const gone = await run(['lock', 'check', '--json', '--store', store]);
    assert.equal(gone.code, 4, store + gone.out);
    const answer = JSON.parse(gone.out) as JsonObject;
    assert.equal(answer.success, false);
    assert.doesNotMatch(gone.out, /secret/);
  }
});

test('[CLI-1] a setting that means nothing is for the user to correct, not a fault to report', async () => {
  using place = scratch();
  for (const [field, value] of [
    ['COX_STALE_MINUTES', 'soon'],
    ['COX_IDLE_MINUTES', '-1'],
    ['POLICY_ENGINE', 'opa'],
    ['PROFILES_DEFAULT_TRUST', '4'],
  ] as const) {
    const env = { COX_STORE: 'memory:', [field]: value };
    const { code, out } = await typed(place.folder, ['lock', 'check', '--json'], env);
    const answer = JSON.parse(out) as JsonObject;
    assert.deepEqual([code, answer.error, answer.field], [2, 'invalid_input', field]);
  }
});

test('one JSON object on stdout and nothing else, whatever happens', async () => {
  using place = scratch();
  const env = { COX_STORE: 'memory:' };
  const lines: [string[], number, string | undefined][] = [
    [['--json', 'lock', 'check'], 0, undefined],
    [['lock', 'check', '--json'], 0, undefined],
    [['lock', '--json'], 2, 'unknown_operation'],
    [['lock', 'chek', '--json'], 2, 'unknown_operation'],
    [['lock', 'check', '--json', '--nonsense'], 2, 'invalid_input'],
    [['work', 'show', 'a', 'b', '--json'], 2, 'invalid_input'],
    [['work', 'submit', 't', 'd', '--input-data', '{', '--json'], 2, 'invalid_input'],
    [['work', 'submit', 't', 'd', '--json', '--reason'], 2, 'invalid_input'],
    [['lock', 'check', '--json', '--agent', ' '], 2, 'invalid_input'],
    [['lock', 'check', '--json', '--project', 'a\nb'], 2, 'invalid_input'],
    [['replay', '--json', '--at', 'yesterday'], 2, 'invalid_input'],
    [['status', '--json'], 0, undefined],
    [['replay', '--json'], 0, undefined],
  ];
  for (const [words, code, error] of lines) {
    const ended = await typed(place.folder, words, env);
    assert.equal(ended.code, code, words.join(' '));
    assert.equal(ended.err, '');
    const answer = JSON.parse(ended.out) as JsonObject;
    assert.equal(answer.error, error, ended.out);
    assert.equal(ended.out, `${ended.out.trim()}\n`);
  }
});

test('[CLI-1] a refused field is named as it is typed; a program gets the words of every door', async () => {
  using place = scratch();
  const env = { COX_STORE: 'memory:' };
  const id = '01900000-0000-7000-8000-000000000000';
  const lines: [string[], string, string][] = [
    [['work', 'complete', id], '--success or --no-success is missing', 'success: expected boolean'],
    [['work', 'submit'], '<task_type> is missing', 'task_type: expected string'],
    [['work', 'complete', 'x', '--success'], '<task_id>: expected a task id', 'task_id: expected a task id'],
    [
      ['lock', 'acquire', 'a', '--wait-seconds', 'x'],
      '--wait-seconds: expected number',
      'wait_seconds: expected number',
    ],
  ];
  for (const [words, said, everywhere] of lines) {
    const { code, err } = await typed(place.folder, words, env);
    assert.equal(code, 2);
    assert.ok(err.startsWith(`cox: invalid_input: ${said}`), err);
    const { message } = JSON.parse((await typed(place.folder, [...words, '--json'], env)).out) as JsonObject;
    assert.ok(String(message).startsWith(everywhere), String(message));
  }
});

test('a value may look like a flag, and a path may begin with a dash', async () => {
  using place = scratch();
  const env = { COX_STORE: place.store };
  const acquired = await typed(place.folder, ['lock', 'acquire', '--reason', '--json', '--', '-x.ts'], env);
  assert.equal(acquired.code, 0, acquired.err);
  const checked = await typed(place.folder, ['lock', 'check', '--json'], env);
  const [lock] = (JSON.parse(checked.out) as { locks: JsonObject[] }).locks;
  assert.deepEqual([lock?.file_path, lock?.reason], ['-x.ts', '--json']);
});

test('[LOCK-9] without git, folders share the store above them; a work tree without its repository has none', async () => {
  using place = scratch();
  const sub = join(place.folder, 'sub');
  mkdirSync(sub);
  const acquire = async (folder: string, path: string, agent: string, env = {}) => {
    const { code, out } = await typed(folder, ['lock', 'acquire', path, '--agent', agent, '--json'], env);
    return [code, JSON.parse(out) as JsonObject] as const;
  };
  assert.equal((await acquire(place.folder, 'sub/a', 'ann'))[0], 0);
  const [code, { action, locked_by }] = await acquire(sub, join(sub, 'a'), 'bob');
  assert.deepEqual([code, action, locked_by], [1, 'blocked', 'ann']);
  assert.ok(!existsSync(join(sub, '.coxswain')));
  const pointer = join(sub, '.git');
  writeFileSync(pointer, 'gitdir: /moved/.git/worktrees/sub\n');
  const [refused, { error, message }] = await acquire(sub, 'a', 'bob');
  assert.deepEqual([refused, error], [4, 'store_unusable']);
  assert.ok(String(message).startsWith(`${pointer} leads to /moved/.git/worktrees/sub,`), String(message));
  assert.match(String(message), /git worktree repair.*--store, COX_STORE/);
  assert.ok(!existsSync(join(sub, '.coxswain')));
  assert.equal((await acquire(sub, 'a', 'bob', { COX_STORE: place.store }))[0], 0, 'a named store is one');
});

test('[LOCK-6] two invocations of one user are one session; another --agent is another', async () => {
  using place = scratch();
  const env = { COX_STORE: place.store };
  const acquire = async (...more: string[]) => {
    const { out } = await typed(place.folder, ['lock', 'acquire', 'a.ts', '--json', ...more], env);
    return JSON.parse(out) as JsonObject;
  };
  const first = await acquire();
  const second = await acquire();
  assert.deepEqual([second.action, second.fencing_token], ['refreshed', first.fencing_token]);
  const other = await acquire('--agent', 'somebody-else');
  assert.equal(other.action, 'blocked');
  assert.match(String(other.locked_by), /^cli-/);
});

test('help: every command has an example, its arguments and its flags', async () => {
  using place = scratch();
  for (const { group, verb, examples, positional = [] } of operations) {
    const { code, out, err } = await typed(place.folder, [group, verb, '--help']);
    assert.deepEqual([code, err], [0, '']);
    for (const example of examples) assert.ok(out.includes(example), `${group} ${verb}`);
    for (const name of positional) assert.match(out, new RegExp(`[<[]${name}`));
    assert.match(out, /--json/);
  }
  for (const words of [
    ['--help'],
    ['help'],
    ['help', 'lock'],
    ['lock', '--help'],
    ['serve', '--help'],
    ['mcp', '-h'],
  ]) {
    const { code, out, err } = await typed(place.folder, words);
    assert.deepEqual([code, err], [0, ''], words.join(' '));
    assert.match(out, /Usage: cox/);
  }
  const overview = await typed(place.folder, ['--help']);
  assert.match(overview.out, /cox lock acquire src\/app\.ts/);
  const bare = await typed(place.folder, []);
  assert.deepEqual([bare.code, bare.out], [2, '']);
  assert.match(bare.err, /Usage: cox/);
  assert.match((await typed(place.folder, ['--version'])).out, /^\d+\.\d+\.\d+\n$/);
});

test('an unknown command suggests the nearest, also by the name of the tool', async () => {
  using place = scratch();
  const suggestions: [string[], RegExp][] = [
    [['lok', 'acquire'], /cox lock acquire/],
    [['lock', 'aquire'], /cox lock acquire/],
    [['acquire_lock', 'a.ts'], /cox lock acquire/],
    [['submit-work'], /cox work submit/],
    [['staus'], /cox status/],
  ];
  for (const [words, expected] of suggestions) {
    const { code, err } = await typed(place.folder, words);
    assert.equal(code, 2);
    assert.match(err, expected, words.join(' '));
  }
});

test('what another agent wrote can not steer a terminal', async () => {
  using place = scratch();
  const env = { COX_STORE: place.store };
  const evil = 'x\u001b[2J\u0007\u202egnp\r\n\u009b31m';
  await typed(place.folder, ['lock', 'acquire', 'a.ts', '--reason', evil], { ...env, AGENT_ID: 'mallory' });
  const outputs = [
    await typed(place.folder, ['lock', 'check'], env),
    await typed(place.folder, ['status'], env),
    await typed(place.folder, ['lock', 'acquire', 'a.ts'], env),
    await typed(place.folder, ['lock', 'check', '--json'], env),
  ];
  for (const { out, err } of outputs) {
    assert.match(out + err, /mallory/);
    assert.doesNotMatch((out + err).replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
  }
  const [lock] = (JSON.parse(outputs[3]?.out ?? '') as { locks: JsonObject[] }).locks;
  assert.equal(lock?.reason, evil);
});

test('[CLI-1] an answer that cannot be written is one line, for help and usage errors too', async () => {
  using place = scratch();
  const full = async () => {
    throw new Error('ENOSPC: no space left on device, write');
  };
  for (const words of [['--help'], ['lock', 'acquire', '--help'], ['lok', '--json'], ['--version']]) {
    const { terminal, written } = fakeTerminal(place.folder);
    assert.equal(await main(words, { ...terminal, out: full }), 1, words.join(' '));
    assert.equal(written.err, 'cox: ENOSPC: no space left on device, write\n');
  }
  const { terminal } = fakeTerminal(place.folder);
  assert.equal(await main(['lok'], { ...terminal, err: full }), 1);
});

test('[CLI-1] an output that cannot be written is no fault of ours, even while a store is open', async () => {
  using place = scratch();
  const env = { COX_STORE: place.store };
  await typed(place.folder, ['lock', 'acquire', 'a.ts'], env);
  const out = openSync('/dev/full', 'w');
  try {
    for (const words of [['log'], ['log', '--json'], ['status'], ['lock', 'check'], ['--help']]) {
      const { code, err } = await cox(words, { cwd: place.folder, env, out });
      assert.equal(code, 1, words.join(' '));
      assert.match(err, /^cox: The output could not be written: ENOSPC[^\n]*\n$/, words.join(' '));
    }
  } finally {
    closeSync(out);
  }
});

test('a reader that goes away early is no error', async () => {
  using place = scratch();
  const child = start(['--help'], { cwd: place.folder });
  child.stdout?.destroy();
  const { code, err } = await finished(child);
  assert.deepEqual([code, err], [0, '']);
});

test('status: the store without its password, the project, locks and work', async () => {
  using place = scratch();
  const env = { COX_STORE: place.store, COX_PROJECT: 'demo', AGENT_ID: 'alice' };
  await typed(place.folder, ['lock', 'acquire', 'a.ts', '--reason', 'why not'], env);
  await typed(place.folder, ['work', 'submit', 'test', 'run them'], env);
  const { out } = await typed(place.folder, ['status', '--json'], env);
  const status = JSON.parse(out) as JsonObject;
  assert.deepEqual(
    [status.store, status.project, status.pending, status.claimed, (status.locks as JsonObject[]).length],
    [place.store, 'demo', 1, 0, 1],
  );
  const shown = await typed(place.folder, ['status'], env);
  assert.match(shown.out, /a\.ts +alice +2 h left +why not/);
  const elsewhere = await typed(place.folder, ['status', '--json', '--project', 'other'], env);
  assert.deepEqual((JSON.parse(elsewhere.out) as JsonObject).locks, []);
});

test('[CLI-1] what was done is a sentence for people, and a record for programs', async () => {
  using place = scratch();
  const run = async (...words: string[]) => {
    const { code, out } = await typed(place.folder, words, { COX_STORE: place.store, AGENT_ID: 'alice' });
    assert.equal(code, 0, words.join(' '));
    return out;
  };
  assert.equal(await run('lock', 'acquire', 'src/app.ts'), 'alice locked src/app.ts for 2 h.\n');
  assert.equal(await run('lock', 'acquire', 'src/app.ts'), 'alice still has src/app.ts, now for 2 h.\n');
  assert.equal(
    await run('lock', 'acquire', 'a.ts', 'b/', '--shared'),
    'alice locked a.ts, b/ with other readers for 2 h.\n',
  );
  assert.equal(await run('lock', 'release', 'a.ts', 'b/'), 'alice released a.ts, b/.\n');
  assert.match(
    await run('work', 'submit', 'test', 'run the tests'),
    /^The task is in the queue, pending: [\w-]{36}\n$/,
  );
  assert.match(
    await run('work', 'get'),
    /^alice has this task for 30 min: run the tests \(test\)\nWhen it is done: cox work complete /,
  );
  assert.match(await run('handoff', 'write', 'all done'), /^The hand-off is written: /);
  assert.equal(await run('mail', 'send', 'hello', '--to', 'bob'), 'Sent to bob.\n');
  assert.equal(
    await run('session', 'end'),
    'The session of alice has ended: 1 lock released, 1 task returned.\n',
  );
  const record = JSON.parse(await run('lock', 'acquire', 'src/app.ts', '--json')) as JsonObject;
  assert.equal(record.action, 'acquired');
});
