import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { seal } from '../../src/ledger/audit/sealing.ts';
import { verify } from '../../src/ledger/audit/verify-log.ts';
import { commit, type Decision, prefixed } from '../../src/ledger/decision.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { openStore } from '../../src/stores/open-store.ts';
import { cell, cellContext, cellEntities, request } from '../conformance/cells.ts';

/** A workspace folder of its own, gone afterwards. */
class Workspace {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<Workspace> {
    return new Workspace(await mkdtemp(join(tmpdir(), 'cox-files-')));
  }

  get url(): string {
    return `files:${this.folder}`;
  }

  get log(): string {
    return join(this.folder, 'events/events.jsonl');
  }

  get own(): string {
    return join(this.folder, 'events/.coxswain');
  }

  async use<T>(work: (store: Store) => Promise<T>): Promise<T> {
    // No power is cut here, and a sync takes longer than all the rest.
    const store = await openStore(this.url, { ...cellContext, lasting: false });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Sets several cells in one commit. */
function set(ids: readonly string[], by: string): Decision<JsonObject> {
  return {
    needs: { keys: ids.map(cell) },
    decide: () =>
      commit(
        ids.map((id) => ({ ...cell(id), type: 'cell_set', data: { by, text: 'naïve →\n🚣' } })),
        { success: true, by },
      ),
  };
}

/** `COX_TEST_TORN=1` takes each byte, as the long run does. */
const EVERY = Number(process.env.COX_TEST_TORN ?? 13);

const all = prefixed('id', 'cell', '', 1000);

async function cellsOf(store: Store): Promise<string[]> {
  return (await store.find('cells', { ranges: [all] })).loaded
    .list<{ by: string }>(all)
    .map(({ id, version, born, state }) => `${id}=${state.by} ${version} ${born}`);
}

async function assertReplays(store: Store): Promise<void> {
  const replayed = await replay(store, cellContext.entities, 'cells');
  assert.deepEqual(await compareWithLive(store, cellEntities, 'cells', replayed), []);
}

/** Three commits, of one event, of two and of three. */
async function threeCommits(place: Workspace): Promise<{ sizes: number[]; cells: string[][] }> {
  const sizes: number[] = [0];
  const cells: string[][] = [[]];
  await place.use(async (store) => {
    for (const ids of [['a'], ['b', 'c'], ['a', 'd', 'e']]) {
      await store.run(request('ann'), set(ids, ids.join('')));
      sizes.push((await stat(place.log)).size);
      cells.push(await cellsOf(store));
    }
  });
  return { sizes, cells };
}

test('[STORE-1] files: what stands beside the log is made anew from it, to the last version', async () => {
  await using place = await Workspace.make();
  const { cells } = await threeCommits(place);
  await rm(place.own, { recursive: true });
  await place.use(async (store) => {
    assert.deepEqual(await cellsOf(store), cells[3]);
    await assertReplays(store);
  });
});

test('[STORE-3] files: a folder that cannot be made is said with what mends it, and no folder at all is none', async () => {
  await using place = await Workspace.make();
  const file = join(place.folder, 'file');
  await writeFile(file, '');
  for (const [url, code, said] of [
    [`files:${join(file, 'workspace')}`, 'store_unusable', /folder cannot be used \(ENOTDIR.*move it away/s],
    ['files:', 'store_unsupported', /names no folder/],
  ] as const)
    await assert.rejects(openStore(url, cellContext), (error: unknown) => {
      assert.ok(error instanceof StoreFailure, String(error));
      assert.equal(error.refusal.error, code);
      assert.match(error.message, said);
      return true;
    });
});

test('[CLAIM-9] files: a log torn at any byte of its last commit is cut to the one before, and goes on', async () => {
  await using place = await Workspace.make();
  const { sizes, cells } = await threeCommits(place);
  const [, , before = 0, whole = 0] = sizes;
  const text = await readFile(place.log);
  const expected = cells[2]?.map((each) => each.split(' ')[0]);
  await place.use(async (store) => {
    for (let bytes = before; bytes < whole; bytes += EVERY) {
      // What stands beside the log knows of more than is left of it.
      await rm(place.log);
      await writeFile(place.log, text.subarray(0, bytes));
      assert.deepEqual(
        (await cellsOf(store)).map((each) => each.split(' ')[0]),
        expected,
        `at ${bytes}`,
      );
      assert.deepEqual(await readFile(place.log), text.subarray(0, before), `at ${bytes}`);
    }
    await store.run(request('bob'), set(['after'], 'bob'));
    await assertReplays(store);
  });
  for (let bytes = before; bytes < whole; bytes += 50) {
    await rm(place.own, { recursive: true });
    await writeFile(place.log, text.subarray(0, bytes));
    await place.use(async (store) => {
      assert.deepEqual(await cellsOf(store), cells[2], `at ${bytes}, with nothing beside it`);
      await store.run(request('bob'), set(['after'], 'bob'));
      await assertReplays(store);
    });
  }
});

test('[CLAIM-14] files: a commit counts with all its lines or not at all, and stops none after it', async () => {
  await using place = await Workspace.make();
  await threeCommits(place);
  const [a = '', b1 = '', b2 = '', a3 = '', d3 = '', e3 = ''] = (await readFile(place.log, 'utf8')).split(
    '\n',
  );
  const states = async (...lines: string[]) => {
    // Longer than the one that is known, or shorter: another log.
    await rm(place.log);
    await writeFile(place.log, `${lines.join('\n')}\n`);
    return (await place.use(cellsOf)).map((each) => each.split(' ')[0]);
  };
  assert.deepEqual(
    await states(a, b1, b2, a3, d3, d3, ''),
    ['a=a', 'b=bc', 'c=bc'],
    'a line twice for another',
  );
  assert.deepEqual(await states(a, b1, a3, d3, e3), ['a=ade', 'd=ade', 'e=ade'], 'its end is missing');
  assert.deepEqual(await states(a, b1, d3, e3), ['a=a'], 'two halves are no whole');
  assert.deepEqual(await states(b1, b2, a, a3, e3, d3), ['a=a', 'b=bc', 'c=bc'], 'another order');
});

test('[STORE-1] files: a process that died between the log and the file has committed, under its operation id', async () => {
  await using place = await Workspace.make();
  await threeCommits(place);
  await using kept = await Workspace.make();
  await cp(place.own, kept.own, { recursive: true });
  const again = request('ann', 'my-own-id', 'digest');
  const first = await place.use((store) => store.run(again, set(['late'], 'ann')));
  assert.equal(first.status, 'committed');
  // The log has it; the file beside it is as it was before.
  await rm(place.own, { recursive: true });
  await cp(kept.own, place.own, { recursive: true });
  await place.use(async (store) => {
    const second = await store.run(again, set(['late'], 'ann'));
    assert.ok(second.status === 'committed' && second.repeated);
    assert.deepEqual(second.answer, first.status === 'committed' ? first.answer : undefined);
    const lines = (await readFile(place.log, 'utf8')).trim().split('\n');
    assert.equal(lines.filter((line) => line.includes('"late"')).length, 1);
    await assertReplays(store);
  });
});

test('[CLAIM-9] files: an older log that was checked out is the truth; positions and tokens still grow', async () => {
  await using place = await Workspace.make();
  const { sizes, cells } = await threeCommits(place);
  await place.use(async (store) => {
    const { safe } = await store.read('cells', 0, 10);
    const text = await readFile(place.log);
    // As git does it: another file in its place.
    await rm(place.log);
    await writeFile(place.log, text.subarray(0, sizes[2]));
    assert.deepEqual(
      (await cellsOf(store)).map((each) => each.split(' ')[0]),
      cells[2]?.map((each) => each.split(' ')[0]),
      'while it is open',
    );
    const outcome = await store.run(request('bob'), set(['a'], 'bob'));
    assert.ok(outcome.status === 'committed' && outcome.position > safe, 'whoever reads on finds it');
    const { entries } = await store.read('default', 0, 100);
    assert.ok(entries.some(({ operation }) => operation === 'log_replaced'));
    await assertReplays(store);
  });
  const kept = (await readFile(place.log, 'utf8')).split('\n').filter((line) => line.includes('"d"'));
  assert.deepEqual(kept, [], 'nothing of the history that is gone comes back');
});

test('[CLAIM-9] files: another log of the same length, put there while nobody looked, is noticed by who only reads', async () => {
  await using place = await Workspace.make();
  await threeCommits(place);
  await using other = await Workspace.make();
  await other.use(async (store) => {
    for (const ids of [['a'], ['b', 'c'], ['a', 'd', 'f']])
      await store.run(request('ann'), set(ids, ids.join('')));
  });
  await writeFile(place.log, await readFile(other.log));
  await place.use(async (store) =>
    assert.deepEqual(
      (await cellsOf(store)).map((each) => each.split(' ')[0]),
      ['a=adf', 'b=bc', 'c=bc', 'd=adf', 'f=adf'],
    ),
  );
});

test('[CLAIM-14] files: lines of others, damaged ones and blank ones stay in the log and stop nobody', async () => {
  await using place = await Workspace.make();
  await threeCommits(place);
  const ours = await readFile(place.log, 'utf8');
  const [first = '', ...rest] = ours.split('\n');
  const foreign = '{"event_type":"intent_raised","timestamp":"2026-02-21T10:00:00Z","data":{"n":1}}';
  const mixed = [foreign, '', first, 'no JSON', first.replace('"a"', '"x"'), ...rest].join('\n');
  // Without the last line's end, as some programs leave it.
  await writeFile(place.log, `${mixed}${foreign}`);
  await rm(place.own, { recursive: true });
  await place.use(async (store) => {
    assert.deepEqual(
      (await cellsOf(store)).map((each) => each.split(' ')[0]),
      ['a=ade', 'b=bc', 'c=bc', 'd=ade', 'e=ade'],
    );
    await store.run(request('bob'), set(['f'], 'bob'));
    const { entries } = await store.read('default', 0, 100);
    const operations = entries.map(({ operation }) => operation);
    assert.deepEqual(operations, ['intent_raised', 'unreadable_line', 'unreadable_line', 'intent_raised']);
    await assertReplays(store);
  });
  const after = await readFile(place.log, 'utf8');
  assert.ok(after.startsWith(`${mixed}${foreign}\n{"event_type":"cell_set"`));
});

test('[CLAIM-14] files: a log whose lines end as on Windows says what it said', async () => {
  await using place = await Workspace.make();
  await threeCommits(place);
  const before = await place.use(cellsOf);
  const text = await readFile(place.log, 'utf8');
  await writeFile(place.log, text.replaceAll('\n', '\r\n'));
  await place.use(async (store) => {
    assert.deepEqual(await cellsOf(store), before);
    await store.run(request('bob'), set(['f'], 'bob'));
    await assertReplays(store);
  });
  // And back again, as the next git commit from another system brings it.
  const mixed = await readFile(place.log, 'utf8');
  await writeFile(place.log, mixed.replaceAll('\r\n', '\n'));
  await place.use(async (store) => {
    const cells = (await cellsOf(store)).map((each) => each.split(' ')[0]);
    assert.deepEqual(cells, ['a=ade', 'b=bc', 'c=bc', 'd=ade', 'e=ade', 'f=bob']);
  });
});

test('[AUD-5] [AUD-3] [AUD-6] files: a long log without what stood beside it is read, searched, sealed and verified', async () => {
  await using place = await Workspace.make();
  const before = await place.use(async (store) => {
    for (let n = 0; n < 300; n += 1)
      await store.run(request('ann'), set([`long${n % 40}`, `x${n}`, `y${n}`], `${n}`));
    return await cellsOf(store);
  });
  assert.ok((await stat(place.log)).size > 256 * 1024, 'long enough to be read in as a whole');
  await rm(place.own, { recursive: true });
  await place.use(async (store) => {
    assert.deepEqual(await cellsOf(store), before);
    await store.run(request('bob'), set(['later'], 'bob'));
    await assertReplays(store);
    const positions: number[] = [];
    for (let after = 0; ; ) {
      const { entries } = await store.read('cells', after, 7);
      if (entries.length === 0) break;
      positions.push(...entries.map(({ position }) => position));
      after = positions.at(-1) ?? after;
    }
    assert.deepEqual(positions, [...Array.from({ length: 300 }, (_, n) => n + 1), 302]);
    const anns: number[] = [];
    for (let below = Number.MAX_SAFE_INTEGER; below > 1; ) {
      const stretch = { above: 0, below, rows_max: 50, limit: 20 };
      const { entries, reached } = await store.trail.scan('cells', { agent_id: 'ann' }, stretch);
      anns.push(...entries.map(({ position }) => position));
      below = entries.length === 20 ? (anns.at(-1) ?? 0) : reached + 1;
    }
    assert.deepEqual(
      anns,
      Array.from({ length: 300 }, (_, n) => 300 - n),
    );
    assert.equal(await seal(store, 'cells', systemClock, { all: true }), 301);
    assert.equal((await verify(store, 'cells')).fault, undefined);
  });
  // One letter of one event, its length unchanged.
  const text = await readFile(place.log, 'utf8');
  await writeFile(place.log, text.replace('"by":"17"', '"by":"18"'));
  await place.use(async (store) => assert.notEqual((await verify(store, 'cells')).fault, undefined));
});
