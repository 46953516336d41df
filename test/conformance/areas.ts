import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acquireLock } from '../../src/features/locks/operations/acquire-lock-operation.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import { type Call, patientAgent } from './engine.ts';
import type { Scene } from './suite.ts';

const BRIEFLY = 0.02;

/** An agent stands in line for it. */
async function standsInLine(look: Call, file_path: string, agent_id: string): Promise<void> {
  await until(async () => {
    const { waiting = [] } = await look('check_locks', { file_paths: [file_path] });
    return (waiting as JsonObject[]).some((each) => each.agent_id === agent_id);
  });
}

export function areaCases(scene: Scene): void {
  folderCases(scene);
  lineCases(scene);
  retryCases(scene);
}

function folderCases(scene: Scene): void {
  const at = scene.engine;

  test(`[LOCK-10] ${at}: a lock on a folder or a pattern covers the files in it, both ways`, async () => {
    const [a, b] = [scene.agent('a'), scene.agent('b')];
    assert.equal((await a('acquire_lock', { file_path: 'f1/', reason: 'move' })).action, 'acquired');
    const covered = await b('acquire_lock', { file_path: 'f1/deep/x.ts' });
    assert.deepEqual([covered.action, covered.locked_by, covered.overlaps], ['blocked', 'a', 'f1/']);
    assert.equal((await b('acquire_lock', { file_path: 'f2/x.ts' })).action, 'acquired');
    assert.equal((await a('acquire_lock', { file_path: 'f2/**/*.ts' })).overlaps, 'f2/x.ts');
    assert.equal((await a('acquire_lock', { file_path: 'f2/*.css' })).action, 'acquired');
    assert.equal((await b('acquire_lock', { file_path: 'f2/y.css' })).action, 'blocked');
    assert.equal((await a('release_lock', { file_path: 'f1/' })).released, true);
    assert.equal((await b('acquire_lock', { file_path: 'f1/deep/x.ts' })).action, 'acquired');
    const { locks } = await a('check_locks', { file_paths: ['f2/y.css'] });
    assert.deepEqual(
      (locks as JsonObject[]).map(({ file_path }) => file_path),
      ['f2/*.css'],
    );
  });

  test(`[LOCK-10] ${at}: several at once are all or nothing, and each is released`, async () => {
    const [a, b] = [scene.agent('a'), scene.agent('b')];
    await b('acquire_lock', { file_path: 's/taken.ts' });
    const none = await a('acquire_lock', { file_paths: ['s/free.ts', 's/taken.ts', 's/sub/'] });
    assert.deepEqual([none.action, none.file_path, none.locked_by], ['blocked', 's/taken.ts', 'b']);
    assert.equal(
      (await b('acquire_lock', { file_path: 's/free.ts' })).action,
      'acquired',
      'nothing was kept',
    );
    const all = await a('acquire_lock', { file_paths: ['s/1.ts', 's/sub/', 't/*.ts'] });
    const paths = (all.locks as JsonObject[]).map(({ file_path }) => file_path);
    assert.deepEqual(paths, ['s/1.ts', 's/sub/', 't/*.ts']);
    const released = await a('release_lock', { file_paths: ['s/1.ts', 's/sub/', 't/*.ts', 's/other.ts'] });
    assert.deepEqual(
      (released.results as JsonObject[]).map((each) => each.released),
      [true, true, true, false],
    );
    assert.equal((await b('acquire_lock', { file_path: 's/' })).action, 'acquired');
  });

  test(`[LOCK-10] ${at}: a folder and a file in it asked for at once: one of them is granted`, async () => {
    const { url } = scene.fixture();
    const other = url === undefined ? scene.coxswain() : await scene.fixture().open();
    const [a, b] = [scene.agent('race-a'), patientAgent(other, 'race-b')];
    for (let round = 0; round < 60; round += 1) {
      const folder = a('acquire_lock', { file_path: `race/${round}/` });
      const file = b('acquire_lock', { file_path: `race/${round}/deep/x.ts` });
      const answers = await Promise.all(round % 2 === 0 ? [folder, file] : [file, folder]);
      const granted = answers.filter(({ success }) => success === true);
      assert.equal(granted.length, 1, JSON.stringify(answers));
    }
  });

  test(`[LOCK-10] ${at}: what ran out below a folder is no obstacle, however much it is`, async () => {
    const [a, b] = [scene.agent('a'), scene.agent('b')];
    for (let batch = 0; batch < 4; batch += 1) {
      const file_paths = Array.from({ length: 20 }, (_, n) => `many/${batch}/${n}.ts`);
      assert.equal((await a('acquire_lock', { file_paths, ttl_minutes: BRIEFLY })).success, true);
    }
    const got = await until(async () => {
      const answer = await b('acquire_lock', { file_path: 'many/' });
      return answer.success === true && answer;
    });
    assert.equal(got.file_path, 'many/');
    assert.equal((await a('acquire_lock', { file_path: 'many/3/1.ts' })).locked_by, 'b');
  });

  test(`[LOCK-11] ${at}: readers share, a writer waits for all of them`, async () => {
    const [a, b, c] = [scene.agent('a'), scene.agent('b'), scene.agent('c')];
    const shared = { file_path: 'r.ts', shared: true };
    assert.equal((await a('acquire_lock', shared)).shared, true);
    assert.equal((await b('acquire_lock', shared)).action, 'acquired');
    const refused = await c('acquire_lock', { file_path: 'r.ts' });
    assert.deepEqual([refused.action, refused.shared], ['blocked', true]);
    const upgrade = await a('acquire_lock', { file_path: 'r.ts' });
    assert.equal(upgrade.locked_by, 'b', 'nor does a reader become a writer beside another');
    await b('release_lock', { file_path: 'r.ts' });
    assert.equal((await a('acquire_lock', { file_path: 'r.ts' })).action, 'acquired');
    assert.equal((await b('acquire_lock', shared)).action, 'blocked');
  });
}

function lineCases(scene: Scene): void {
  const at = scene.engine;

  test(`[LOCK-11] ${at}: who waits is served in the order of coming, folders among files`, async () => {
    const [a, look] = [scene.agent('a'), scene.agent('look')];
    await a('acquire_lock', { file_path: 'line/x.ts' });
    const order: string[] = [];
    const wanted: [string, string][] = [
      ['w1', 'line/x.ts'],
      ['w2', 'line/'],
      ['w3', 'line/*.ts'],
      ['w4', 'line/x.ts'],
    ];
    const waits = [];
    for (const [name, file_path] of wanted) {
      const call = scene.agent(name);
      const served = call('acquire_lock', { file_path, wait_seconds: 60 }).then(async (answer) => {
        order.push(name);
        assert.ok((answer.waited_seconds as number) >= 0, JSON.stringify(answer));
        await call('release_lock', { file_path });
      });
      waits.push(served);
      await standsInLine(look, file_path, name);
    }
    const newcomer = await scene.agent('newcomer')('acquire_lock', { file_path: 'line/x.ts' });
    assert.equal(newcomer.action, 'blocked');
    await a('release_lock', { file_path: 'line/x.ts' });
    await Promise.all(waits);
    assert.deepEqual(order, ['w1', 'w2', 'w3', 'w4']);
    assert.equal((await look('check_locks', { file_paths: ['line/'] })).waiting, undefined);
  });

  test(`[LOCK-11] ${at}: a lock that runs out goes to who waits, without anybody doing anything`, async () => {
    const [a, b] = [scene.agent('a'), scene.agent('b')];
    const first = await a('acquire_lock', { file_path: 'out.ts', ttl_minutes: BRIEFLY });
    const started_ms = performance.now();
    const got = await b('acquire_lock', { file_path: 'out.ts', wait_seconds: 60 });
    assert.equal(got.action, 'acquired');
    assert.ok(Date.now() >= Date.parse(first.expires_at as string), 'not before');
    assert.ok(performance.now() - started_ms < 15_000, 'and soon after');
  });

  test(`[LOCK-11] ${at}: waiting ends in time, says how long it was, and leaves nobody in line`, async () => {
    const [a, b, c] = [scene.agent('a'), scene.agent('b'), scene.agent('c')];
    await a('acquire_lock', { file_path: 'late/x.ts' });
    const behind = b('acquire_lock', { file_path: 'late/', wait_seconds: 30 });
    await standsInLine(a, 'late/', 'b');
    const refused = await c('acquire_lock', { file_path: 'late/x.ts', wait_seconds: 0.3 });
    assert.deepEqual([refused.action, refused.locked_by, refused.position], ['blocked', 'a', 2]);
    assert.ok((refused.waited_seconds as number) >= 0.3);
    const { waiting } = await a('check_locks', { file_paths: ['late/'] });
    assert.deepEqual(
      (waiting as JsonObject[]).map(({ agent_id }) => agent_id),
      ['b'],
    );
    await a('release_lock', { file_path: 'late/x.ts' });
    assert.equal((await behind).action, 'acquired');
  });

  test(`[LOCK-11] ${at}: who goes away while it waits is out of the line`, async () => {
    const [a, look] = [scene.agent('a'), scene.agent('look')];
    await a('acquire_lock', { file_path: 'gone.ts' });
    const gone = new AbortController();
    const connection = scene.coxswain().connect({ agent_id: 'gone' });
    const told: JsonObject[] = [];
    const wait = connection.perform(
      acquireLock,
      { file_path: 'gone.ts', wait_seconds: 60 },
      { signal: gone.signal, onWaiting: (why) => void told.push(why) },
    );
    await standsInLine(look, 'gone.ts', 'gone');
    gone.abort();
    assert.equal((await wait).action, 'blocked');
    assert.equal(told[0]?.locked_by, 'a');
    assert.equal((await look('check_locks', { file_paths: ['gone.ts'] })).waiting, undefined);
  });
}

function retryCases(scene: Scene): void {
  const at = scene.engine;

  test(`[LOCK-10] ${at}: asked again under the same id, a folder’s lock is the first grant`, async () => {
    const a = scene.agent('a');
    const input = { file_paths: ['again/', 'other.ts'], operation_id: 'areas-again', wait_seconds: 5 };
    const first = await a('acquire_lock', input);
    assert.equal(first.success, true);
    assert.deepEqual(await a('acquire_lock', input), first);
    const { waiting } = await a('check_locks', { file_paths: ['again/', 'other.ts'] });
    assert.equal(waiting, undefined);
  });

  test(`[LOCK-11] ${at}: two calls of one id wait, and both get the one grant`, async () => {
    const [a, b, again] = [scene.agent('a'), scene.agent('b'), scene.agent('b')];
    await a('acquire_lock', { file_path: 'twice.ts' });
    const input = { file_path: 'twice.ts', operation_id: 'areas-twice', wait_seconds: 30 };
    const both = Promise.all([b('acquire_lock', input), again('acquire_lock', input)]);
    await until(async () => {
      const { waiting = [] } = await a('check_locks', { file_paths: ['twice.ts'] });
      return (waiting as JsonObject[]).length === 2;
    });
    await a('release_lock', { file_path: 'twice.ts' });
    const [one, two] = await both;
    assert.equal(one.action, 'acquired');
    assert.deepEqual(one, two);
    assert.equal((await a('check_locks', { file_paths: ['twice.ts'] })).waiting, undefined);
  });

  test(`[LOCK-11] [AUD-1] ${at}: a wait has one row of its own, and looking again writes none`, async () => {
    const [a, b] = [scene.agent('a'), scene.agent('row-b')];
    const { store, project } = scene.coxswain();
    await a('acquire_lock', { file_path: 'row.ts' });
    const wait = b('acquire_lock', { file_path: 'row.ts', wait_seconds: 30 });
    await standsInLine(a, 'row.ts', 'row-b');
    for (let n = 0; n < 10; n += 1) await a('acquire_lock', { file_path: `noise/${n}.ts` });
    await a('release_lock', { file_path: 'row.ts' });
    assert.equal((await wait).action, 'acquired');
    const rows: JsonObject[] = [];
    await until(async () => {
      rows.length = 0;
      for (let after = 0; ; ) {
        const { entries } = await store.read(project, after, 1000);
        if (entries.length === 0) break;
        after = entries.at(-1)?.position ?? 0;
        rows.push(...(entries as unknown as JsonObject[]));
      }
      return rows.some((row) => row.agent_id === 'row-b');
    });
    const mine = rows.filter(
      (row) => row.agent_id === 'row-b' || (row.parameters as JsonObject).on_behalf_of === 'row-b',
    );
    assert.deepEqual(
      mine.map(({ operation }) => operation).filter((operation) => operation !== 'touch_session'),
      ['wait_for_lock', 'acquire_lock'],
    );
  });
}
