import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { open } from '../../src/index.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { main } from '../../src/transports/cli/main.ts';
import { agent } from '../conformance/engine.ts';
import { testDatabase } from '../support/postgres.ts';
import { fakeTerminal, scratch } from '../transports/support.ts';
import { claimed, converged, write } from './support.ts';

const START_MS = Date.UTC(2026, 0, 1, 12);
const MINUTE_MS = 60_000;

/** A history with known times, and `cox` on it. */
interface Told extends AsyncDisposable {
  readonly coxswain: Coxswain;
  readonly store: string;
  readonly folder: string;
  /** The position behind each part of the story. */
  readonly marks: Readonly<Record<'locked' | 'started' | 'converged' | 'end', number>>;
  cox(...words: string[]): Promise<{ code: number; out: string; err: string }>;
  json(...words: string[]): Promise<JsonObject>;
  lines(...words: string[]): Promise<JsonObject[]>;
}

async function story(): Promise<Told> {
  const place = scratch();
  const { store } = place;
  let now_ms = START_MS;
  const clock: Clock = { ...systemClock, now_ms: () => now_ms };
  const coxswain = await open({ store, clock, cwd: place.folder });
  const anna = agent(coxswain, 'anna');
  const bert = agent(coxswain, 'bert');
  const end = async () => (await coxswain.store.read(coxswain.project, 0, 1)).safe;
  await anna('acquire_lock', { file_path: 'src/a.ts', reason: 'tidy \u001b[31mup\u202e', ttl_minutes: 30 });
  await bert('acquire_lock', { file_path: 'src/a.ts' });
  const locked = await end();
  now_ms += 10 * MINUTE_MS;
  const started = await write(coxswain, 'anna', claimed('FEAT-1', 'design→code', 'anna', now_ms));
  await write(coxswain, 'bert', claimed('OTHER-2', 'intent→requirements', 'bert', now_ms));
  now_ms += 10 * MINUTE_MS;
  const converging = await write(coxswain, 'anna', converged('FEAT-1', 'design_code', 'anna'));
  await bert('submit_work', { task_type: 'test', task_description: 'run them' });
  await anna('release_lock', { file_path: 'src/a.ts' });
  await bert('acquire_lock', { file_path: 'docs/b.md', ttl_minutes: 1 });
  now_ms += 10 * MINUTE_MS;
  await bert('register_session', { capabilities: ['ts'] });
  const told = async (...words: string[]) => {
    const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: store, AGENT_ID: 'me' });
    return { code: await main(words, terminal), ...written };
  };
  return {
    coxswain,
    store,
    folder: place.folder,
    marks: { locked, started, converged: converging, end: await end() },
    cox: told,
    json: async (...words) => JSON.parse((await told(...words, '--json')).out) as JsonObject,
    async lines(...words) {
      const { code, out, err } = await told('log', '--output', 'jsonl', ...words);
      assert.deepEqual([code, err], [0, '']);
      const written = out.split('\n').filter((line) => line !== '');
      return written.map((line) => JSON.parse(line) as JsonObject);
    },
    async [Symbol.asyncDispose]() {
      await coxswain.close();
      place[Symbol.dispose]();
    },
  };
}

const iso = (minutes: number) => new Date(START_MS + minutes * MINUTE_MS).toISOString();
const types = (events: readonly JsonObject[]) => events.map(({ event_type }) => event_type);

test('[AUD-5] SQLite: replay --at, log and diff', async () => {
  await using told = await story();
  const { marks, json, lines } = told;
  const then = await json('replay', '--at', iso(5));
  assert.deepEqual(
    (then.locks as JsonObject[]).map(({ file_path, locked_by }) => [file_path, locked_by]),
    [['src/a.ts', 'anna']],
  );
  const claims = await json('replay', '--at', `#${marks.started}`, '--kind', 'claim');
  assert.deepEqual(
    (claims.records as JsonObject[]).map(({ id, state }) => [id, (state as JsonObject).feature]),
    [['FEAT-1#design_code', 'FEAT-1']],
  );
  const diff = await json('diff', '--from', `#${marks.started}`, '--to', iso(29), '--kind', 'claim');
  const [changed] = diff.changed as JsonObject[];
  assert.deepEqual(
    [changed?.id, (diff.created as JsonObject[]).map(({ id }) => id)],
    ['FEAT-1#design_code', ['OTHER-2#intent_requirements']],
  );
  const fields = (changed?.fields ?? []) as JsonObject[];
  const paths = fields.map(({ path }) => path);
  for (const path of ['/lease', '/converged', '/iteration']) assert.ok(paths.includes(path), path);
  const [started] = await lines('--feature', 'FEAT-*', '--type', 'edge_started');
  assert.equal(started?.position, marks.started);
  assert.equal((await json('replay')).equal, true);
});

test('[AUD-5] PostgreSQL: replay --at, log and diff', async () => {
  const database = await testDatabase({ migrated: true });
  after(() => database.drop());
  // Its own clock labels the rows there, so times are of today and only positions are known beforehand.
  const place = scratch();
  const coxswain = await open({ store: database.url, cwd: place.folder });
  const anna = agent(coxswain, 'anna');
  await anna('acquire_lock', { file_path: 'src/a.ts' });
  const from = await write(coxswain, 'anna', claimed('FEAT-1', 'design→code', 'anna'));
  await write(coxswain, 'anna', converged('FEAT-1', 'design_code', 'anna'));
  await anna('release_lock', { file_path: 'src/a.ts' });
  const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: database.url, AGENT_ID: 'me' });
  const said = async (...words: string[]) => {
    written.out = '';
    assert.equal(await main(words, terminal), 0, written.err);
    return written.out;
  };
  assert.match(
    await said('log', '--since', '1h', '--kind', 'claim'),
    /anna works on design→code on FEAT-1 as full_stack\n.*anna finished design_code on FEAT-1 as full_stack\n$/,
  );
  const diff = await said('diff', '--from', `#${from}`);
  assert.match(diff, /claim FEAT-1 design→code {2}held by anna \(full_stack\) → converged by anna/);
  assert.match(diff, /lock src\/a\.ts {2}held by anna → free/);
  const past = JSON.parse(await said('replay', '--at', `#${from}`, '--json')) as JsonObject;
  assert.equal((past.locks as JsonObject[]).length, 1);
  const now = JSON.parse(await said('replay', '--at', 'now', '--json')) as JsonObject;
  assert.deepEqual([now.locks, now.claims], [[], []]);
  await coxswain.close();
  place[Symbol.dispose]();
});

test('[AUD-5] log: every filter, and what is no event only with --all', async () => {
  await using told = await story();
  const { lines, marks } = told;
  const all = await lines();
  assert.ok(types(all).includes('lock_acquired') && !types(all).includes('refused'));
  assert.deepEqual(types(await lines('--feature', 'FEAT-1')), ['edge_started', 'edge_converged']);
  assert.deepEqual(types(await lines('--edge', 'Design -> Code')), ['edge_started', 'edge_converged']);
  assert.deepEqual(types(await lines('--edge', 'intent*')), ['edge_started']);
  assert.deepEqual(types(await lines('--type', 'lock_*', '--agent', 'anna')), [
    'lock_acquired',
    'lock_released',
  ]);
  assert.deepEqual(types(await lines('--operation', 'submit_*', '--kind', 'task')), ['task_submitted']);
  assert.deepEqual(types(await lines('--id', 'src/**')), ['lock_acquired', 'lock_released']);
  assert.deepEqual(types(await lines('--kind', 'claim', '--limit', '1')), ['edge_converged']);
  assert.deepEqual(types(await lines('--since', iso(10), '--until', iso(10))), [
    'edge_started',
    'edge_started',
  ]);
  const between = await lines('--since', `#${marks.started}`, '--until', `#${marks.converged}`);
  assert.deepEqual(
    between.map(({ position }) => position),
    [marks.started + 1, marks.converged],
  );
  const [refused] = await lines('--all', '--type', 'refused');
  assert.deepEqual(
    [refused?.agent_id, refused?.operation, refused?.kind],
    ['bert', 'acquire_lock', 'operation'],
  );
  assert.deepEqual(await lines('--agent', 'nobody'), []);
  const asAnna = await told.cox('--agent', 'nobody', 'log', '--output', 'jsonl');
  assert.equal(asAnna.out.trim().split('\n').length, all.length, 'before the command it says who asks');
  const whole = await told.json('log', '--kind', 'claim');
  assert.deepEqual(
    [whole.success, types(whole.events as JsonObject[])],
    [true, types(await lines('--kind', 'claim'))],
  );
});

test('[AUD-5] log as JSON lines: the flat record that other readers know, without secrets', async () => {
  await using told = await story();
  const [started] = await told.lines('--type', 'edge_started');
  assert.deepEqual(Object.keys(started ?? {}), [
    'event_type',
    'timestamp',
    'project',
    'feature',
    'edge',
    'agent_id',
    'instance_id',
    'data',
    'position',
    'kind',
    'id',
    'operation',
    'agent_type',
  ]);
  const { data, ...flat } = started ?? {};
  assert.equal((data as JsonObject).granted_to, 'anna');
  assert.deepEqual(
    [flat.timestamp, flat.feature, flat.edge, flat.instance_id],
    [iso(10), 'FEAT-1', 'design→code', 'session-anna'],
  );
  assert.equal((await told.lines('--type', 'session_registered')).length, 1);
  const everything = await told.cox('log', '--output', 'jsonl', '--all');
  const states = await told.cox('replay', '--at', 'now', '--kind', '*', '--json');
  const created = await told.cox('diff', '--from', '#0', '--json');
  const changed = await told.cox('diff', '--from', `#${told.marks.locked}`, '--json');
  for (const { out } of [everything, states, created, changed]) {
    assert.ok(out.includes('session_registered') || out.includes('capabilities'));
    assert.doesNotMatch(out, /token_hash|secret_hash/);
  }
});

test('[AUD-5] for a person: lines, no escape of anybody, nothing cut in a pipe', async () => {
  await using told = await story();
  const { marks } = told;
  const { out } = await told.cox('log', '--since', '#0');
  const [first = ''] = out.split('\n');
  assert.match(first, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}#1 +\S/);
  assert.match(out, /#\d+ +anna locked src\/a\.ts: tidy {2}\[31mup \n/);
  assert.match(out, /anna works on design→code on FEAT-1 as full_stack\n/);
  const outputs = [
    await told.cox('log', '--all'),
    await told.cox('replay', '--at', `#${marks.locked}`),
    await told.cox('replay', '--at', `#${marks.locked}`, '--kind', '*'),
    await told.cox('diff', '--from', '#0', '--kind', '*'),
    await told.cox('diff', '--from', '#0', '--json'),
    await told.cox('log', '--output', 'jsonl'),
  ];
  for (const { code, out: text } of outputs) {
    assert.equal(code, 0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are what must not be there.
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  }
  const diff = await told.cox('diff', '--from', `#${marks.locked}`, '--to', iso(25));
  assert.match(diff.out, /^From 2026-01-01 /);
  assert.match(diff.out, /\ncreated\n(.*\n)* {2}claim OTHER-2 intent→requirements {2}held by bert/);
  assert.match(diff.out, /\nchanged\n(.*\n)* {2}lock src\/a\.ts {2}held by anna → free/);
  const lapse = await told.cox('diff', '--from', iso(20), '--to', iso(25), '--kind', 'lock');
  assert.match(
    lapse.out,
    /by time alone\n {2}lock docs\/b\.md {2}held by bert → ran out, held by bert until then/,
  );
  const same = await told.cox('diff', '--from', `#${marks.end}`, '--to', `#${marks.end}`);
  assert.match(same.out, /Nothing has changed\./);
});

test('[AUD-5] what can’t be meant is refused with what can', async () => {
  await using told = await story();
  const wrong: [string[], RegExp][] = [
    [['replay', '--at', 'yesterday'], /at: expected a time such as .*#123/],
    [['replay', '--at', '5'], /at: expected/],
    [['replay', '--at', '#100000'], /which ends at #\d+/],
    [['replay', '--kind', 'lock'], /at: expected a moment/],
    [['replay', '--at', 'now', '--limit', 'few'], /limit: expected/],
    [['log', '--since', '12:00'], /since: expected/],
    [['log', '--limit', '-1'], /limit: expected/],
    [['log', '--output', 'xml'], /--output/],
    [['log', '--follow', '--until', 'now'], /until: expected/],
    [['log', '--follow', '--json'], /output: expected jsonl/],
    [['stats', '--since', '#1'], /since: expected a time/],
    [['stats', '--since', 'noon'], /since: expected/],
    [['audit', 'prune', '--before', '#1'], /before: expected/],
    [['diff'], /from: expected/],
    [['diff', '--from', '1h', '--to', '2h'], /from: expected a moment before --to/],
    [['diff', '--from', '#5', '--to', '#2'], /before --to/],
    [['diff', '--from', '#5', '--to', iso(-1)], /before --to/],
  ];
  for (const [words, expected] of wrong) {
    const { code, out, err } = await told.cox(...words);
    assert.equal(code, 2, words.join(' '));
    assert.match(err + out, expected);
  }
});

test('[AUD-5] [AUD-6] a named store that is not there is no empty log: refused, and nothing is made', async () => {
  using place = scratch();
  const lookBack = [
    ['audit', 'verify'],
    ['replay'],
    ['replay', '--at', 'now'],
    ['diff', '--from', '1h'],
    ['log'],
    ['audit', 'seal'],
    ['audit', 'prune', '--before', '1d'],
    ['status'],
    ['stats'],
    ['board'],
    ['lock', 'check'],
    ['claim', 'status'],
    ['start'],
    ['approve', 'x'],
  ];
  for (const store of ['sqlite:typo/x.db', 'files:typo', `sqlite:${join(place.folder, 'typo.db')}`])
    for (const [words, env, field] of lookBack.flatMap(
      (command): [string[], Record<string, string>, string][] => [
        [[...command, '--store', store], {}, 'store'],
        [command, { COX_STORE: store }, 'COX_STORE'],
      ],
    )) {
      const { terminal, written } = fakeTerminal(place.folder, env);
      const code = await main([...words, '--json'], terminal);
      const { error, field: named } = JSON.parse(written.out) as JsonObject;
      assert.deepEqual([code, error, named], [2, 'invalid_input', field], words.join(' '));
    }
  assert.deepEqual(readdirSync(place.folder), []);
  const { terminal } = fakeTerminal(place.folder);
  assert.equal(await main(['audit', 'verify', '--json'], terminal), 0, 'the default one may be yet to come');
});

test('[CLI-1] a command that writes to a named store that is not there says that it has made one, once', async () => {
  using place = scratch();
  const acquire = async (file: string) => {
    const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: place.store });
    assert.equal(await main(['lock', 'acquire', file], terminal), 0);
    return written.err;
  };
  assert.match(
    await acquire('a.ts'),
    /^coxswain: there was no store at .*cox\.db; this command has made one\.\n/,
  );
  assert.equal(await acquire('b.ts'), '');
});

test('[AUD-6] audit verify says in a sentence what it covers and what it does not', async () => {
  using place = scratch();
  const run = async (...words: string[]) => {
    const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: place.store });
    assert.equal(await main([...words, '--json'], terminal), 0, words.join(' '));
    return JSON.parse(written.out) as JsonObject;
  };
  await run('lock', 'acquire', 'a.ts');
  assert.match(String((await run('audit', 'verify')).message), /^Nothing is sealed yet: .*`cox audit seal`/);
  await run('audit', 'seal');
  assert.match(
    String((await run('audit', 'verify')).message),
    /^All \d+ rows are sealed, and none was changed/,
  );
  await run('lock', 'acquire', 'b.ts');
  assert.match(
    String((await run('audit', 'verify')).message),
    /sealed rows: none was changed.*not sealed yet/,
  );
});
