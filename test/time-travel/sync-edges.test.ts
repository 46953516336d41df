import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { prune } from '../../src/ledger/audit/retention.ts';
import { EVENT_SCHEMA } from '../../src/ledger/log.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { layoutOf } from '../../src/stores/files/folder-layout.ts';
import { agent, type Fixture, files, sqlite } from '../conformance/engine.ts';
import { scratch } from '../transports/support.ts';
import {
  assertSameRows,
  foldIn,
  GOLDEN,
  goldenLog,
  rowsIn,
  sideOf,
  sourceOf,
  syncInto,
} from './sync-support.ts';

const fixtures: Fixture[] = [];
after(async () => {
  for (const fixture of fixtures) await fixture.drop();
});

async function fresh(engine = sqlite): Promise<Coxswain> {
  const fixture = await engine.fresh();
  fixtures.push(fixture);
  return await fixture.open({ presence: 'off' });
}

async function refusalOf(promise: Promise<unknown>): Promise<JsonObject> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof StoreFailure, String(error));
  return error.refusal;
}

test('[AUD-5] what happens later follows, and what the target does elsewhere is no obstacle', async () => {
  const [from, to] = [await fresh(), await fresh()];
  const anna = agent(from, 'anna');
  await anna('acquire_lock', { file_path: 'a.ts', reason: 'one' });
  assert.equal((await syncInto(from, to)).copied, 1);
  await agent(to, 'bert')('acquire_lock', { file_path: 'b.ts' });
  await anna('release_lock', { file_path: 'a.ts' });
  await anna('acquire_lock', { file_path: 'a.ts', reason: 'two' });
  const done = await syncInto(from, to);
  assert.deepEqual([done.rows, done.copied, done.differences], [3, 2, []]);
  await agent(to, 'anna')('release_lock', { file_path: 'a.ts' });
  const again = await syncInto(from, to);
  assert.deepEqual([again.copied, again.differences], [0, []], 'the target may go on with what it was given');
  const granted = await agent(to, 'carl')('acquire_lock', { file_path: 'a.ts' });
  assert.equal(granted.action, 'acquired', 'and its records are as alive as any');
});

test('[AUD-5] both have gone on with the same: nothing is written, and it says who did what when', async () => {
  const [from, to] = [await fresh(), await fresh()];
  await agent(from, 'anna')('acquire_lock', { file_path: 'a.ts' });
  await syncInto(from, to);
  for (let n = 0; n < 12; n += 1) {
    await agent(from, 'anna')('acquire_lock', { file_path: `n${n}.ts` });
    await agent(to, 'bert')('acquire_lock', { file_path: `n${n}.ts` });
  }
  await agent(from, 'anna')('acquire_lock', { file_path: 'free.ts' });
  const before = await rowsIn(to, to.project);
  for (const dry_run of [true, false]) {
    const refusal = await refusalOf(syncInto(from, to, { dry_run }));
    assert.deepEqual([refusal.error, refusal.contradictions], ['histories_diverged', 12]);
    const named = refusal.entities as JsonObject[];
    assert.equal(named.length, 10);
    const { kind, id, from_agent, to_agent, from_operation } = named[0] ?? {};
    assert.deepEqual(
      [kind, id, from_agent, to_agent, from_operation],
      ['lock', 'n0.ts', 'anna', 'bert', 'acquire_lock'],
    );
    assert.deepEqual(await rowsIn(to, to.project), before);
  }
});

test('[AUD-5] somebody goes on in the target while it copies: it stops there, and nothing is applied onto that', async () => {
  const [from, to] = [await fresh(), await fresh()];
  for (const file_path of ['a.ts', 'b.ts', 'c.ts']) await agent(from, 'anna')('acquire_lock', { file_path });
  let runs = 0;
  const store = new Proxy(to.store, {
    get(whole, name) {
      if (name === 'inOrder') return false;
      const value: unknown = Reflect.get(whole, name, whole);
      if (name !== 'run') return typeof value === 'function' ? value.bind(whole) : value;
      return async (...args: Parameters<Store['run']>) => {
        runs += 1;
        if (runs === 2) await agent(to, 'bert')('acquire_lock', { file_path: 'b.ts' });
        return await whole.run(...args);
      };
    },
  });
  const refusal = await refusalOf(syncInto(from, to, { to: sideOf(store, to.project) }));
  assert.deepEqual([refusal.error, refusal.copied], ['histories_diverged', 1]);
  assert.match(String(refusal.message), /lock\/b\.ts/);
  const held = (await agent(to, 'x')('check_locks', {})).locks as JsonObject[];
  assert.deepEqual(held.map(({ file_path, locked_by }) => `${file_path} ${locked_by}`).sort(), [
    'a.ts anna',
    'b.ts bert',
  ]);
});

test('[AUD-5] a dry run says how many and writes nothing', async () => {
  const to = await fresh();
  const told = goldenLog();
  const done = await syncInto(sourceOf(told), to, { project: GOLDEN, dry_run: true });
  assert.deepEqual([done.rows, done.missing, done.copied], [told.length, told.length, 0]);
  assert.deepEqual(await rowsIn(to, GOLDEN), []);
});

test('[AUD-5] equal rows are as many in the copy, and rows about the store itself stay with it', async () => {
  const to = await fresh();
  const [quiet] = goldenLog().filter(({ events }) => events.length === 0);
  assert.ok(quiet);
  const about = { ...quiet, operation: 'log_read', agent_id: 'coxswain', agent_type: 'system' };
  const told = [quiet, quiet, about, quiet].map((row, index) => ({ ...row, position: index + 1 }));
  const done = await syncInto(sourceOf(told), to, { project: GOLDEN });
  assert.deepEqual([done.rows, done.copied], [3, 3]);
  const again = await syncInto(sourceOf([...told, { ...quiet, position: 9 }]), to, { project: GOLDEN });
  assert.deepEqual([again.rows, again.copied], [4, 1]);
});

test('[AUD-5] a row of a newer Coxswain is not copied by an older one', async () => {
  const to = await fresh();
  const told = goldenLog().slice(0, 5);
  const newer = { ...(told[4] as (typeof told)[number]), schema: EVENT_SCHEMA + 1 };
  const refusal = await refusalOf(syncInto(sourceOf([...told.slice(0, 4), newer]), to, { project: GOLDEN }));
  assert.equal(refusal.error, 'upgrade_required');
  assert.deepEqual(await rowsIn(to, GOLDEN), []);
});

test('[CLAIM-14] files: lines of other implementations are copied as the rows they are read as', async () => {
  using place = scratch();
  const folder = join(place.folder, '.ai-workspace');
  const { events, log } = layoutOf(folder);
  mkdirSync(events, { recursive: true });
  const started = { event_type: 'edge_started', timestamp: '2026-02-23T10:30:00Z', project: 'default' };
  const where = { feature: 'F-1', edge: 'design→code', agent_id: 'anna' };
  const lines = [
    { ...started, ...where },
    { ...started, event_type: 'something_else', note: 'twice' },
    { ...started, event_type: 'something_else', note: 'twice' },
    { ...started, event_type: 'edge_converged', timestamp: '2026-02-23T11:30:00Z', ...where },
  ];
  for (const line of lines) appendFileSync(log, `${JSON.stringify(line)}\n`);
  appendFileSync(log, 'not even JSON\n');
  const from = await open({ store: `files:${folder}`, cwd: place.folder });
  const to = await fresh();
  const done = await syncInto(from, to);
  assert.deepEqual([done.rows, done.copied, done.differences], [5, 5, []]);
  assertSameRows(await rowsIn(to, 'default'), await rowsIn(from, 'default'), 'foreign');
  assert.equal((await syncInto(from, to)).copied, 0);
  const back = await fresh(files);
  assert.equal((await syncInto(to, back)).copied, 5);
  assert.equal(await foldIn(back, 'default'), await foldIn(from, 'default'));
  await from.close();
});

test('[AUD-5] files: when only the log is left, its rows are still known as what they were', async () => {
  using place = scratch();
  const url = `files:${join(place.folder, '.ai-workspace')}`;
  const { own } = layoutOf(url.slice('files:'.length));
  const to = await fresh();
  const told = goldenLog();
  const first = await open({ store: url, cwd: place.folder });
  await syncInto(sourceOf(told), first, { project: GOLDEN });
  await syncInto(first, to, { project: GOLDEN });
  await first.close();
  // As after a clone: parameters and answers are gone, and so are reads.
  rmSync(own, { recursive: true });
  const left = await open({ store: url, cwd: place.folder });
  const happened = told.filter(({ events }) => events.length > 0);
  const done = await syncInto(left, to, { project: GOLDEN });
  assert.deepEqual([done.rows, done.copied, done.differences], [happened.length, 0, []]);
  const filled = await syncInto(to, left, { project: GOLDEN });
  assert.deepEqual(
    [filled.copied, filled.differences],
    [told.length - happened.length, []],
    'its reads come back',
  );
  await left.close();
});

test('[AUD-4] what retention has taken out of the target does not come back', async () => {
  const to = await fresh();
  const told = goldenLog();
  await syncInto(sourceOf(told), to, { project: GOLDEN });
  const actor = { agent_id: 'keeper', agent_type: 'cli', session_id: 'keeper' };
  const before_ms = Date.now();
  const { rows } = await prune({ store: to.store, project: GOLDEN, clock: systemClock, actor, before_ms });
  assert.ok(rows > 0);
  const again = await syncInto(sourceOf(told), to, { project: GOLDEN });
  assert.deepEqual([again.copied, again.differences], [0, []]);
});
