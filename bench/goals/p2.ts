import { join } from 'node:path';
import { openFdatasync } from '../baselines/fdatasync.ts';
import { atLeast, atMost, type Bench, type Row } from '../bench.ts';
import { type Crew, type CrewSample, openCrew } from '../crew.ts';
import { rateOf } from '../harness.ts';
import { median, spread } from '../statistics.ts';

const PROCESSES = 32;
const WAYS = ['seat', 'direct', 'busy handler'] as const;
type Way = (typeof WAYS)[number];

interface Round {
  readonly crews: Readonly<Record<Way, CrewSample>>;
  /** One process alone on the same file. */
  readonly alone: CrewSample;
  readonly fdatasyncs: number;
}

/** Embedded, many processes on one file: throughput, fairness and the wait of the unluckiest. */
export async function p2(bench: Bench): Promise<Row[]> {
  const dir = await bench.cleanup.tempDir('p2');
  const fdatasync = openFdatasync(dir);
  const crews = {} as Record<Way, Crew>;
  for (const way of WAYS) {
    bench.progress.say(`P2: starting ${PROCESSES} processes (${way})`);
    crews[way] = await openCrew(way, join(dir, `${way.replace(' ', '-')}.db`), PROCESSES);
    bench.cleanup.defer(() => crews[way].close());
  }
  const rounds: Round[] = [];
  for (let round = 0; round <= bench.rounds; round += 1) {
    // 32 processes share the work, so each needs long until its code is warm.
    const duration_ms = bench.seconds * 1000 * (round === 0 ? 8 : 1);
    const label = round === 0 ? 'warm-up' : `round ${round}/${bench.rounds}`;
    const of = (way: Way) => {
      bench.progress.say(`P2 ${PROCESSES} processes: ${label}, ${way}`);
      return crews[way].measure(duration_ms);
    };
    const measured: Round = {
      crews: { seat: await of('seat'), direct: await of('direct'), 'busy handler': await of('busy handler') },
      alone: await crews.seat.measure(duration_ms / 4, 1),
      fdatasyncs: rateOf(await fdatasync.measure(duration_ms)),
    };
    if (round > 0) rounds.push(measured);
  }
  await fdatasync.close();
  return rowsOf(rounds);
}

function rowsOf(rounds: readonly Round[]): Row[] {
  const middle = (value: (round: Round) => number): number => median(rounds.map(value));
  const rate = (way: Way) => (round: Round) => rateOf(round.crews[way]);
  const jain = (way: Way) => (round: Round) => round.crews[way].jain;
  const p99 = (way: Way) => (round: Round) => round.crews[way].p99_ms;
  const shared = { goal: 'P2', note: '' };
  const what = `${PROCESSES} processes on one file`;
  const throughput = (way: Way): Row => ({
    ...shared,
    what: `${what}, ${way}`,
    unit: 'commits/s',
    ours: middle(rate(way)),
    peer: middle((round) => round.fdatasyncs),
    peer_name: 'append 200 B + fdatasync, one at a time',
    ratio: spread(rounds.map((round) => rate(way)(round) / round.fdatasyncs)),
    bound: way === 'seat' ? atLeast(1.1, 1.5) : undefined,
  });
  const fairness = (way: Way): Row => ({
    ...shared,
    what: `${what}, ${way}: fairness`,
    unit: 'Jain',
    ours: middle(jain(way)),
    peer: middle(jain('busy handler')),
    peer_name: "SQLite's busy handler",
    ratio: spread(rounds.map(jain(way))),
    bound: way === 'seat' ? atLeast(0.95, 0.98) : undefined,
    note: `worst wait ${middle((round) => round.crews[way].worst_ms).toFixed(0)} ms; busy handler ${middle(
      (round) => round.crews['busy handler'].worst_ms,
    ).toFixed(0)} ms`,
  });
  const wait = (way: Way): Row => ({
    ...shared,
    what: `${what}, ${way}: p99 ÷ p50 alone`,
    unit: 'ms',
    ours: middle(p99(way)),
    peer: middle((round) => round.alone.p50_ms),
    peer_name: 'one process alone, p50',
    ratio: spread(rounds.map((round) => p99(way)(round) / round.alone.p50_ms)),
    bound: way === 'seat' ? atMost(150, 100) : undefined,
  });
  return [
    throughput('seat'),
    fairness('seat'),
    wait('seat'),
    throughput('direct'),
    fairness('direct'),
    wait('direct'),
    throughput('busy handler'),
    wait('busy handler'),
  ];
}
