import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { lastLabelledBy, rowsForward } from '../../src/ledger/audit/read-forward.ts';
import { seal } from '../../src/ledger/audit/sealing.ts';
import { rowsOf } from '../../src/ledger/replay.ts';
import { stateAt } from '../../src/ledger/time-travel/travel.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';
import { main } from '../../src/transports/cli/main.ts';
import { fakeTerminal, scratch } from '../transports/support.ts';
import { all, claimed, converged, stateText, write } from './support.ts';

const START_MS = Date.UTC(2026, 0, 1, 12);
const HOUR_MS = 3_600_000;

/** Claims at these hours, in this order; the log is sealed where it says so. */
async function withHours(store: string, ...hours: (number | 'seal')[]): Promise<Coxswain> {
  let now_ms = START_MS;
  const clock: Clock = { ...systemClock, now_ms: () => now_ms };
  const coxswain = await open({ store, clock });
  for (const [index, hour] of hours.entries()) {
    if (hour === 'seal') {
      now_ms += 24 * HOUR_MS;
      await seal(coxswain.store, coxswain.project, clock, { all: true });
      continue;
    }
    now_ms = START_MS + hour * HOUR_MS;
    await write(coxswain, 'anna', claimed(`F-${index}`, 'design→code', 'anna', now_ms));
  }
  return coxswain;
}

const at = (hour: number) => START_MS + hour * HOUR_MS;

test('[AUD-5] sealed or not, and whatever clocks did: a moment reaches as far as without seals', async () => {
  const histories: (number | 'seal')[][] = [
    [0, 1, 'seal', 2, 3, 'seal', 4, 5, 'seal'],
    [0, 1, 'seal', 2, 3, 'seal', 4, 5],
    [0, 9, 'seal', 1, 2, 'seal', 8, 'seal', 3],
    [5, 6, 'seal', 1, 'seal', 7, 8, 'seal'],
    [0, 1, 2],
  ];
  for (const hours of histories) {
    const { store, project, close } = await withHours('memory:', ...hours);
    for (let hour = -1; hour < 10; hour += 0.5) {
      const whole = await stateAt(rowsOf(store, project), entities, { at_ms: at(hour) });
      const last = await lastLabelledBy(store, project, at(hour));
      const short = await stateAt(rowsForward(store, project, { last }), entities, { at_ms: at(hour) });
      assert.equal(short.position, whole.position, `${hours} at ${hour}`);
      assert.equal(stateText(short.state), stateText(whole.state));
      const span = { since_ms: at(hour), until_ms: at(hour + 2) };
      const isWithin = ({ at_ms }: { at_ms: number }) => at_ms >= span.since_ms && at_ms <= span.until_ms;
      const expected = (await all(rowsOf(store, project))).filter(isWithin);
      const found = (await all(rowsForward(store, project, span))).filter(isWithin);
      assert.deepEqual(found, expected, `${hours} within ${hour}`);
    }
    await close();
  }
});

test('[AUD-5] segments whose times lie outside are not read', async () => {
  const { store, project, close } = await withHours('memory:', 0, 1, 'seal', 2, 3, 'seal', 4, 5, 'seal', 6);
  const hours = async (span: Parameters<typeof rowsForward>[2]) =>
    (await all(rowsForward(store, project, span))).map(({ at_ms }) => (at_ms - START_MS) / HOUR_MS);
  assert.deepEqual(
    await hours({ since_ms: at(2), until_ms: at(2) }),
    [2, 3, 6],
    'the unsealed end always is',
  );
  assert.deepEqual(await hours({ after: 3, last: 5 }), [3, 4]);
  assert.equal(await lastLabelledBy(store, project, at(2.5)), 4);
  assert.equal(await lastLabelledBy(store, project, at(-1)), 0);
  await close();
});

test('[AUD-5] [AUD-7] what was archived: log says so, replay and diff ask for the file, and all three read it', async () => {
  using place = scratch();
  const coxswain = await withHours(place.store, 0, 1, 'seal');
  await write(coxswain, 'anna', converged('F-0', 'design→code', 'anna'));
  await coxswain.close();
  const cox = async (...words: string[]) => {
    const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: place.store, AGENT_ID: 'me' });
    return { code: await main(words, terminal), ...written };
  };
  const before = await cox('log', '--output', 'jsonl');
  const moved = await cox('audit', 'archive', '--before', '2026-01-02', '--to', 'old.jsonl', '--json');
  assert.equal((JSON.parse(moved.out) as JsonObject).archived_rows, 2, moved.out);
  const left = await cox('log');
  assert.match(left.err, /older rows were moved to old\.jsonl; --archive FILE shows them/);
  assert.doesNotMatch(left.out, /works on/);
  for (const words of [['replay'], ['replay', '--at', 'now'], ['diff', '--from', '#0']])
    assert.match((await cox(...words)).err, /moved to old\.jsonl; give it with --archive/, words.join(' '));
  const archive = ['--archive', 'old.jsonl'];
  assert.equal((await cox('log', '--output', 'jsonl', ...archive)).out, before.out);
  assert.match(
    (await cox('log', ...archive)).out,
    /anna works on design→code on F-0 .*\n.*anna works on design→code on F-1 .*\n.*anna finished design→code on F-0/,
  );
  const behind = await cox('log', '--since', '#1', ...archive);
  assert.match(behind.out, /^\S+ \S+ +#2 +anna works on design→code on F-1/);
  const then = await cox('replay', '--at', '#1', '--kind', 'claim', '--json', ...archive);
  assert.equal((JSON.parse(then.out) as { records: JsonObject[] }).records.length, 1);
  const diff = await cox('diff', '--from', '#1', ...archive);
  assert.match(diff.out, /F-0 design→code {2}held by anna \(full_stack\) → converged by anna/);
  rmSync(join(place.folder, 'old.jsonl'));
  assert.equal((await cox('log', ...archive)).code, 2);
});
