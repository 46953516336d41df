import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import type { Request } from '../../src/ledger/log.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { agent } from '../conformance/engine.ts';

const MINUTE_MS = 60_000;

/** A store in memory whose time can be set forward, and on whose commits one can wait. */
async function place() {
  const clock = { ...systemClock, forward_ms: 0, now_ms: () => systemClock.now_ms() + clock.forward_ms };
  const coxswain = await open({ store: 'memory:', clock });
  const { store } = coxswain;
  const run = store.run.bind(store);
  const hooks: { before?: (request: Request) => Promise<void>; after?: (request: Request) => void } = {};
  store.run = async (request, decision) => {
    await hooks.before?.(request);
    const outcome = await run(request, decision);
    hooks.after?.(request);
    return outcome;
  };
  return { clock, coxswain, hooks };
}

test('[SESS-4] an agent that comes back says so before it asks, whatever its store does first', async () => {
  const { clock, coxswain, hooks } = await place();
  const [ann, ben] = [agent(coxswain, 'ann'), agent(coxswain, 'ben')];
  await ann('acquire_lock', { file_path: 'a.ts' });
  clock.forward_ms += 20 * MINUTE_MS;
  const order: string[] = [];
  hooks.before = async ({ operation }) => {
    // It takes its time, and still comes first.
    for (let turn = 0; operation === 'touch_session' && turn < 20; turn += 1)
      await new Promise((resolve) => setImmediate(resolve));
  };
  hooks.after = ({ operation, actor, parameters }) => {
    if (actor.agent_id === 'ann' || parameters.on_behalf_of === 'ann') order.push(operation);
  };
  await Promise.all([ann('acquire_lock', { file_path: 'a.ts' }), ann('acquire_lock', { file_path: 'b.ts' })]);
  assert.deepEqual(order, ['touch_session', 'acquire_lock', 'acquire_lock']);
  const cleaned = await ben('cleanup_dead_agents', {});
  assert.deepEqual([cleaned.agents_cleaned, cleaned.locks_released], [0, 0]);
});

test('[SESS-4] a process that was stopped amid a call is not told that it has what may be freed', async () => {
  const { clock, coxswain, hooks } = await place();
  const [ann, ben] = [agent(coxswain, 'ann'), agent(coxswain, 'ben')];
  await ann('acquire_lock', { file_path: 'a.ts' });
  let asleep = true;
  hooks.before = async ({ operation, actor }) => {
    if (operation !== 'acquire_lock' || actor.agent_id !== 'ann' || !asleep) return;
    asleep = false;
    // Between its sign of life and its commit it sleeps for long; meanwhile its session is ended for it.
    clock.forward_ms += 20 * MINUTE_MS;
    await ben('cleanup_dead_agents', {});
  };
  const answer = await ann('acquire_lock', { file_path: 'b.ts' });
  assert.equal(answer.error, 'session_ended');
  assert.deepEqual((await ben('check_locks', { file_paths: ['a.ts'] })).locks, []);
  assert.equal((await ann('acquire_lock', { file_path: 'b.ts' })).success, true, 'it is back');
});

test('[STORE-3] a store that is away is waited for once: a call does not wait again after its sign of life', async () => {
  const { coxswain, hooks } = await place();
  const ann = agent(coxswain, 'ann');
  const tried: string[] = [];
  hooks.before = async ({ operation }) => {
    tried.push(operation);
    throw new StoreFailure('database_unavailable', 'nobody there');
  };
  const answer = await ann('acquire_lock', { file_path: 'a.ts' });
  assert.equal(answer.error, 'database_unavailable');
  assert.deepEqual(tried, ['touch_session']);
  assert.deepEqual((await ann('check_locks', { file_paths: ['a.ts'] })).locks, [], 'a read needs no writer');
  hooks.before = async () => {};
  assert.equal((await ann('acquire_lock', { file_path: 'a.ts' })).success, true);
});

test('[SESS-4] who waits in line for long is not taken for dead', async () => {
  const { clock, coxswain } = await place();
  const [ann, ben] = [agent(coxswain, 'ann'), agent(coxswain, 'ben')];
  await ann('acquire_lock', { file_path: 'a.ts', ttl_minutes: 480 });
  const waiting = ben('acquire_lock', { file_path: 'a.ts', wait_seconds: 60 });
  const seen = async () => {
    const { agents } = await ann('discover_agents', {});
    const found = (agents as JsonObject[]).find(({ agent_id }) => agent_id === 'ben');
    return Date.parse(found?.last_heartbeat as string);
  };
  const before_ms = await seen();
  clock.forward_ms += 2 * MINUTE_MS;
  while ((await seen()) <= before_ms) await new Promise((resolve) => setImmediate(resolve));
  await ann('release_lock', { file_path: 'a.ts' });
  assert.equal((await waiting).success, true);
});

test('[SESS-4] whoever registers and then works in silence is kept alive by its process', async () => {
  const { clock, coxswain } = await place();
  const connection = coxswain.connect({ agent_id: 'eve', session_id: 's' });
  const register = operationsByName.get('register_session');
  assert.ok(register);
  await connection.perform(register, {});
  for (let beat = 0; beat < 3; beat += 1) {
    clock.forward_ms += 10 * MINUTE_MS;
    await connection.keepAlive();
  }
  const cleaned = await agent(coxswain, 'ben')('cleanup_dead_agents', {});
  assert.equal(cleaned.agents_cleaned, 0);
});

test('[SESS-6] reads of a short command leave no session behind, its writes do', async () => {
  const { coxswain } = await place();
  const connection = coxswain.connect({ agent_id: 'eve' }, 'operator', { shows: 'writes' });
  const ask = async (name: string, input = {}) => {
    const operation = operationsByName.get(name);
    assert.ok(operation);
    return await connection.perform(operation, input);
  };
  assert.deepEqual((await ask('discover_agents')).agents, []);
  await ask('acquire_lock', { file_path: 'a.ts' });
  assert.equal(((await ask('discover_agents')).agents as JsonObject[]).length, 1);
});
