import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { limits } from '../../src/kernel/limits.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { main } from '../../src/transports/cli/main.ts';
import { width } from '../../src/transports/cli/output/text.ts';
import { inTerminal } from '../support/pty.ts';
import { fakeTerminal, makeStore, type Scratch, scratch } from './support.ts';

async function typed(
  place: Scratch,
  words: readonly string[],
  more: { columns?: number; seen?: boolean } = {},
) {
  const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: place.store, AGENT_ID: 'me' });
  const seen = { out: more.seen === true, err: more.seen === true };
  const code = await main([...words], { ...terminal, columns: more.columns ?? 80, seen });
  return { code, ...written };
}

type Call = (name: string, input?: JsonObject) => Promise<JsonObject>;

/** A store with agents on it, without a process for each. */
async function staged(place: Scratch, play: (as: (agent: string) => Call) => Promise<void>): Promise<void> {
  const coxswain = await open({ store: place.store, cwd: place.folder });
  try {
    await play((agent_id) => {
      const connection = coxswain.connect({ agent_id, agent_type: 'test', session_id: agent_id });
      return async (name, input = {}) => {
        const operation = operationsByName.get(name);
        assert.ok(operation, name);
        return await connection.perform(operation, input);
      };
    });
  } finally {
    await coxswain.close();
  }
}

const EVIL = 'x\u001b[2J\u0007\u202egnp\r\n\u009b31m\u0301\u0301\u0301\u0301\u0301\u0301日本語🚀';

test('[CLI-1] status: nothing there is said, and nothing needs anybody', async () => {
  using place = scratch();
  await makeStore(place);
  const { code, out } = await typed(place, ['status']);
  assert.equal(code, 0);
  for (const line of ['Needs you  nothing', 'Agents  nobody is here', 'Locks  none', 'Work  none'])
    assert.ok(out.includes(`\n${line}\n`), line);
});

test('[CLI-1] status: at 40, 80 and 200 columns no line is wider, whatever agents write', async () => {
  using place = scratch();
  await staged(place, async (as) => {
    await as('ada')('register_session', { current_task: EVIL.repeat(20) });
    for (let index = 0; index < 30; index += 1)
      await as(`agent-${index}`)('acquire_lock', {
        file_path: `src/${'deep/'.repeat(index)}日本語-${index}.ts`,
        reason: EVIL.repeat(index),
      });
    const dead = await as('ada')('submit_work', {
      task_type: 'deadly',
      task_description: EVIL,
      max_attempts: 1,
    });
    await as('dan')('get_work');
    await as('dan')('end_session');
    await as('ada')('submit_work', { task_type: 'next', task_description: EVIL.repeat(9) });
    await as('ada')('write_handoff', { summary: EVIL });
    await as('ada')('send_message', { to: ['bob'], subject: EVIL, body: EVIL });
    assert.equal(dead.success, true);
    const edge = `${'long_'.repeat(10)}→code`;
    for (const feature of [`it's${' 日本'.repeat(30)}`, 'F'.repeat(200)])
      assert.equal((await as('ada')('claim_edge', { feature, edge })).action, 'edge_started');
  });
  for (const columns of [40, 80, 200]) {
    const { out } = await typed(place, ['status'], { columns });
    const lines = out.split('\n');
    for (const line of lines) assert.ok(width(line) <= columns, `${columns}: ${line}`);
    assert.doesNotMatch(out.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
    assert.match(out, /Agents {2}31 active/);
    assert.match(out, /and 21 more: cox session list/);
    assert.match(out, /Locks {2}30 held/);
    assert.match(out, /1 pending, 1 dead/);
    // Copied as it stands it is a command, on one line or on two.
    assert.match(out, /cox work retry (\\\n +)?[\da-f-]{36}\n/);
    assert.ok(lines.length <= 50, `${lines.length} lines are no screen`);
  }
});

test('[CLI-1] status --json: what was there stays, the rest is added', async () => {
  using place = scratch();
  await staged(place, async (as) => {
    await as('ada')('acquire_lock', { file_path: 'a.ts', reason: 'why not' });
    await as('ada')('submit_work', {
      task_type: 't',
      task_description: 'd',
      input_data: { big: 'x'.repeat(5000) },
    });
    await as('ada')('get_work');
  });
  const { out } = await typed(place, ['status', '--json']);
  const status = JSON.parse(out) as JsonObject;
  assert.deepEqual(Object.keys(status).sort(), [
    'agent_id',
    'agents',
    'blocked',
    'claimed',
    'claims',
    'dead',
    'delayed',
    'edge_claims',
    'handoff',
    'locks',
    'needs_you',
    'newest_message',
    'next',
    'oldest_pending',
    'pending',
    'project',
    'seen_at',
    'store',
    'success',
    'unread_messages',
    'waiting_for_work',
  ]);
  assert.ok(out.length < 3000, 'what tasks were given to work on is not in it');
  assert.equal((status.claims as JsonObject[])[0]?.claimed_by, 'ada');
});

test('[CLI-1] status stays bounded: more than it counts is said to be more', async () => {
  using place = scratch();
  const many = limits.overview_rows_max + 20;
  await staged(place, async (as) => {
    const task = { task_type: 't', task_description: 'd' };
    for (let left = many; left > 0; left -= limits.task_batch_max) {
      const tasks = Array.from({ length: Math.min(left, limits.task_batch_max) }, () => task);
      await as('ada')('submit_work_batch', { tasks });
    }
  });
  const { out } = await typed(place, ['status']);
  assert.match(out, /Work {2}200\+ pending/);
  const { out: json } = await typed(place, ['status', '--json']);
  const status = JSON.parse(json) as JsonObject;
  assert.deepEqual(
    [status.pending, status.counted_at_most],
    [limits.overview_rows_max, limits.overview_rows_max],
  );
});

test('[CLI-1] colour only where a person looks, and never against their wish', async () => {
  using place = scratch();
  await staged(place, async (as) => void (await as('ada')('acquire_lock', { file_path: 'a.ts' })));
  const ESCAPE = '\u001b[';
  const coloured = async (words: string[], seen: boolean) =>
    (await typed(place, ['status', ...words], { seen })).out.includes(ESCAPE);
  assert.equal(await coloured([], true), true);
  assert.equal(await coloured([], false), false);
  assert.equal(await coloured(['--no-color'], true), false);
  assert.equal(await coloured(['--color'], false), true);
  assert.equal((await typed(place, ['--no-color', 'status'], { seen: true })).out.includes(ESCAPE), false);
  assert.equal((await typed(place, ['--color', 'lock', 'acquire', 'a.ts'])).err.includes(ESCAPE), true);
  assert.equal(
    (await typed(place, ['lock', 'acquire', 'a.ts', '--json'], { seen: true })).out.includes(ESCAPE),
    false,
  );
});

test('[CLI-1] in a real terminal: its own width, its own colours, and NO_COLOR', async () => {
  using place = scratch();
  const reason = 'r'.repeat(200);
  await staged(place, async (as) => void (await as('ada')('acquire_lock', { file_path: 'a.ts', reason })));
  const look = async (env: Record<string, string>) => {
    const options = { cwd: place.folder, env: { COX_STORE: place.store, ...env }, columns: 60 };
    await using pty = await inTerminal(['status'], options);
    assert.equal(await pty.ended(), 0);
    return pty.output();
  };
  assert.ok((await look({})).includes('\u001b[1mLocks\u001b[22m'));
  const bare = await look({ NO_COLOR: '1' });
  assert.ok(!bare.includes('\u001b'));
  const [line = ''] = bare.split('\r\n').filter((each) => each.includes('rrr'));
  assert.equal(width(line), 60);
  assert.ok(line.endsWith('…'));
});
