import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/kernel/clock.ts';
import { agent, type Call } from '../conformance/engine.ts';
import { Behind } from '../support/dynamodb-behind.ts';
import { until } from '../support/until.ts';

// Leases go by the store's clock, as the `Date` of its answers shows it, and by no other clock.

const HOUR_S = 3600;
const HOUR_MS = HOUR_S * 1000;
const LEASE = { file_path: 'a.ts', ttl_minutes: 10 };

const ends_ms = async (call: Call) => Date.parse(String((await call('acquire_lock', LEASE)).expires_at));

function about(found_ms: number, expected_ms: number): void {
  assert.ok(Math.abs(found_ms - expected_ms) < 30_000, `${new Date(found_ms).toISOString()}`);
}

for (const off_s of [HOUR_S, -HOUR_S])
  test(`[LOCK-3] the store's clock is ${off_s} s off and ours is right: leases go by the store's`, async () => {
    await using behind = await Behind.start();
    behind.inject({ is: 'clock', by_s: off_s });
    const a = await behind.agent('a');
    about(await ends_ms(a), Date.now() + off_s * 1000 + 600_000);
  });

for (const off_ms of [HOUR_MS, -HOUR_MS])
  test(`[LOCK-3] our clock is ${off_ms} ms off and the store's is right: leases go by the store's`, async () => {
    await using behind = await Behind.start();
    const clock = { ...systemClock, now_ms: () => Date.now() + off_ms };
    const wrong = await behind.agent('wrong', { clock });
    const right = await behind.agent('right');
    about(await ends_ms(wrong), Date.now() + 600_000);
    assert.equal((await right('acquire_lock', LEASE)).locked_by, 'wrong', 'it has not run out for anybody');
    assert.equal((await wrong('release_lock', { file_path: 'a.ts' })).success, true);
    await right('acquire_lock', LEASE);
    assert.equal((await wrong('acquire_lock', LEASE)).locked_by, 'right');
  });

test('[LOCK-3] the store says its time to the second: a lease never ends before the moment it names', async () => {
  await using behind = await Behind.start();
  const secondBegins = () => until(async () => Date.now() % 1000 < 50);
  const a = await behind.agent('a');
  const lease = { file_path: 'short.ts', ttl_minutes: 0.02 };
  // A process that has asked at the end of a second and at the beginning of the next one knows the time well.
  await until(async () => {
    await a('check_locks', { file_paths: ['other.ts'] });
    return Date.now() % 1000 < 50;
  });
  // Has heard the time at the very beginning of a second: it may be nearly one later than that, as far as it knows.
  const b = agent(await behind.open({ clock: { ...systemClock } }), 'b');
  await until(async () => Date.now() % 1000 > 300);
  const { expires_at } = await a('acquire_lock', lease);
  await secondBegins();
  await until(async () => (await b('acquire_lock', lease)).success === true);
  // DynamoDB Local runs on this machine.
  const taken = new Date().toISOString();
  assert.ok(taken >= String(expires_at), `taken at ${taken}, though it lasts until ${expires_at}`);
});

test('[LOCK-8] the store is set back by an hour: tokens still grow, and nobody holds what another has', async () => {
  await using behind = await Behind.start();
  const heal = behind.inject({ is: 'clock', by_s: HOUR_S });
  const a = await behind.agent('a');
  const first = await a('acquire_lock', LEASE);
  heal();
  const b = await behind.agent('b');
  assert.equal((await b('acquire_lock', LEASE)).locked_by, 'a');
  assert.equal((await a('release_lock', { file_path: 'a.ts' })).success, true);
  const second = await b('acquire_lock', LEASE);
  assert.ok(Number(second.fencing_token) > Number(first.fencing_token));
});
