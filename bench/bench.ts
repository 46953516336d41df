/** What a goal needs to run, and what it hands back. */
import type { Cleanup } from './cleanup.ts';
import { type Contender, compare, type RoundOptions, ratios, type Series } from './harness.ts';
import type { Progress } from './progress.ts';
import type { PostgresServer, RedisServer } from './servers.ts';
import { median, type Spread } from './statistics.ts';

export interface Bench extends RoundOptions {
  /** Peers and limits of the machine alone. */
  baselines_only: boolean;
  p7_tasks: number;
  p7_locks: number;
  p8_operations: number;
  /** Set by a signal: what fails from then on fails because it is being cleaned up. */
  interrupted: boolean;
  progress: Progress;
  cleanup: Cleanup;
  redis(): Promise<RedisServer | undefined>;
  postgres(): Promise<PostgresServer>;
}

export interface Row {
  goal: string;
  what: string;
  ours: number | undefined;
  peer: number | undefined;
  peer_name: string;
  unit: string;
  ratio: Spread | undefined;
  /** Without a bound the row is information, printed beside. */
  bound: Bound | undefined;
  note: string;
}

export interface Bound {
  floor: number;
  goal: number;
  lower_is_better: boolean;
}

export type Verdict = 'goal' | 'floor' | 'missed' | 'not measured' | 'beside';

export const atLeast = (floor: number, goal: number): Bound => ({ floor, goal, lower_is_better: false });
export const atMost = (floor: number, goal: number): Bound => ({ floor, goal, lower_is_better: true });

export function verdictOf(row: Row): Verdict {
  if (row.bound === undefined) return 'beside';
  const value = row.ratio?.median;
  if (value === undefined || Number.isNaN(value)) return 'not measured';
  const reaches = (limit: number): boolean => (row.bound?.lower_is_better ? value <= limit : value >= limit);
  if (reaches(row.bound.goal)) return 'goal';
  return reaches(row.bound.floor) ? 'floor' : 'missed';
}

export interface Match {
  goal: string;
  what: string;
  unit: string;
  /** Opens ours; not called when only the baselines are wanted. */
  ours: () => Promise<Contender>;
  peers: { open: () => Promise<Contender>; bound?: Bound }[];
}

function rowOf(match: Match, ours: Series | undefined, peer: Series, bound: Bound | undefined): Row {
  return {
    goal: match.goal,
    what: match.what,
    ours: ours === undefined ? undefined : median(ours.rates),
    peer: median(peer.rates),
    peer_name: peer.name,
    unit: match.unit,
    ratio: ours === undefined ? undefined : ratios(ours, peer),
    bound,
    note: '',
  };
}

/** Opens all, lets them take turns, closes all, and makes a row per peer. */
export async function play(bench: Bench, match: Match): Promise<Row[]> {
  const contenders: Contender[] = [];
  const open = async (opener: () => Promise<Contender>): Promise<void> => {
    const contender = await opener();
    contenders.push(contender);
  };
  let closed = false;
  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    for (const contender of contenders) await contender.close();
  };
  bench.cleanup.defer(close);
  try {
    if (!bench.baselines_only) await open(match.ours);
    for (const peer of match.peers) await open(peer.open);
    const series = await compare(contenders, bench, bench.progress, `${match.goal} ${match.what}`);
    const ours = bench.baselines_only ? undefined : series.shift();
    return series.map((peer, index) => rowOf(match, ours, peer, match.peers[index]?.bound));
  } finally {
    await close();
  }
}

export function missing(
  match: Pick<Match, 'goal' | 'what' | 'unit'>,
  peer: string,
  bound: Bound,
  why: string,
): Row {
  const figures = { ours: undefined, peer: undefined, ratio: undefined };
  return {
    ...figures,
    goal: match.goal,
    what: match.what,
    unit: match.unit,
    peer_name: peer,
    bound,
    note: why,
  };
}
