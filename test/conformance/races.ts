import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuse } from '../../src/kernel/refusal.ts';
import { commit, prefixed, refused } from '../../src/ledger/decision.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { MemoryStore } from '../../src/stores/memory/store.ts';
import { until } from '../support/until.ts';
import { cell, cellContext, openCells, request, setUnless } from './cells.ts';
import { patientAgent } from './engine.ts';
import type { Scene } from './suite.ts';

/** The interleavings of the design's rules, provoked and never faked: the store must notice by itself. */
export function raceCases(scene: Scene): void {
  const at = scene.engine;
  let cells: Store | undefined;
  const open = async (): Promise<Store> => {
    const { url } = scene.fixture();
    cells ??= url === undefined ? new MemoryStore(cellContext) : await openCells(url);
    return cells;
  };
  const close = async () => cells?.close();

  test(`[STORE-1] ${at}: what is only read is expected too: no write skew on an absent record`, async () => {
    const store = await open();
    let both = 0;
    for (let round = 0; round < 200; round += 1) {
      const [x, y] = [`x${round}`, `y${round}`];
      const outcomes = await Promise.all([
        store.run(request('a'), setUnless(x, y, 'a')),
        store.run(request('b'), setUnless(y, x, 'b')),
      ]);
      if (outcomes.every(({ status }) => status === 'committed')) both += 1;
    }
    assert.equal(both, 0);
  });

  test(`[STORE-1] ${at}: two creators of one record: one succeeds`, async () => {
    const store = await open();
    for (let round = 0; round < 50; round += 1) {
      const id = `created${round}`;
      const outcomes = await Promise.all(
        ['a', 'b', 'c'].map((by) => store.run(request(by), setUnless(id, 'never', by))),
      );
      assert.equal(outcomes.filter(({ status }) => status === 'committed').length, 1);
    }
  });

  test(`[LOCK-3] ${at}: an expiry between deciding and committing makes it decide again`, async () => {
    const store = await open();
    let ends_ms: number | undefined;
    let decisions = 0;
    const outcome = await store.run(request('late'), {
      needs: { keys: [cell('late')] },
      decide(_loaded, now_ms) {
        decisions += 1;
        ends_ms ??= now_ms + 60;
        if (now_ms >= ends_ms) return refused(refuse('lease_expired', 'it ran out'));
        // Busy on purpose: time passes while this decision, made in time, is on its way.
        const start_ms = performance.now();
        while (performance.now() < start_ms + 80);
        const event = { ...cell('late'), type: 'cell_set', data: { by: 'late' } };
        return commit([event], { success: true }, ends_ms);
      },
    });
    assert.equal(outcome.status, 'refused', 'the commit came too late for what it relied on');
    assert.equal(decisions, 2);
    const { loaded } = await store.find('cells', { keys: [cell('late')] });
    assert.equal(loaded.get(cell('late')), undefined);
  });

  test(`[STORE-1] ${at}: ranges come in byte order of the key, then of birth, within their bounds`, async () => {
    const store = await open();
    const writers = ['b', 'é', 'a', '\u{1F600}', '\uFFFD', 'b'];
    for (const [n, by] of writers.entries())
      await store.run(request(by), setUnless(`order${n}`, 'never', by));
    const range = { by: 'sort', kind: 'cell', from: 'set/', before: 'set/\u{10FFFF}', limit: 1000 } as const;
    const found = (await store.find('cells', { ranges: [range] })).loaded.list<{ by: string }>(range);
    const mine = found.filter(({ id }) => id.startsWith('order')).map(({ id }) => id);
    assert.deepEqual(mine, ['order2', 'order0', 'order5', 'order1', 'order4', 'order3']);
    const links = prefixed('link', 'cell', 'by/é', 10);
    const linked = (await store.find('cells', { ranges: [links] })).loaded.list(links);
    assert.deepEqual(
      linked.map(({ id }) => id),
      ['order1'],
    );
  });

  test(`[QUEUE-5] ${at}: submit racing complete never leaves a child waiting for a finished parent`, async () => {
    const { url } = scene.fixture();
    const other = url === undefined ? scene.coxswain() : await scene.fixture().open();
    const [a, b] = [scene.agent('racer-a'), patientAgent(other, 'racer-b')];
    const children: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      const parent = await a('submit_work', { task_type: 'race', task_description: 'parent' });
      await a('get_work', { task_types: ['race'] });
      assert.equal(parent.success, true, JSON.stringify(parent));
      const task_id = parent.task_id as string;
      const [child] = await Promise.all([
        b('submit_work', { task_type: 'race-child', task_description: 'child', depends_on: [task_id] }),
        a('complete_work', { task_id, success: true }),
      ]);
      assert.equal(child.success, true, JSON.stringify(child));
      children.push(child.task_id as string);
    }
    const claimed: string[] = [];
    await until(async () => {
      const task = await b('get_work', { task_types: ['race-child'] });
      if (task.success === true) claimed.push(task.task_id as string);
      return claimed.length >= children.length;
    });
    assert.deepEqual(claimed.sort(), children.sort());
  });

  test(`[STORE-1] ${at}: projects do not see each other`, async () => {
    const store = await open();
    const [one, two] = [request('a'), { ...request('a'), project: 'elsewhere' }];
    assert.equal((await store.run(one, setUnless('same', 'never', 'a'))).status, 'committed');
    assert.equal((await store.run(two, setUnless('same', 'never', 'a'))).status, 'committed');
    const rows = (await store.read('elsewhere', 0, 100)).entries;
    assert.deepEqual(
      rows.map(({ project }) => project),
      ['elsewhere'],
    );
    await close();
  });
}
