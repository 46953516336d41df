import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { systemClock } from '../../src/kernel/clock.ts';
import { systemRandom } from '../../src/kernel/ids.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import type { Range } from '../../src/ledger/decision.ts';
import {
  defineEntities,
  type EntityRecord,
  type EntityType,
  type EventBody,
} from '../../src/ledger/entity.ts';
import { EVENT_SCHEMA } from '../../src/ledger/log.ts';
import { LoadedSet, propose } from '../../src/ledger/proposal.ts';
import { openStore } from '../../src/stores/open-store.ts';
import { openFile } from '../../src/stores/sqlite/file.ts';
import { Records } from '../../src/stores/sqlite/records.ts';
import { SCHEMA_EPOCH } from '../../src/stores/sqlite/schema.ts';
import { Statements } from '../../src/stores/sqlite/statements.ts';
import { cell, cellContext, request, setUnless } from '../conformance/cells.ts';
import { Seeded } from '../simulation/random.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'cox-records-'));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Card {
  readonly sort?: string | undefined;
  readonly group?: string | undefined;
  readonly links?: readonly string[] | undefined;
  readonly turns: number;
}

const cardEntity: EntityType<Card> = {
  kind: 'card',
  evolve: (state, { data }) => ({ ...(data as Omit<Card, 'turns'>), turns: (state?.turns ?? 0) + 1 }),
  index: ({ sort, group, links }) => ({ sort, group, links }),
};
const entities = defineEntities(cardEntity, { ...cardEntity, kind: 'token' });
const PROJECTS = ['one', 'two'];
const KINDS = ['card', 'token'];
/** Two that UTF-16 and UTF-8 order differently, among them. */
const WORDS = ['', 'a', 'a/1', 'a/2', 'b', 'ä', '\uffee', '\u{1f600}', 'z'];

/** One process's view of the file. */
class Process {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly records: Records;

  private constructor(database: DatabaseSync) {
    this.database = database;
    this.statements = new Statements(database);
    // After three looks in vain the ids of a kind are known, as they are for who creates much.
    this.records = new Records(this.statements, entities, 3);
  }

  static async on(path: string): Promise<Process> {
    return new Process(await openFile(path, { clock: systemClock, random: systemRandom }));
  }

  /** As the writer does it. */
  transact(work: () => void, commits = true): void {
    this.statements.begin();
    this.records.catchUp();
    work();
    if (commits) this.statements.commit();
    else {
      this.records.forget();
      this.database.exec('ROLLBACK');
    }
  }

  look<T>(read: () => T): T {
    this.database.exec('BEGIN');
    try {
      this.records.catchUp();
      return read();
    } finally {
      this.database.exec('COMMIT');
    }
  }

  /** Answers what it has made of the records. */
  commit(project: string, events: EventBody[], at_ms: number): EntityRecord[] {
    const loaded = new LoadedSet();
    for (const event of events) if (!loaded.has(event)) loaded.put(event, this.records.get(project, event));
    const { writes } = propose(entities, loaded, events, at_ms, undefined);
    const position = this.records.nextPosition();
    this.statements.append(position, rowOf(project, events, at_ms), null);
    for (const write of writes) this.records.write(project, write, position);
    return writes.map(({ kind, id, version, born, state }) => ({
      kind,
      id,
      version,
      born: born ?? position,
      state,
    }));
  }

  /** What another program sees in the table. */
  table(): unknown {
    return this.database.prepare('SELECT * FROM records ORDER BY project, kind, id').all();
  }
}

function rowOf(project: string, events: EventBody[], at_ms: number) {
  const actor = { agent_id: 'a', agent_type: 'test', session_id: 'a', sequence: 1 };
  const call = { operation: 'turn', operation_id: '', parameters: {}, result: {}, duration_ms: 0 };
  return { schema: EVENT_SCHEMA, project, at_ms, ...actor, ...call, events };
}

const inBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The whole truth, looked through from one end to the other. */
function select(truth: Iterable<EntityRecord>, { by, kind, from, before, limit }: Range): EntityRecord[] {
  const found: { key: string; record: EntityRecord }[] = [];
  for (const record of truth) {
    if (record.kind !== kind) continue;
    const { sort, group, links = [] } = record.state as unknown as Card;
    const keys = { id: [record.id], sort: [sort], group: [group], link: links }[by];
    for (const key of keys)
      if (key !== undefined && inBytes(key, from) >= 0 && inBytes(key, before) < 0)
        found.push({ key, record });
  }
  found.sort(
    (a, b) => inBytes(a.key, b.key) || a.record.born - b.record.born || inBytes(a.record.id, b.record.id),
  );
  return found.slice(0, limit).map(({ record }) => record);
}

const plain = (records: readonly EntityRecord[]) => JSON.parse(JSON.stringify(records)) as unknown;

test('[STORE-1] three processes, one of which folds at times: each finds what the log says, in every order', async () => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const random = new Seeded(seed);

    const path = join(folder, `${seed}.db`);
    const processes = [await Process.on(path), await Process.on(path), await Process.on(path)];
    const truth = new Map(PROJECTS.map((project) => [project, new Map<string, EntityRecord>()]));
    let at_ms = 1000;
    const someEvent = (): EventBody => {
      const word = () => (random.chance(0.3) ? undefined : random.pick(WORDS));
      const links = WORDS.filter(() => random.chance(0.2));
      const data = { sort: word(), group: word(), links: random.chance(0.3) ? undefined : links };
      return {
        kind: random.pick(KINDS),
        id: random.pick(WORDS) + random.between(0, 7),
        type: 'turned',
        data,
      };
    };
    for (let step = 0; step < 400; step += 1) {
      const process = random.pick(processes);
      const project = random.pick(PROJECTS);
      const records = truth.get(project) as Map<string, EntityRecord>;
      const choice = random.fraction();
      if (choice < 0.5) {
        at_ms += random.between(-1, 1);
        const events = Array.from({ length: random.between(1, 3) }, someEvent);
        const commits = random.chance(0.9);
        let written: EntityRecord[] = [];
        process.transact(() => {
          written = process.commit(project, events, at_ms);
          if (random.chance(0.1)) process.records.fold();
        }, commits);
        if (commits) for (const record of written) records.set(`${record.kind}/${record.id}`, record);
      } else if (choice < 0.53) {
        process.transact(() => process.records.fold());
      } else {
        const range: Range = {
          ...{ by: random.pick(['id', 'sort', 'group', 'link'] as const), kind: random.pick(KINDS) },
          ...{
            from: random.pick(WORDS),
            before: random.pick([...WORDS, '\u{10ffff}']),
            limit: random.chance(0.1) ? 200 : random.between(1, 12),
          },
        };
        const key = { kind: random.pick(KINDS), id: random.pick(WORDS) + random.between(0, 7) };
        const seen = process.look(() => ({
          range: process.records.range(project, range),
          record: process.records.get(project, key),
        }));
        const where = `seed ${seed}, step ${step}: ${JSON.stringify(range)}`;
        assert.deepEqual(plain(seen.range), plain(select(records.values(), range)), where);
        assert.deepEqual(
          plain(seen.record === undefined ? [] : [seen.record]),
          plain([records.get(`${key.kind}/${key.id}`)].filter((each) => each !== undefined)),
          where,
        );
      }
    }
    // And once more by the table alone.
    processes[0]?.transact(() => processes[0]?.records.fold());
    const late = await Process.on(path);
    for (const project of PROJECTS)
      for (const kind of KINDS)
        for (const by of ['id', 'sort', 'group', 'link'] as const) {
          const range: Range = { by, kind, from: '', before: '\u{10ffff}', limit: 1000 };
          assert.deepEqual(
            plain(late.look(() => late.records.range(project, range))),
            plain(select(truth.get(project)?.values() ?? [], range)),
          );
        }
    for (const process of [...processes, late]) process.database.close();
  }
});

const turned = (id: string, sort: string): EventBody => ({
  kind: 'card',
  id,
  type: 'turned',
  data: { sort },
});

test('[STORE-1] a queue that is taken from at its head and in its middle: who asks again and again finds what is left', async () => {
  const random = new Seeded(7);
  const process = await Process.on(join(folder, 'queue.db'));
  const truth = new Map<string, EntityRecord>();
  const put = (id: string, sort: string | undefined) => {
    const event = { kind: 'card', id, type: 'turned', data: { sort } };
    process.transact(() => {
      for (const record of process.commit('one', [event], 1)) truth.set(record.id, record);
      if (random.chance(0.01)) process.records.fold();
    });
  };
  for (let index = 0; index < 300; index += 1) put(`card-${index}`, `q/${index % 5}`);
  process.transact(() => process.records.fold());
  for (let step = 0; step < 600; step += 1) {
    const limit = random.pick([1, 1, 1, 3, 150]);
    const range: Range = { by: 'sort', kind: 'card', from: 'q/', before: 'q0', limit };
    const found = process.look(() => process.records.range('one', range));
    assert.deepEqual(plain(found), plain(select(truth.values(), range)), `step ${step}`);
    const taken = random.chance(0.7) || found.length === 0 ? found[0] : random.pick(found);
    if (taken !== undefined) put(taken.id, random.chance(0.1) ? 'q/9' : undefined);
    if (random.chance(0.3)) put(`late-${step}`, `q/${random.between(0, 5)}`);
  }
  process.database.close();
});

test('[STORE-1] records too large to be kept in memory are found, whatever is known of what is not there', async () => {
  const process = await Process.on(join(folder, 'large.db'));
  const id = (index: number) => `large-${index}`;
  for (let index = 0; index < 60; index += 1) {
    const data = { sort: 'x'.repeat(500), group: 'y'.repeat(500), note: 'z'.repeat(1000) };
    process.transact(() => {
      process.commit('one', [{ kind: 'card', id: id(index), type: 'turned', data }], 1);
      if (index % 7 === 0) process.records.fold();
    });
    const found = process.look(() =>
      Array.from({ length: 60 }, (_, each) => process.records.get('one', { kind: 'card', id: id(each) })?.id),
    );
    assert.deepEqual(
      found,
      Array.from({ length: 60 }, (_, each) => (each <= index ? id(each) : undefined)),
    );
  }
  process.database.close();
});

test('[STORE-1] the table is behind the log until it is folded, and then says the same to whoever opens the file', async () => {
  const path = join(folder, 'behind.db');
  const writer = await Process.on(path);
  writer.transact(() => writer.commit('one', [turned('x', 'a')], 1));
  writer.transact(() => writer.commit('one', [turned('x', 'b')], 2));
  assert.deepEqual([writer.records.behind, writer.table()], [2, []]);
  // As if the writer had been killed here: nothing of its memory is needed.
  const next = await Process.on(path);
  const found = next.look(() => next.records.get('one', { kind: 'card', id: 'x' }));
  assert.deepEqual(plain(found === undefined ? [] : [found]), [
    { kind: 'card', id: 'x', version: 2, born: 1, state: { sort: 'b', turns: 2 } },
  ]);
  next.transact(() => next.records.fold());
  assert.deepEqual([next.records.behind, (next.table() as unknown[]).length], [0, 1]);
  assert.deepEqual(
    writer.look(() => writer.records.get('one', { kind: 'card', id: 'x' })),
    found,
  );
  for (const process of [writer, next]) process.database.close();
});

test('[STORE-1] what is created without having been looked for must not be there, in the table or ahead of it', async () => {
  const writer = await Process.on(join(folder, 'blind.db'));
  const blindly = (id: string) => () => {
    const { writes } = propose(entities, new LoadedSet(), [turned(id, 'a')], 1, undefined);
    const position = writer.records.nextPosition();
    for (const write of writes) writer.records.write('one', write, position);
  };
  writer.transact(() => writer.commit('one', [turned('folded', 'a')], 1));
  writer.transact(() => writer.records.fold());
  writer.transact(() => writer.commit('one', [turned('ahead', 'a')], 1));
  for (const id of ['folded', 'ahead']) {
    assert.throws(() => writer.transact(blindly(id)), /not as it was when this was decided/);
    writer.records.forget();
    writer.database.exec('ROLLBACK');
  }
  writer.transact(blindly('new'), false);
  writer.database.close();
});

test('[STORE-1] a row ahead of the table that was damaged, or that tells of what is not known here, is not guessed at', async () => {
  const damages = [
    [`UPDATE log SET body = replace(body, 'turned', 'burned')`, 'store_damaged'],
    ['DELETE FROM log WHERE position = 1', 'store_damaged'],
    ['DELETE FROM folded', 'store_damaged'],
    [undefined, 'upgrade_required'],
  ] as const;
  for (const [index, [sql, refusal]] of damages.entries()) {
    const path = join(folder, `damaged-${index}.db`);
    const writer = await Process.on(path);
    const kind = sql === undefined ? 'unheard-of' : 'card';
    writer.transact(() => {
      for (const id of ['x', 'y'])
        writer.statements.append(
          writer.records.nextPosition(),
          rowOf('one', [{ ...turned(id, 'a'), kind }], 1),
          null,
        );
    });
    writer.database.exec('DROP TRIGGER log_is_append_only_update; DROP TRIGGER log_is_append_only_delete;');
    if (sql !== undefined) writer.database.exec(sql);
    const reader = await Process.on(path);
    for (let time = 0; time < 2; time += 1)
      assert.throws(
        () => reader.look(() => {}),
        (error: unknown) => error instanceof StoreFailure && error.refusal.error === refusal,
      );
    for (const process of [writer, reader]) process.database.close();
  }
});

test('[STORE-1] the table follows: every so many rows, in a quiet moment, and when a writer closes', async () => {
  const path = join(folder, 'follows.db');
  const behind = () => {
    const { folded, last } = other.statements.extent();
    return last - folded;
  };
  const store = await openStore(`sqlite:${path}`, cellContext);
  const other = await Process.on(path);
  const set = (from: number, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        store.run(request('a'), setUnless(`c${from + n}`, 'never', 'a')),
      ),
    );
  await set(0, 3);
  assert.equal(behind(), 3, 'one who writes alone is in no hurry');
  await until(async () => behind() === 0);
  for (let round = 0; round < 12; round += 1) {
    await set(1000 * (round + 1), 400);
    assert.ok(behind() <= 2128, `${behind()} rows ahead`);
  }
  await store.close();
  assert.equal(behind(), 0);
  other.database.close();
});

test('[AUD-4] no row is removed before the table shows what it changed', async () => {
  const path = join(folder, 'removed.db');
  const store = await openStore(`sqlite:${path}`, cellContext);
  await store.run(request('a'), setUnless('x', 'y', 'a'));
  const span = { after: 0, last: 1, rows: 1, quiet_rows: 0, event_rows: 1 };
  const times = { oldest_at_ms: 1, newest_at_ms: 1, sealed_at_ms: 1 };
  const seal = { project: 'cells', number: 1, previous: '', ...span, ...times, words: null, hash: '' };
  await store.trail.addSeal({ ...seal, pruned_by: null, archived_by: null }, Buffer.alloc(0));
  const row = rowOf('cells', [], 1);
  assert.ok(await store.trail.remove('cells', { number: 1, mark: 'archived_by', positions: [1], row }));
  // Another process, that has never seen the row.
  const other = await Process.on(path);
  assert.ok(other.look(() => other.records.get('cells', cell('x'))) !== undefined);
  other.database.close();
  await store.close();
});

test('an event that older versions do not know raises the epoch of the file as well: all make records from all rows', () => {
  assert.deepEqual({ SCHEMA_EPOCH, EVENT_SCHEMA }, { SCHEMA_EPOCH: 4, EVENT_SCHEMA: 7 });
});
