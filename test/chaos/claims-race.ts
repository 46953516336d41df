// node test/chaos/claims-race.ts --stores sqlite,postgres,dynamodb --processes 16 --pairs 1000
// Many processes race for many features and edges on each store: each pair is granted once, by what every process was told and by the
// log. Who wins is chance; so the first store's winners then claim in the same order on the others, and all logs fold to the same.
import { join } from 'node:path';
import type { ClaimState } from '../../src/features/claims/edge-claim.ts';
import { connect, open } from '../../src/index.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import { entities } from '../../src/runtime/entities.ts';
import { testTable } from '../support/dynamodb.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { readOptions, startProgram, temporaryFolder } from './crew.ts';
import { readLog } from './log-check.ts';

interface Raced {
  readonly granted: readonly number[];
  readonly told: Readonly<Record<number, string>>;
  readonly unavailable: number;
  readonly asked_ms: Readonly<Record<number, number>>;
  readonly answered_ms: Readonly<Record<number, number>>;
}

interface Grant {
  readonly feature: string;
  readonly edge: string;
  readonly agent_id: string;
}

/** A store of its own each time it is asked for. */
type Place = (name: string) => Promise<string>;

export interface StoreRace {
  readonly store: string;
  readonly seconds: number;
  readonly granted: number;
  readonly rejected: number;
  readonly winners: number;
  /** Pairs that another process asked for before the one that got it had its answer. */
  readonly contested: number;
  readonly unavailable: number;
  readonly faults: string[];
}

export interface ClaimsRace {
  readonly races: readonly StoreRace[];
  readonly faults: readonly string[];
  readonly summary: string;
}

export async function raceForClaims(
  places: Readonly<Record<string, Place>>,
  processes: number,
  pairs: number,
): Promise<ClaimsRace> {
  const races: StoreRace[] = [];
  const faults: string[] = [];
  let first: readonly Grant[] | undefined;
  for (const [name, place] of Object.entries(places)) {
    const { race, grants } = await raceOn(name, await place('race'), processes, pairs);
    races.push(race);
    faults.push(...race.faults.map((fault) => `${name}: ${fault}`));
    first ??= grants;
  }
  const expected = assignmentsText(first ?? []);
  for (const [name, place] of Object.entries(places)) {
    const text = await retold(await place('retold'), first ?? []);
    if (text !== expected) faults.push(`${name}: its log folds to other assignments`);
  }
  const stores = Object.keys(places).join(', ');
  const summary = `claims on ${stores}: ${processes} processes, ${pairs} pairs: ${races.map(described).join('; ')}; faults ${faults.length}`;
  return { races, faults, summary };
}

const described = ({ store, granted, rejected, winners, contested, seconds }: StoreRace) =>
  `${store} granted ${granted} (to ${winners}, ${contested} of them contested), rejected ${rejected}, ${seconds.toFixed(1)} s`;

async function raceOn(name: string, store: string, processes: number, pairs: number) {
  // Creating the store is not what this is about.
  await (await open({ store })).close();
  const racers = Array.from({ length: processes }, (_, index) =>
    startProgram('claims-race-worker.ts', { store, index, processes, pairs }),
  );
  const answers: Raced[] = [];
  let start_ms: number | undefined;
  try {
    for (;;) {
      // All stand at the line before anyone runs.
      const said = await Promise.all(racers.map(({ lines }) => lines.next()));
      if (said.some(({ value }) => value !== 'ready')) {
        for (const [index, { value }] of said.entries()) {
          const { code, stderr } = (await racers[index]?.exited) ?? {};
          if (code !== 0 || value === undefined) throw new Error(`a racer ended with ${code}: ${stderr}`);
          answers.push(JSON.parse(value) as Raced);
        }
        break;
      }
      start_ms ??= performance.now();
      for (const { child } of racers) child.stdin?.write('go\n');
    }
  } finally {
    for (const { child } of racers) child.kill('SIGKILL');
  }
  const seconds = (performance.now() - (start_ms ?? 0)) / 1000;
  const { grants, rejected, faults } = await judge(store, answers, pairs);
  const race: StoreRace = {
    store: name,
    seconds,
    granted: grants.length,
    rejected,
    winners: answers.filter(({ granted }) => granted.length > 0).length,
    contested: contestedAmong(answers),
    unavailable: answers.reduce((sum, { unavailable }) => sum + unavailable, 0),
    faults,
  };
  return { race, grants };
}

function contestedAmong(answers: readonly Raced[]): number {
  const contested = answers.map(({ granted, answered_ms }, winner) => {
    const others = answers.filter((_, index) => index !== winner);
    const isContested = (pair: number) =>
      others.some(({ asked_ms }) => (asked_ms[pair] ?? Infinity) < (answered_ms[pair] ?? 0));
    return granted.filter(isContested).length;
  });
  return contested.reduce((sum, each) => sum + each, 0);
}

/** What every process was told, what the log says and what the store holds are the same story. */
async function judge(store: string, answers: readonly Raced[], pairs: number) {
  const coxswain = await open({ store });
  try {
    const faults: string[] = [];
    const grants: Grant[] = [];
    let rejected = 0;
    for (const { events, position } of await readLog(coxswain.store))
      for (const { kind, type, data } of events) {
        if (kind !== 'claim') continue;
        const { feature, edge, granted_to } = data as Record<string, string>;
        if (type === 'edge_started')
          grants.push({ feature: feature ?? '', edge: edge ?? '', agent_id: granted_to ?? '' });
        else if (type === 'claim_rejected') rejected += 1;
        else faults.push(`row ${position}: ${type}, which nobody asked for`);
      }
    const holders = new Map(grants.map(({ feature, agent_id }) => [feature, agent_id]));
    if (holders.size !== pairs || grants.length !== pairs)
      faults.push(`${pairs} pairs: ${grants.length} grants in the log, of ${holders.size} pairs`);
    if (rejected !== (answers.length - 1) * pairs) faults.push(`${rejected} rejections in the log`);
    for (const [index, { granted, told }] of answers.entries()) {
      for (const pair of granted)
        if (holders.get(`F-${pair}`) !== `racer-${index}`)
          faults.push(
            `racer-${index} was told that it has F-${pair}, the log says ${holders.get(`F-${pair}`)}`,
          );
      for (const [pair, holder] of Object.entries(told))
        if (holders.get(`F-${pair}`) !== holder)
          faults.push(`racer-${index} was told that ${holder} has F-${pair}`);
      if (granted.length + Object.keys(told).length !== pairs) faults.push(`racer-${index} missed an answer`);
    }
    const replayed = await replay(coxswain.store, entities, coxswain.project);
    for (const difference of await compareWithLive(coxswain.store, entities, coxswain.project, replayed))
      faults.push(`replay differs: ${JSON.stringify(difference)}`);
    return { grants, rejected, faults };
  } finally {
    await coxswain.close();
  }
}

/** The same agents claim the same in the same order; what the log then folds to. */
async function retold(store: string, grants: readonly Grant[]): Promise<string> {
  const names = [...new Set(grants.map(({ agent_id }) => agent_id))];
  const clients = new Map(
    await Promise.all(
      names.map(async (agent_id) => [agent_id, await connect({ store, agent_id, presence: 'off' })] as const),
    ),
  );
  for (const { agent_id, feature, edge } of grants) {
    const answer = await clients.get(agent_id)?.call('claim_edge', { feature, edge });
    if (answer?.success !== true) throw new Error(`not granted again: ${JSON.stringify(answer)}`);
  }
  for (const client of clients.values()) await client.close();
  const coxswain = await open({ store });
  try {
    const { state } = await replay(coxswain.store, entities, coxswain.project);
    const claims = [...state.values()].filter(({ kind }) => kind === 'claim');
    return assignmentsText(
      claims.map(({ state }) => {
        const { feature, edge, lease } = state as unknown as ClaimState;
        return { feature, edge, agent_id: lease?.agent_id ?? '' };
      }),
    );
  } finally {
    await coxswain.close();
  }
}

function assignmentsText(grants: readonly Grant[]): string {
  const lines = grants.map(({ feature, edge, agent_id }) => `${feature} ${edge} ${agent_id}`);
  return lines.sort().join('\n');
}

export function placesFor(
  names: readonly string[],
  folder: string,
  servers: { readonly postgres?: Place; readonly dynamodb?: Place } = {},
): Record<string, Place> {
  const all: Record<string, Place | undefined> = {
    sqlite: async (name) => `sqlite:${join(folder, `claims-${name}.db`)}`,
    files: async (name) => `files:${join(folder, `claims-${name}`)}`,
    ...servers,
  };
  return Object.fromEntries(
    names.map((name) => {
      const place = all[name];
      if (place === undefined) throw new Error(`expected --stores of ${Object.keys(all).join(', ')}`);
      return [name, place] as const;
    }),
  );
}

if (import.meta.main) {
  using folder = temporaryFolder();
  const { stores, processes, pairs } = readOptions({ stores: 'sqlite,postgres', processes: 16, pairs: 1000 });
  let server: Promise<PostgresServer> | undefined;
  const places = placesFor(stores.split(','), folder.path, {
    async postgres() {
      server ??= startPostgres({ fsync: true });
      return await (await server).createDatabase();
    },
    dynamodb: async () => (await testTable()).url,
  });
  try {
    const { races, faults } = await raceForClaims(places, processes, pairs);
    console.table(races.map(({ faults: found, ...race }) => ({ ...race, faults: found.length })));
    for (const fault of faults.slice(0, 20)) console.log(fault);
    console.log(
      faults.length === 0
        ? 'each pair was granted once; all logs fold to the same assignments'
        : `${faults.length} faults`,
    );
    process.exitCode = faults.length === 0 ? 0 : 1;
  } finally {
    await (await server)?.stop();
  }
}
