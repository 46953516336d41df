import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { main } from '../../../src/transports/cli/main.ts';
import { cox, fakeTerminal } from '../../transports/support.ts';
import { DAY_MS, oldAndNew, Place, work } from './support.ts';

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));
const before = new Date(Date.now() - 50 * DAY_MS).toISOString();

async function run(place: Place, ...words: string[]): Promise<[number, JsonObject]> {
  const { terminal, written } = fakeTerminal(place.folder, {
    COX_PRESENCE: 'off',
    COX_STORE: place.url,
    AGENT_ID: 'keeper',
  });
  const code = await main([...words, '--json'], terminal);
  return [code, JSON.parse(written.out) as JsonObject];
}

async function verified(place: Place): Promise<JsonObject> {
  const [code, answer] = await run(place, 'audit', 'verify');
  assert.deepEqual([code, answer.intact], [0, true], JSON.stringify(answer));
  return answer;
}

test('[AUD-6] cox audit seal and verify: exit code 0, the head to keep, the unsealed end; 1 and the first bad row', async () => {
  await using place = await Place.open('sqlite');
  await work(place, 3);
  const [, sealed] = await run(place, 'audit', 'seal');
  assert.deepEqual([sealed.sealed_rows, sealed.head_number], [6, 1]);
  await work(place, 1, 'more');
  const answer = await verified(place);
  assert.deepEqual([answer.sealed_rows, answer.unsealed_after, answer.unsealed_rows], [6, 6, 2]);
  assert.equal(typeof answer.unsealed_seconds, 'number');
  const head = String(sealed.head_hash);
  assert.equal((await run(place, 'audit', 'verify', '--expect', head))[0], 0);
  const [unknown, other] = await run(
    place,
    'audit',
    'verify',
    '--expect',
    head.replace(/^./, (c) => (c === '0' ? '1' : '0')),
  );
  assert.deepEqual([unknown, (other.fault as JsonObject).kind], [1, 'head_unknown']);
  assert.equal((await run(place, 'audit', 'verify', '--expect', 'what?'))[0], 2);
  const database = new DatabaseSync(place.url.slice('sqlite:'.length), { timeout: 1000 });
  database.exec('DROP TRIGGER log_is_append_only_update');
  database.exec("UPDATE log SET agent_id = 'somebody' WHERE position = 4");
  database.close();
  const [code, bad] = await run(place, 'audit', 'verify');
  assert.equal(code, 1);
  assert.deepEqual(
    [bad.success, bad.intact, bad.fault],
    [false, false, { kind: 'changed', position: 4, segment: 1 }],
  );
  const { terminal, written } = fakeTerminal(place.folder, { COX_PRESENCE: 'off', COX_STORE: place.url });
  assert.equal(await main(['audit', 'verify'], terminal), 1);
  assert.match(written.err, /Row 4 was changed after it was sealed/);
});

for (const engine of ['sqlite', 'postgres']) {
  test(`[AUD-4] [AUD-7] ${engine}: cox audit prune keeps 90 days, or AUDIT_RETENTION_DAYS, and never less than two`, async () => {
    await using place = await Place.open(engine);
    await oldAndNew(place, 4, 1);
    const [, dry] = await run(place, 'audit', 'prune', '--dry-run');
    assert.deepEqual([dry.dry_run, dry.segments, dry.removable_rows], [true, 1, 4]);
    const young = new Date(Date.now() - DAY_MS).toISOString();
    for (const wrong of [young, 'soon', '2999-01-01']) {
      const [code, answer] = await run(place, 'audit', 'prune', '--before', wrong);
      assert.deepEqual([code, answer.field], [2, 'before']);
    }
    for (const [days, removed] of [
      ['365', 0],
      ['99', 4],
    ] as const) {
      const env = { COX_PRESENCE: 'off', COX_STORE: place.url, AUDIT_RETENTION_DAYS: days };
      const { terminal, written } = fakeTerminal(place.folder, env);
      assert.equal(await main(['audit', 'prune', '--json'], terminal), 0);
      assert.equal(JSON.parse(written.out).removed_rows, removed);
    }
    const { terminal } = fakeTerminal(place.folder, {
      COX_PRESENCE: 'off',
      COX_STORE: place.url,
      AUDIT_RETENTION_DAYS: '1',
    });
    assert.equal(await main(['audit', 'prune', '--json'], terminal), 2);
    assert.equal((await verified(place)).removed_rows, 4);
    assert.equal((await run(place, 'replay'))[1].equal, true);
  });

  test(`[AUD-7] ${engine}: what was archived is read by replay, and without it replay says what is missing`, async () => {
    await using place = await Place.open(engine);
    await oldAndNew(place, 5, 2);
    const then = new Date(Date.now() - 60 * DAY_MS).toISOString();
    const [, past] = await run(place, 'replay', '--at', then);
    const [, nothing] = await run(place, 'audit', 'archive', '--before', '2020-01-01', '--to', 'none.jsonl');
    assert.deepEqual([nothing.archived_rows, readdirSync(place.folder).includes('none.jsonl')], [0, false]);
    const [code, archived] = await run(place, 'audit', 'archive', '--before', before, '--to', 'old.jsonl');
    assert.deepEqual([code, archived.archived_rows, archived.segments], [0, 5, 1]);
    assert.equal((await run(place, 'audit', 'prune'))[1].removed_rows, 5);
    assert.equal((await verified(place)).removed_rows, 10);
    assert.deepEqual(
      (await place.rows()).filter((row) => row.agent_id === 'old'),
      [],
    );
    const [refused, alone] = await run(place, 'replay');
    assert.deepEqual([refused, alone.field, alone.expected], [2, 'archive', 'old.jsonl']);
    const [equal, whole] = await run(place, 'replay', '--archive', 'old.jsonl');
    assert.deepEqual([equal, whole.equal, whole.differences], [0, true, []]);
    const [, again] = await run(place, 'replay', '--at', then, '--archive', 'old.jsonl');
    assert.deepEqual([again.locks, again.tasks], [past.locks, past.tasks]);
    assert.equal((await run(place, 'audit', 'archive', '--before', before, '--to', 'old.jsonl'))[0], 2);
  });
}

test('[AUD-7] an archive that is damaged, cut off or of another project is not read', async () => {
  await using place = await Place.open('sqlite');
  await oldAndNew(place, 3, 0);
  await run(place, 'audit', 'archive', '--before', before, '--to', 'old.jsonl');
  const text = readFileSync(join(place.folder, 'old.jsonl'), 'utf8');
  const lines = text.trimEnd().split('\n');
  const broken = {
    changed: text.replace('old/1.ts', 'old/9.ts'),
    shortened: `${lines.slice(0, -1).join('\n')}\n`,
    without: [...lines.slice(0, 2), ...lines.slice(3)].join('\n'),
    empty: '',
    foreign: text.replace('"project":"default"', '"project":"other"'),
    nonsense: 'x\ny\n',
  };
  for (const [name, content] of Object.entries(broken)) {
    writeFileSync(join(place.folder, name), content);
    const [code, answer] = await run(place, 'replay', '--archive', name);
    assert.deepEqual([name, code, answer.error], [name, 2, 'invalid_input']);
    assert.match(String(answer.message), /damaged|no archive|of project/, name);
  }
  assert.equal((await run(place, 'replay', '--archive', 'missing'))[0], 2);
  assert.equal((await run(place, 'replay', '--archive', 'old.jsonl'))[1].equal, true);
});

/** Runs a command until the step is reached, and kills it there. */
async function killedAt(place: Place, step: string, ...command: string[]): Promise<void> {
  const child = spawn(process.execPath, [WORKER, place.url, place.folder, step, ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  assert.equal(said, 'reached\n');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function segments(place: Place, count: number): Promise<void> {
  place.ago_ms = 100 * DAY_MS;
  for (let n = 0; n < count; n += 1) {
    await work(place, 2, 'old', 2 * n);
    await place.seal();
  }
  place.ago_ms = 0;
  await work(place, 2, 'new');
}

test('[AUD-7] kill -9 in the middle of a prune: the segments before are gone, that one is whole, the rest waits', async () => {
  await using place = await Place.open('sqlite');
  await segments(place, 5);
  await killedAt(place, '3', 'audit', 'prune');
  assert.equal((await verified(place)).removed_rows, 4);
  assert.equal((await run(place, 'replay'))[1].equal, true);
  assert.equal((await run(place, 'audit', 'prune'))[1].removed_rows, 6);
  assert.equal((await verified(place)).removed_rows, 10);
  assert.equal((await run(place, 'replay'))[1].equal, true);
});

test('[AUD-7] kill -9 in the middle of an archive: nothing is lost, wherever it happens', async () => {
  for (const [step, removed, archives] of [
    ['finish', 0, []],
    ['1', 0, ['a.jsonl']],
    ['4', 6, ['a.jsonl']],
  ] as const) {
    await using place = await Place.open('sqlite');
    await segments(place, 5);
    await killedAt(place, step, 'audit', 'archive', '--before', before, '--to', 'a.jsonl');
    assert.equal((await verified(place)).removed_rows, removed, step);
    const given = archives.flatMap((file) => ['--archive', file]);
    assert.equal((await run(place, 'replay', ...given))[1].equal, true, step);
    const next = archives.length === 0 ? 'a.jsonl' : 'b.jsonl';
    const [code, rest] = await run(place, 'audit', 'archive', '--before', before, '--to', next);
    assert.deepEqual([code, rest.archived_rows], [0, 10 - removed], step);
    assert.equal((await verified(place)).removed_rows, 10, step);
    const all = [...new Set([...archives, next])].flatMap((file) => ['--archive', file]);
    assert.equal((await run(place, 'replay', ...all))[1].equal, true, step);
  }
});

for (const engine of ['sqlite', 'postgres']) {
  test(`[AUD-6] ${engine}: sealers in four processes beside writers: one chain, every row in it once`, async () => {
    await using place = await Place.open(engine);
    await work(place, 100);
    const env = { COX_PRESENCE: 'off', COX_STORE: place.url };
    const sealers = Promise.all(
      Array.from({ length: 4 }, () => cox(['audit', 'seal', '--json'], { cwd: place.folder, env })),
    );
    await work(place, 50, 'meanwhile');
    const sealed = (await sealers).map(({ out }) => (JSON.parse(out) as JsonObject).sealed_rows as number);
    const rest = (await run(place, 'audit', 'seal'))[1].sealed_rows as number;
    const answer = await verified(place);
    assert.equal(
      sealed.reduce((sum, rows) => sum + rows, rest),
      answer.sealed_rows,
    );
    assert.ok((answer.sealed_rows as number) >= 300);
  });
}
