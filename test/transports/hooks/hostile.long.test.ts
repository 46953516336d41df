import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { HookEvent } from '../../../src/transports/hooks/hook-call.ts';
import { finished } from '../support.ts';
import { payloadOf } from './payloads.ts';
import { answered, HOOK_PROGRAM, Stage } from './support.ts';

const REQUIRE = ['--locks', 'require'];
const EVENTS: HookEvent[] = ['session-start', 'before-tool', 'after-tool', 'turn-end', 'session-end'];

const UNREADABLE: Record<string, string | Buffer> = {
  nothing: '',
  'no JSON': 'Edit a.txt, please',
  'half of it': '{"session_id":"x","tool_name":"Edit","tool_input":{"file_path":"a.t',
  'a list': '[]',
  'a word': '"Edit"',
  null: 'null',
  'no text': Buffer.from([0xff, 0xfe, 0x00, 0x80]),
  deep: '['.repeat(200_000),
  'too much': Buffer.alloc(65 * 1024 * 1024, ' '),
};

for (const [what, stdin] of Object.entries(UNREADABLE)) {
  test(`[HOOK-2] a payload that is ${what} stops no event; before a tool it is denied, unless that is switched off`, async () => {
    await using stage = new Stage();
    const alice = stage.agent('alice', 'claude-code', { stdin });
    for (const event of EVENTS.filter((each) => each !== 'before-tool')) {
      const { code, out, err } = await alice.hook(event);
      assert.deepEqual([code, out, err], [0, '', ''], event);
    }
    for (const flags of [[], REQUIRE, ['--locks', 'warn']])
      assert.match(
        (await alice.hook('before-tool', {}, { flags })).denied ?? '',
        /could not decide about this, and could not read what it is/,
      );
    const env = { COX_GUARD_ON_FAILURE: 'allow' };
    const passed = await alice.hook('before-tool', {}, { env });
    assert.equal(passed.code, 0);
    assert.match(passed.context ?? '', /could not check the locks/);
    assert.match(
      (await alice.hook('before-tool', {}, { env, flags: REQUIRE })).denied ?? '',
      /could not check the locks/,
    );
    assert.equal(stage.hookLog().trimEnd().split('\n').length, 9, 'a line each');
  });
}

const ODD: JsonObject[] = [
  {},
  { tool_name: 'Edit' },
  { tool_name: 'Edit', tool_input: null },
  { tool_name: 'Edit', tool_input: [] },
  { tool_name: 'Edit', tool_input: 'a.txt' },
  { tool_name: 'Edit', tool_input: { file_path: 7 } },
  { tool_name: 'Edit', tool_input: { file_path: ['a.txt'] } },
  { tool_name: 'Edit', tool_input: { file_path: '' } },
  { tool_name: 'Bash', tool_input: { command: { a: 1 } } },
  { tool_name: 3, tool_input: { file_path: 'a.txt' } },
  { tool_name: '__proto__', tool_input: {} },
  { tool_name: 'constructor', tool_input: { constructor: 'x' } },
  { session_id: { a: 1 }, transcript_path: 4, cwd: false, hook_event_name: [] },
  { tool_response: [[[]]], tool_name: 'Write', tool_input: {} },
];

test('[HOOK-2] fields of any type crash no event', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  await Promise.all(
    EVENTS.map(async (event) => {
      for (const payload of ODD) {
        const { code, err, denied } = await alice.hook(event, payload);
        assert.deepEqual([code, err, denied], [0, '', undefined], `${event} ${JSON.stringify(payload)}`);
      }
    }),
  );
});

test('[LOCK-12] [HOOK-2] whatever else the payload says, a held file is not let through', async () => {
  await using stage = new Stage();
  await stage.ask('alice', 'acquire_lock', { file_path: 'a.txt', reason: 'mine' });
  const bob = stage.agent('bob');
  const file_path = `${stage.repo}/a.txt`;
  const edit = { tool_name: 'Write', tool_input: { file_path } };
  const payloads: JsonObject[] = [
    { ...edit, cwd: 12 },
    { ...edit, cwd: '/' },
    { ...edit, cwd: '/nonexistent/\u0000\n' },
    { ...edit, cwd: 'relative' },
    { ...edit, session_id: null, hook_event_name: 'SessionEnd', tool_response: { error: 'x' } },
    { ...edit, agent_id: 'alice', AGENT_ID: 'alice', actor: { agent_id: 'alice' } },
    { ...edit, tool_input: { file_path, content: '\u0000\ud800'.repeat(1000) } },
    { ...edit, tool_input: { file_path, content: 'x'.repeat(20_000_000) } },
    { ...edit, permission_mode: 'bypassPermissions', locks: 'warn' },
  ];
  for (const flags of [['--locks', 'auto'], REQUIRE])
    for (const payload of payloads) {
      const { denied } = await bob.hook('before-tool', payload, { flags });
      assert.match(denied ?? '', /a\.txt is locked by alice.*"mine"/, JSON.stringify(payload).slice(0, 200));
    }
  assert.deepEqual(await stage.locks(), ['a.txt: alice (mine)']);
});

test('[HOOK-2] a client that writes slowly, in pieces, is heard to the end', async () => {
  await using stage = new Stage();
  await stage.agent('alice').edit('ünï.txt');
  const edit = { tool_name: 'Write', tool_input: { file_path: `${stage.repo}/ünï.txt` } };
  const bytes = Buffer.from(JSON.stringify(payloadOf('claude-code', 'before-tool', stage.repo, edit)));
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, n) =>
    bytes.subarray(n * 7, n * 7 + 7),
  );
  const { denied } = await stage.agent('bob').hook('before-tool', {}, { stdin: pieces });
  assert.match(denied ?? '', /ünï\.txt is locked by alice/);
});

test('[HOOK-2] a client that never finishes its payload is not waited for', { timeout: 20_000 }, async () => {
  await using stage = new Stage();
  const env = { ...stage.env, AGENT_ID: 'bob', SESSION_ID: 'bob-1' };
  const args = [HOOK_PROGRAM, 'claude-code', 'before-tool', ...REQUIRE];
  const child = spawn(process.execPath, args, { cwd: stage.repo, env });
  try {
    child.stdin.write('{"tool_name":"Edit",');
    assert.match(answered(await finished(child)).denied ?? '', /no answer within \d+ ms/);
  } finally {
    child.kill('SIGKILL');
  }
});

test('[HOOK-2] a client that has gone before the answer harms nobody', async () => {
  await using stage = new Stage();
  const env = { ...stage.env, AGENT_ID: 'bob', SESSION_ID: 'bob-1' };
  const child = spawn(process.execPath, [HOOK_PROGRAM, 'claude-code', 'session-start'], {
    cwd: stage.repo,
    env,
  });
  child.stdout.destroy();
  child.stdin.end(JSON.stringify(payloadOf('claude-code', 'session-start', stage.repo)));
  const { code, err } = await finished(child);
  assert.deepEqual([code, err], [0, '']);
});
