import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../../src/kernel/clock.ts';
import { Stamps } from '../../src/stores/dynamodb/stamps.ts';
import { StoreTime } from '../../src/stores/dynamodb/time.ts';

const START_MS = 1_790_000_000_000;
const SECOND_MS = 1000;
/** Twice as much as quartz is off by; half of what the store allows for. */
const DRIFT_MAX = 0.0001;
/** Doubles hold a time of today to a quarter of a microsecond. */
const ROUNDING_MS = 0.01;

/** A server with a clock of its own and a client without one: what passes between them is under control. */
class Line {
  /** The client's monotonic clock. */
  elapsed = 0;
  /** What this machine takes for the time. */
  wall_ms = 0;
  offset_ms: number;
  readonly drift: number;
  readonly time: StoreTime;
  readonly clock: Clock;

  constructor(offset_ms: number, drift = 0) {
    this.offset_ms = offset_ms;
    this.drift = drift;
    this.clock = { now_ms: () => this.wall_ms, elapsed_ms: () => this.elapsed, sleep: async () => {} };
    this.time = new StoreTime(this.clock);
  }

  truth_ms(): number {
    return this.elapsed * (1 + this.drift) + this.offset_ms;
  }

  /** One request: so long to the server, so long back; the header is cut to the second. */
  ask(there_ms: number, back_ms: number): void {
    const sent_ms = this.elapsed;
    this.elapsed += there_ms;
    const date_ms = Math.floor(this.truth_ms() / SECOND_MS) * SECOND_MS;
    this.elapsed += back_ms;
    this.time.learn({ sent_ms, received_ms: this.elapsed, date_ms });
  }

  width_ms(): number {
    return this.time.latest_ms() - this.time.earliest_ms();
  }

  assertHolds(): void {
    const truth_ms = this.truth_ms();
    const [earliest_ms, latest_ms] = [this.time.earliest_ms(), this.time.latest_ms()];
    assert.ok(earliest_ms <= truth_ms + ROUNDING_MS, `earliest ${earliest_ms} is after ${truth_ms}`);
    assert.ok(latest_ms >= truth_ms - ROUNDING_MS, `latest ${latest_ms} is before ${truth_ms}`);
  }
}

const latency = fc.double({ min: 0, max: 2000, noNaN: true });
const pause = fc.oneof(
  fc.double({ min: 0, max: 3000, noNaN: true }),
  fc.double({ min: 0, max: 86_400_000, noNaN: true }),
);
const answers = fc.array(fc.record({ there_ms: latency, back_ms: latency, pause_ms: pause }), {
  minLength: 1,
  maxLength: 40,
});
const offset = fc.double({ min: START_MS, max: START_MS + 10_000, noNaN: true });
const drift = fc.double({ min: -DRIFT_MAX, max: DRIFT_MAX, noNaN: true });

test('the true time is never outside the bounds, whatever the offset, the latencies, the cuts and the drift', () => {
  const property = fc.property(offset, drift, answers, (offset_ms, drifts, all) => {
    const line = new Line(offset_ms, drifts);
    for (const { there_ms, back_ms, pause_ms } of all) {
      line.ask(there_ms, back_ms);
      line.assertHolds();
      line.elapsed += pause_ms;
      line.assertHolds();
    }
  });
  fc.assert(property, { numRuns: 500 });
});

test('after many answers the time is known to about the shortest latency, however the seconds are cut', () => {
  const property = fc.property(offset, fc.integer({ min: 3, max: 60 }), (offset_ms, latency_ms) => {
    const line = new Line(offset_ms);
    for (let asked = 0; asked < 400; asked += 1) {
      line.ask(latency_ms / 2, latency_ms / 2);
      // The golden part of a second: the cuts fall everywhere.
      line.elapsed += 618.034 - latency_ms;
    }
    line.assertHolds();
    assert.ok(line.width_ms() < latency_ms + 60, `still ${line.width_ms()} ms at ${latency_ms} ms latency`);
  });
  fc.assert(property, { numRuns: 50 });
});

test('one answer bounds it by a second and the time the answer took', () => {
  const line = new Line(START_MS + 250);
  assert.equal(line.time.earliest_ms(), Number.NEGATIVE_INFINITY);
  assert.equal(line.time.latest_ms(), Number.POSITIVE_INFINITY);
  line.ask(10, 30);
  assert.ok(line.width_ms() >= 1040 && line.width_ms() <= 1043, `${line.width_ms()}`);
});

test('bounds that were learnt long ago grow apart, and the next answer draws them together', () => {
  const line = new Line(START_MS);
  line.ask(1, 1);
  const [earliest_ms, width_ms] = [line.time.earliest_ms(), line.width_ms()];
  line.elapsed += 10_000_000;
  const grown_ms = line.width_ms();
  assert.ok(grown_ms >= width_ms + 3000, `${grown_ms} after nearly three hours`);
  assert.ok(line.time.earliest_ms() > earliest_ms + 9_990_000, 'and it goes on meanwhile');
  line.ask(1, 1);
  assert.ok(line.width_ms() <= 1004, `${line.width_ms()}`);
  line.assertHolds();
});

test('a clock of this machine that is set changes nothing: only the monotonic one is looked at', () => {
  const line = new Line(START_MS);
  let wall_ms = 0;
  const clock: Clock = { ...line.clock, now_ms: () => wall_ms };
  const time = new StoreTime(clock);
  time.learn({ sent_ms: 0, received_ms: 5, date_ms: START_MS });
  line.elapsed = 5;
  const before = [time.earliest_ms(), time.latest_ms()];
  wall_ms = START_MS + 3_600_000;
  assert.deepEqual([time.earliest_ms(), time.latest_ms()], before);
});

for (const jump_ms of [3_600_000, 1500, 300, -1500, -3_600_000])
  test(`a jump of ${jump_ms} ms (the machine slept, the server's clock was set) is found out by what follows`, () => {
    const line = new Line(START_MS);
    const ask = () => {
      line.ask(3, 3);
      line.elapsed += 173.7;
    };
    for (let asked = 0; asked < 50; asked += 1) ask();
    line.assertHolds();
    line.offset_ms += jump_ms;
    // A whole second's worth of cuts: one of them contradicts what was known.
    for (let asked = 0; asked < 50; asked += 1) ask();
    line.assertHolds();
    // By more than a second the very first answer says so.
    line.offset_ms += Math.sign(jump_ms) * 2500;
    line.ask(3, 3);
    line.assertHolds();
  });

test('a clock that is set right is the best guess of a process that has seen one answer; a wrong one is kept within the bounds', () => {
  const line = new Line(START_MS + 700);
  line.ask(3, 4);
  assert.ok(line.width_ms() > 900, 'a second is all that one answer says');
  line.wall_ms = line.truth_ms();
  assert.equal(line.time.likely_ms(), line.truth_ms());
  line.wall_ms = line.truth_ms() - 3_600_000;
  assert.equal(line.time.likely_ms(), line.time.earliest_ms());
  line.wall_ms = line.truth_ms() + 3_600_000;
  assert.equal(line.time.likely_ms(), line.time.latest_ms());
});

test('all who ask the same servers by the same clock learn together; others do not', () => {
  const { clock } = new Line(START_MS);
  const time = StoreTime.of(clock, 'eu-central-1');
  assert.equal(StoreTime.of(clock, 'eu-central-1'), time);
  assert.notEqual(StoreTime.of(clock, 'eu-west-1'), time);
  assert.notEqual(StoreTime.of(new Line(START_MS).clock, 'eu-central-1'), time);
});

test('stamps follow the earliest time and are later than everything seen, from whoever’s clock', () => {
  const property = fc.property(
    fc.array(fc.oneof(fc.nat(5000), fc.constant('next' as const)), { maxLength: 60 }),
    fc.array(fc.double({ min: 0, max: 3, noNaN: true }), { minLength: 60, maxLength: 60 }),
    (steps, pauses) => {
      const line = new Line(START_MS);
      line.ask(1, 1);
      const stamps = new Stamps(line.time);
      let seen = 0;
      for (const [at, step] of steps.entries()) {
        line.elapsed += pauses[at] ?? 0;
        if (step === 'next') {
          const earliest = line.time.earliest_ms() * 1024;
          const stamp = stamps.next();
          assert.ok(stamp > seen && stamp >= earliest && Number.isSafeInteger(stamp));
          seen = stamp;
        } else {
          // Another process whose stamps run up to five seconds ahead, or behind.
          const other = (START_MS - 2500 + step) * 1024;
          stamps.saw(other);
          seen = Math.max(seen, other);
        }
      }
    },
  );
  fc.assert(property, { numRuns: 300 });
});

test('1024 commits of a millisecond have stamps of it; the next ones run ahead until the time has caught up', () => {
  const line = new Line(START_MS);
  line.ask(1, 1);
  const stamps = new Stamps(line.time);
  const base = line.time.earliest_ms() * 1024;
  const all = Array.from({ length: 1500 }, () => stamps.next());
  assert.equal(all[0], base);
  assert.equal(all[1023], base + 1023);
  assert.equal(all[1499], base + 1499);
  line.elapsed += 10;
  assert.equal(stamps.next(), line.time.earliest_ms() * 1024);
  assert.ok(String(base).length <= 16, 'sorted as text of 16 digits');
});
