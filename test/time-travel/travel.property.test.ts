import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { open } from '../../src/index.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Moment } from '../../src/kernel/moment.ts';
import { keyText } from '../../src/ledger/entity.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { apply, canonical, rowsOf, type State } from '../../src/ledger/replay.ts';
import { fieldChanges, pointerNames } from '../../src/ledger/time-travel/difference.ts';
import { type Between, changesBetween, stateAt } from '../../src/ledger/time-travel/travel.ts';
import { entities } from '../../src/runtime/entities.ts';
import { agent } from '../conformance/engine.ts';
import { all, claimed, converged, liveState, rowsFrom, stateText, write } from './support.ts';

const START_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

const step = fc.record({
  who: fc.constantFrom('anna', 'bert', 'cleo'),
  what: fc.constantFrom('lock', 'unlock', 'submit', 'get', 'finish', 'letter', 'claim', 'converge', 'look'),
  which: fc.constantFrom('src/a.ts', 'src/b.ts', 'docs'),
  /** Clocks go on, and now and then they jump, also back. */
  later_ms: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 5000 }) },
    { weight: 1, arbitrary: fc.integer({ min: -3 * HOUR_MS, max: 3 * HOUR_MS }) },
  ),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Lived {
  readonly rows: LogEntry[];
  /** What the store answered when its log ended at a position. */
  readonly seen: Map<number, string>;
}

async function live(steps: readonly Step[]): Promise<Lived> {
  let now_ms = START_MS;
  const clock: Clock = { ...systemClock, now_ms: () => now_ms };
  const coxswain = await open({ store: 'memory:', clock });
  const seen = new Map<number, string>();
  const tasks = new Map<string, string>();
  for (const { who, what, which, later_ms } of steps) {
    now_ms += later_ms;
    const call = agent(coxswain, who);
    if (what === 'lock') await call('acquire_lock', { file_path: which, ttl_minutes: 5 });
    else if (what === 'unlock') await call('release_lock', { file_path: which });
    else if (what === 'submit') await call('submit_work', { task_type: 'test', task_description: which });
    else if (what === 'get') tasks.set(who, String((await call('get_work', {})).task_id));
    else if (what === 'finish')
      await call('complete_work', {
        task_id: tasks.get(who) ?? 'none',
        success: true,
        result: { 'a/b.c~d': which },
      });
    else if (what === 'letter') await call('send_message', { to: 'anna', body: which });
    else if (what === 'claim') await write(coxswain, who, claimed(which, 'design→code', who, now_ms));
    else if (what === 'converge') await write(coxswain, who, converged(which, 'design_code', who));
    else await call('check_locks', { file_paths: [which] });
    const { safe } = await coxswain.store.read(coxswain.project, 0, 1);
    seen.set(safe, stateText(await liveState(coxswain)));
  }
  const rows = await all(rowsOf(coxswain.store, coxswain.project));
  await coxswain.close();
  return { rows, seen };
}

/** The plain way: from the first row to that one. */
function folded(rows: readonly LogEntry[], last: number): State {
  const state: State = new Map();
  for (const row of rows) if (row.position <= last) apply(entities, state, row);
  return state;
}

/** The last row with an event that is labelled with the moment or an earlier one. */
function lastBy(rows: readonly LogEntry[], at_ms: number): number {
  return rows.findLast((row) => row.events.length > 0 && row.at_ms <= at_ms)?.position ?? 0;
}

/** What a reader makes of a state and a difference. */
function applied(state: State, { changes }: Between): State {
  const next = new Map(state);
  for (const { before, after } of changes) {
    if (after === undefined) {
      assert.ok(before !== undefined);
      next.delete(keyText(before));
    } else if (before === undefined) next.set(keyText(after), after);
    else {
      assert.deepEqual(next.get(keyText(after)), before);
      const patched = patch(before.state, fieldChanges(before.state, after.state));
      next.set(keyText(after), { ...before, version: after.version, state: patched });
    }
  }
  return next;
}

function patch(before: JsonObject, changes: ReturnType<typeof fieldChanges>): JsonObject {
  const state = JSON.parse(JSON.stringify(before)) as JsonObject;
  for (const { path, to } of changes) {
    const names = pointerNames(path);
    const last = names.pop() ?? '';
    const holder = names.reduce((inner, name) => inner[name] as JsonObject, state);
    if (to === undefined) delete holder[last];
    // Assigned, `__proto__` would be no field but the prototype.
    else
      Object.defineProperty(holder, last, {
        value: to,
        writable: true,
        enumerable: true,
        configurable: true,
      });
  }
  return state;
}

test('[AUD-5] the state at every position is what the store answered then, and at every time a state that was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const { rows, seen } = await live(steps);
      for (const position of [0, ...rows.map((row) => row.position)]) {
        const past = await stateAt(rowsFrom(rows), entities, { position });
        assert.equal(past.position, position);
        assert.equal(stateText(past.state), stateText(folded(rows, position)));
        if (seen.has(position)) assert.equal(stateText(past.state), seen.get(position), `at ${position}`);
      }
      for (const at_ms of new Set(rows.flatMap((row) => [row.at_ms - 1, row.at_ms]))) {
        const past = await stateAt(rowsFrom(rows), entities, { at_ms });
        assert.equal(past.position, lastBy(rows, at_ms));
        assert.equal(stateText(past.state), stateText(folded(rows, past.position)));
      }
    }),
    { numRuns: 40 },
  );
});

test('[AUD-5] the difference between two moments makes the later state out of the earlier one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 25 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(), fc.boolean()), { minLength: 5, maxLength: 15 }),
      async (steps, pairs) => {
        const { rows } = await live(steps);
        const momentAt = (index: number, byTime: boolean): Moment => {
          const row = rows[index % rows.length];
          assert.ok(row !== undefined);
          return byTime ? { at_ms: row.at_ms } : { position: row.position };
        };
        for (const [a, b, byTime] of pairs) {
          const moments = [momentAt(a, byTime), momentAt(b, byTime)];
          const pasts = await Promise.all(moments.map((each) => stateAt(rowsFrom(rows), entities, each)));
          const [one, two] = pasts[0] && pasts[1] && pasts[0].position > pasts[1].position ? [1, 0] : [0, 1];
          const [from, to] = [moments[one], moments[two]];
          assert.ok(from !== undefined && to !== undefined);
          const between = await changesBetween(rowsFrom(rows), entities, { from, to });
          const earlier = pasts[one]?.state ?? new Map();
          const later = pasts[two]?.state ?? new Map();
          assert.equal(stateText(applied(earlier, between)), stateText(later));
          assert.equal(stateText(between.state), stateText(later));
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('[AUD-5] fields: any two JSON objects, whatever their names are', () => {
  const object = fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom('a/b', 'a~1b', '~', '', 'constructor', '__proto__', 'a.b')),
    fc.jsonValue({ maxDepth: 3 }),
    { noNullPrototype: true },
  ) as fc.Arbitrary<JsonObject>;
  fc.assert(
    fc.property(object, object, (before, after) => {
      assert.equal(
        canonical(patch(before, fieldChanges(before, after))),
        canonical(JSON.parse(JSON.stringify(after))),
      );
      assert.deepEqual(fieldChanges(after, after), []);
    }),
  );
});
