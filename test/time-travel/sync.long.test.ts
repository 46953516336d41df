import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';
import { agent, type Engine, files, postgres } from '../conformance/engine.ts';
import { until } from '../support/until.ts';
import { finished, type Scratch, scratch, start } from '../transports/support.ts';
import { assertSameRows, rowsIn, syncInto } from './sync-support.ts';

const ROWS = 5000;
/** Far from what it takes, and far below what a sync of the disk for each row would. */
const REASONABLE_MS = 120_000;

/** A new store is one more entry. */
const ENGINES: readonly Engine[] = [files, postgres];

/** Locks come and go, some are refused, and every agent looks around. */
async function longHistory(place: Scratch): Promise<Coxswain> {
  const options = { store: place.store, cwd: place.folder, presence: 'off', lasting: false } as const;
  const coxswain = await open(options);
  const agents = Array.from({ length: 20 }, (_, n) => agent(coxswain, `agent-${n}`));
  for (let round = 0; round < ROWS / agents.length; round += 1)
    await Promise.all(
      agents.map((call, n) => {
        const file_path = `src/${n}/${round % 7}.ts`;
        if (round % 5 === 0) return call('check_locks', {});
        return call(round % 3 === 0 ? 'release_lock' : 'acquire_lock', { file_path });
      }),
    );
  // The rows of reads are written soon, and at the latest now.
  await coxswain.close();
  return await open(options);
}

for (const engine of ENGINES)
  test(`[STORE-1] ${engine.name}: 5,000 rows by processes of their own, two at once and one of them killed: each row once`, async () => {
    using place = scratch();
    const from = await longHistory(place);
    const told = await rowsIn(from, from.project);
    assert.ok(told.length >= ROWS, `${told.length}`);
    const fixture = await engine.fresh();
    const to = await fixture.open({ presence: 'off' });
    const copy = () => start(['sync', place.store, fixture.url ?? '', '--json'], { cwd: place.folder });
    const started_ms = Date.now();
    const [killed, other] = [copy(), copy()];
    const others = finished(other);
    await until(async () => (await rowsIn(to, to.project)).length > 300);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const { code, out, err } = await others;
    assert.equal(code, 0, `${out} ${err}`);
    assert.ok(Date.now() - started_ms < REASONABLE_MS, `${Date.now() - started_ms} ms`);
    const again = await syncInto(from, to);
    assert.deepEqual([again.rows, again.copied, again.differences], [told.length, 0, []]);
    assertSameRows(await rowsIn(to, to.project), told, engine.name);
    const replayed = await replay(to.store, entities, to.project);
    assert.deepEqual(await compareWithLive(to.store, entities, to.project, replayed), []);
    await fixture.drop();
    await from.close();
  });
