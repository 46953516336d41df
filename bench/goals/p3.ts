import { openGraphileWorker } from '../baselines/graphile-worker.ts';
import { openPgBoss } from '../baselines/pg-boss.ts';
import { atLeast, type Bench, play, type Row } from '../bench.ts';
import { type Contender, cycles } from '../harness.ts';

const CALLERS = 16;
const BATCH = 50;

/** Queue cycles on PostgreSQL, durable: as the peers come, and against what the best of them can be tuned to. */
export async function p3(bench: Bench): Promise<Row[]> {
  const server = await bench.postgres();
  // A database each: none vacuums or bloats another's tables.
  const ours = async (batch: number): Promise<Contender> => {
    const { openOurs, ourQueue } = await import('../ours.ts');
    return cycles(ourQueue(await openOurs(await server.createDatabase()), CALLERS, batch));
  };
  const graphile = async (best: boolean): Promise<Contender> =>
    cycles(await openGraphileWorker(await server.createDatabase(), { best, callers: CALLERS, batch: BATCH }));
  const boss = async (batch: number): Promise<Contender> =>
    cycles(await openPgBoss(await server.createDatabase(), CALLERS, batch));
  const unit = 'jobs/s';
  return [
    ...(await play(bench, {
      goal: 'P3',
      what: `queue cycle, PostgreSQL, ${CALLERS} callers`,
      unit,
      ours: () => ours(1),
      peers: [
        { open: () => graphile(false), bound: atLeast(2, 2.5) },
        { open: () => boss(1), bound: atLeast(2, 2.5) },
      ],
    })),
    ...(await play(bench, {
      goal: 'P3',
      what: `queue cycle, PostgreSQL, batches of ${BATCH}`,
      unit,
      ours: () => ours(BATCH),
      peers: [{ open: () => graphile(true), bound: atLeast(0.8, 1) }, { open: () => boss(BATCH) }],
    })),
  ];
}
