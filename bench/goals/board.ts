import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { connect } from '../../src/index.ts';
import { openRawSqlite } from '../baselines/raw-sqlite.ts';
import { atMost, type Bench, type Bound, type Row } from '../bench.ts';
import { closeAll, connectAll, doPart, granted, member, PARTS, publish, setRoster } from '../board.ts';
import { type AgentNews, monotonic_ms, startAgents } from '../board-agents.ts';
import {
  alternate,
  type Contender,
  compare,
  type GrowthRound,
  growth,
  hammer,
  ratios,
  type Series,
  share,
  tail,
} from '../harness.ts';
import { median, percentile, spread } from '../statistics.ts';

const CALLERS = 16;
const COST_MAX = 10;
const OPEN_CLAIMS = 100;
const AGENTS = 20;
const LATENCY_MS_MAX = 50;
const SIZES = [10, 1000, 10_000] as const;
const GOAL = 'GoalDefined';
const PARKED = 'Parked';

async function newStore(bench: Bench): Promise<string> {
  return `sqlite:${join(await bench.cleanup.tempDir('board'), 'board.db')}`;
}

/**
 * One claim through all three phases: an agent publishes, a reviewer, a worker and a closer each take their grant and deliver.
 * With standing bids that is 7 commits and the reading of each agent's work (the artefact and its context); with bids by call 10.
 * The agents are no-ops in this process that know of their grants; what it takes to hear of one is measured as latency.
 * One at a time each commit has a sync of its own, so 10 bare ones are reached only where a sync is slow (0.4 ms and more); a
 * thousand claims are under way together, and those share syncs.
 */
async function openClaims(bench: Bench, callers: number, bids: 'standing' | 'asked'): Promise<Contender> {
  const crew = await connectAll(await newStore(bench), ['author', ...Object.keys(PARTS)]);
  const author = member(crew, 'author');
  await setRoster(
    author,
    Object.entries(PARTS).map(([agent_id, bid]) =>
      bids === 'standing' ? { agent_id, standing: bid } : { agent_id },
    ),
  );
  const claim = async (): Promise<number> => {
    const claim_id = await publish(author, GOAL);
    if (bids === 'asked')
      for (const [name, bid] of Object.entries(PARTS))
        await granted(member(crew, name), 'place_bid', { claim_id, bid });
    await allParts(crew, claim_id);
    return 1;
  };
  return {
    name: `ours, ${bids} bids, ${callers} at a time`,
    measure: (duration_ms) => hammer(callers, duration_ms, claim),
    close: () => closeAll(crew),
  };
}

async function allParts(crew: Awaited<ReturnType<typeof connectAll>>, claim_id: string): Promise<void> {
  let last: unknown;
  for (const [name, bid] of Object.entries(PARTS)) last = await doPart(member(crew, name), claim_id, bid);
  const { status } = (last as { claim: { status: string } }).claim;
  if (status !== 'complete') throw new Error(`the claim is ${status}`);
}

/** How many bare commits could have been made in the time of one claim. */
async function cost(bench: Bench): Promise<Row[]> {
  const raw = openRawSqlite(await bench.cleanup.tempDir('board'));
  const ways = [
    { callers: 1, bids: 'standing', bound: atMost(COST_MAX, COST_MAX * 0.8) },
    { callers: 1, bids: 'asked', bound: undefined },
    { callers: CALLERS, bids: 'standing', bound: atMost(COST_MAX, COST_MAX / 4) },
    { callers: CALLERS, bids: 'asked', bound: atMost(COST_MAX, COST_MAX / 4) },
  ] as const;
  const ours: Contender[] = [];
  for (const { callers, bids } of ways) ours.push(await openClaims(bench, callers, bids));
  const contenders = [raw, ...ours];
  try {
    const [bare, ...series] = await compare(contenders, bench, bench.progress, 'BOARD cost of a claim');
    return series.map((own, index) => {
      const { callers = 1, bids, bound } = ways[index] ?? {};
      const how = bids === 'asked' ? 'three bids by call' : 'standing bids';
      const what = `a claim through three phases, ${how}, ${callers} at a time`;
      return costRow(what, own, bare as Series, bound, bids === 'asked' ? 10 : 7);
    });
  } finally {
    for (const contender of contenders) await contender.close();
  }
}

function costRow(what: string, own: Series, bare: Series, bound: Bound | undefined, commits: number): Row {
  const ms = (series: Series): number => median(series.rates.map((rate) => 1000 / rate));
  return {
    goal: 'BOARD',
    what,
    ours: ms(own),
    peer: ms(bare),
    peer_name: bare.name,
    unit: 'ms',
    ratio: ratios(bare, own),
    bound,
    note: `${commits} commits each`,
  };
}

/** Hears the agents, in this process or in another one. */
async function openAgents(bench: Bench, store: string, names: readonly string[], place: 'here' | 'process') {
  const waiting = new Set<() => void>();
  /** Who waits since it bid on which claim, and when which claim was granted. */
  const bidOn = new Map<string, string>();
  const readyFor = new Map<string, string>();
  const grantedAt_ms = new Map<string, number>();
  const hear = (news: AgentNews): void => {
    if (news.said === 'bid') bidOn.set(news.agent_id, news.claim_id);
    else if (news.said === 'waits') readyFor.set(news.agent_id, bidOn.get(news.agent_id) ?? '');
    else grantedAt_ms.set(news.claim_id, news.at_ms);
    for (const look of waiting) look();
  };
  const until = (isTrue: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!isTrue()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const close = await start(bench, store, names, place, hear);
  return {
    /** All have bid on it, and wait for something else to come. */
    allBid: (claim_id: string) => until(() => names.every((name) => readyFor.get(name) === claim_id)),
    async grantOf(claim_id: string): Promise<number> {
      await until(() => grantedAt_ms.has(claim_id));
      return grantedAt_ms.get(claim_id) ?? Number.NaN;
    },
    close,
  };
}

async function start(
  bench: Bench,
  store: string,
  names: readonly string[],
  place: 'here' | 'process',
  hear: (news: AgentNews) => void,
): Promise<() => Promise<void>> {
  if (place === 'here') return (await startAgents(store, names, hear)).close;
  const child = fork(new URL('../board-worker.ts', import.meta.url), [store, ...names]);
  child.on('message', (news) => hear(news as AgentNews));
  bench.cleanup.defer(async () => void child.kill('SIGKILL'));
  return async () => {
    const gone = once(child, 'exit');
    child.send('close');
    await gone;
  };
}

/**
 * A board with a hundred open claims that wait for one bid, and nineteen agents that wait in `my_grants`. From the answer to the
 * last bid until the agent that it was granted to has its own.
 */
async function latency(bench: Bench, place: 'here' | 'process'): Promise<Row> {
  const store = await newStore(bench);
  const where = place === 'here' ? 'in the same process' : 'in another process';
  const names = Array.from({ length: AGENTS - 1 }, (_, n) => `agent-${n}`);
  const last = await connect({ store, agent_id: 'last' });
  await setRoster(
    last,
    [...names, 'last'].map((agent_id) => ({ agent_id })),
  );
  const agents = await openAgents(bench, store, names, place);
  const open: string[] = [];
  let published = 0;
  const publishOne = async (): Promise<void> => {
    const claim_id = await publish(last, names[published % names.length] ?? '');
    published += 1;
    open.push(claim_id);
    await agents.allBid(claim_id);
  };
  bench.progress.say(`BOARD grant ${where}: ${OPEN_CLAIMS} open claims`);
  while (open.length < OPEN_CLAIMS) await publishOne();
  const once_ms = async (): Promise<number> => {
    const claim_id = open.shift() ?? '';
    await granted(last, 'place_bid', { claim_id, bid: 'ignore' });
    const answered_ms = monotonic_ms();
    const heard_ms = await agents.grantOf(claim_id);
    await publishOne();
    return heard_ms - answered_ms;
  };
  const rounds: number[][] = [];
  const count = Math.max(20, Math.round(bench.seconds * 50));
  for (let round = 0; round <= bench.rounds; round++) {
    bench.progress.say(`BOARD grant ${where}: ${round === 0 ? 'warm-up' : `round ${round}/${bench.rounds}`}`);
    const took: number[] = [];
    for (let n = 0; n < count; n++) took.push(await once_ms());
    if (round > 0) rounds.push(took);
  }
  await agents.close();
  await last.close();
  const p99 = rounds.map((took) => percentile(took, 0.99));
  const p50 = median(rounds.flat()).toFixed(1);
  return {
    goal: 'BOARD',
    what: `grant after the last bid, ${OPEN_CLAIMS} open claims, ${AGENTS} agents, ${where}`,
    ours: median(p99),
    peer: LATENCY_MS_MAX,
    peer_name: 'what it may take',
    unit: 'ms (p99)',
    ratio: spread(p99.map((took_ms) => took_ms / LATENCY_MS_MAX)),
    bound: atMost(1, 0.5),
    note: `p50 ${p50} ms, slowest ${Math.max(...rounds.flat()).toFixed(1)} ms`,
  };
}

/**
 * A board with so many open claims (half wait for a bid, half for a review) and as many that have ended. A measured claim goes all
 * the way: published, a bid by call besides the standing ones, and each agent looks for its grant before it takes and delivers it.
 */
async function openFull(bench: Bench, size: number) {
  const crew = await connectAll(await newStore(bench), ['author', 'asked', 'idle', ...Object.keys(PARTS)]);
  const [author, asked] = [member(crew, 'author'), member(crew, 'asked')];
  await setRoster(author, [
    { agent_id: 'asked' },
    { agent_id: 'idle', standing: 'review', target_types: [PARKED] },
    ...Object.entries(PARTS).map(([agent_id, standing]) => ({ agent_id, standing, target_types: [GOAL] })),
  ]);
  const published = async (type: string, isBid: boolean): Promise<string> => {
    const claim_id = await publish(author, type);
    if (isBid) await granted(asked, 'place_bid', { claim_id, bid: 'ignore' });
    return claim_id;
  };
  let done = 0;
  await share(size, 64, 1, async (_, n) => {
    await published(PARKED, n % 2 === 0);
    await allParts(crew, await published(GOAL, true));
    done += 1;
    if (done % 500 === 0) bench.progress.say(`BOARD: ${done} of ${size} claims on the board`);
  });
  return {
    async claim(): Promise<number> {
      const start = performance.now();
      const claim_id = await published(GOAL, true);
      for (const [name, bid] of Object.entries(PARTS)) {
        const { grants } = await granted(member(crew, name), 'my_grants', {});
        if ((grants as unknown[]).length !== 1) throw new Error(`${name} has ${grants}`);
        await doPart(member(crew, name), claim_id, bid);
      }
      return performance.now() - start;
    },
    close: () => closeAll(crew),
  };
}

/** What a claim costs must not depend on how many there are or were. */
async function flatness(bench: Bench): Promise<Row[]> {
  const [least, ...more] = SIZES;
  const small = await openFull(bench, least);
  const rows: Row[] = [];
  for (const size of more) {
    const large = await openFull(bench, size);
    const rounds: GrowthRound[] = [];
    for (let round = 0; round <= bench.rounds; round++) {
      bench.progress.say(
        `BOARD ${size} claims: ${round === 0 ? 'warm-up' : `round ${round}/${bench.rounds}`}`,
      );
      const measured = await alternate(Math.round(bench.seconds * 100), small.claim, large.claim);
      if (round > 0) rounds.push(measured);
    }
    await large.close();
    const grown = growth(rounds);
    const p99 = (side: keyof GrowthRound): string => tail(rounds, side).toFixed(1);
    rows.push({
      goal: 'BOARD',
      what: `a claim with ${size.toLocaleString('en')} open and ${size.toLocaleString('en')} ended ones on the board ÷ with ${least}`,
      ours: grown.large.median,
      peer: grown.small.median,
      peer_name: 'ours, small',
      unit: 'ms (p50)',
      ratio: grown.ratio,
      bound: atMost(1.5, 1.2),
      note: `p99 ${p99('large_ms')} ms large, ${p99('small_ms')} ms small`,
    });
  }
  await small.close();
  return rows;
}

/** The board on the embedded store, its agents doing nothing: what coordination itself takes. Lower is better. */
export async function board(bench: Bench): Promise<Row[]> {
  return [
    ...(await cost(bench)),
    await latency(bench, 'process'),
    await latency(bench, 'here'),
    ...(await flatness(bench)),
  ];
}
