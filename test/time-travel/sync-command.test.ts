import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { seal } from '../../src/ledger/audit/sealing.ts';
import { main } from '../../src/transports/cli/main.ts';
import { agent } from '../conformance/engine.ts';
import { fakeTerminal, scratch } from '../transports/support.ts';
import { claimed, converged, write } from './support.ts';

function coxIn(folder: string) {
  return async (...words: string[]) => {
    const { terminal, written } = fakeTerminal(folder);
    return { code: await main(words, { ...terminal, watched: true }), ...written };
  };
}

test('[AUD-5] cox sync: what would be copied, what was, and that the folds agree', async () => {
  using place = scratch();
  const cox = coxIn(place.folder);
  const to = `files:${join(place.folder, '.ai-workspace')}`;
  const from = await open({ store: place.store, cwd: place.folder });
  await agent(from, 'anna')('acquire_lock', { file_path: 'a.ts' });
  await agent(from, 'bert')('submit_work', { task_type: 't', task_description: 'd' });
  await from.close();
  const dry = await cox('sync', place.store, to, '--dry-run', '--json');
  const rows = (JSON.parse(dry.out) as JsonObject).rows as number;
  assert.deepEqual(JSON.parse(dry.out), {
    ...{ success: true, dry_run: true, project: 'default' },
    ...{ rows, would_copy: rows, already_there: 0 },
  });
  const told = await cox('sync', place.store, to);
  assert.equal(told.code, 0, told.err);
  assert.match(told.out, /copied +\d+\n.*\n.*\nfolds +the folds agree\n/);
  const again = await cox('sync', place.store, to, '--json');
  const { copied, already_there } = JSON.parse(again.out) as JsonObject;
  assert.deepEqual([copied, already_there], [0, rows]);
  const other = await cox('sync', place.store, to, '--project', 'other', '--json');
  assert.equal((JSON.parse(other.out) as JsonObject).rows, 0, 'each project has a log of its own');
});

test('[AUD-5] cox sync: histories that contradict each other are told apart, exit 1, no escape of anybody', async () => {
  using place = scratch();
  const cox = coxIn(place.folder);
  const to = `sqlite:${join(place.folder, 'to.db')}`;
  for (const [store, who] of [
    [place.store, 'anna\u202e'],
    [to, 'bert\u001b[31m'],
  ] as const) {
    const coxswain = await open({ store, cwd: place.folder });
    await write(coxswain, who, claimed('F-1', 'design→code', who));
    await coxswain.close();
  }
  const { code, out, err } = await cox('sync', place.store, to);
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /histories_diverged: Each of the two stores has gone on by itself with one entity/);
  assert.match(err, /claim +F-1#design_code +anna +write_events .*bert \[31m +write_events/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are what must not be there.
  assert.doesNotMatch(err.replace(/\r/g, ''), /[\u0000-\u0009\u000b-\u001f\u202e]/);
});

test('[AUD-5] cox sync: what can’t be meant is refused and makes no file', async () => {
  using place = scratch();
  const cox = coxIn(place.folder);
  const typo = join(place.folder, 'typo.db');
  const wrong: [string[], RegExp][] = [
    [['sync', `sqlite:${typo}`, place.store], /from: expected a store that is there already/],
    [['sync', 'memory:', place.store, '--store', place.store], /store: expected nothing/],
    [['sync', place.store], /to/],
    [['sync', 'memory:', 'sqlight:x'], /Unknown store/],
  ];
  for (const [words, expected] of wrong) {
    const { code, err } = await cox(...words);
    assert.ok(code === 2 || code === 4, `${code}: ${err}`);
    assert.match(err, expected);
  }
  assert.ok(!existsSync(typo));
});

test('[AUD-5] [AUD-7] cox sync: a part of the log that was archived is asked for, on either side', async () => {
  using place = scratch();
  const cox = coxIn(place.folder);
  const HOUR_MS = 3_600_000;
  let now_ms = Date.UTC(2026, 0, 1, 12);
  const clock: Clock = { ...systemClock, now_ms: () => now_ms };
  const from = await open({ store: place.store, cwd: place.folder, clock });
  await write(from, 'anna', claimed('F-0', 'design→code', 'anna', now_ms));
  now_ms += 24 * HOUR_MS;
  await seal(from.store, from.project, clock, { all: true });
  await write(from, 'anna', converged('F-0', 'design→code', 'anna'));
  await from.close();
  const to = `sqlite:${join(place.folder, 'to.db')}`;
  const archive = async (store: string, before: string, name: string) => {
    const { code } = await cox('audit', 'archive', '--store', store, '--before', before, '--to', name);
    assert.ok(code === 0 && existsSync(join(place.folder, name)), name);
  };
  await archive(place.store, '2026-01-02', 'old.jsonl');
  const refused = await cox('sync', place.store, to);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /moved to old\.jsonl; give it with --archive/);
  const given = await cox('sync', place.store, to, '--archive', 'old.jsonl', '--json');
  assert.deepEqual((JSON.parse(given.out) as JsonObject).copied, 2, given.out);
  assert.equal((await cox('replay', '--store', to)).code, 0);
  await archive(to, '2026-01-04', 'copy.jsonl');
  const half = await cox('sync', place.store, to, '--archive', 'old.jsonl');
  assert.match(half.err, /moved to copy\.jsonl/);
  const both = ['--archive', 'old.jsonl', 'copy.jsonl', '--json'];
  const again = await cox('sync', place.store, to, ...both);
  const { copied, folds } = JSON.parse(again.out) as JsonObject;
  assert.deepEqual([copied, folds], [0, 'the folds agree'], again.out);
});
