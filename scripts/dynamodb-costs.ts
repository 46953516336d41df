// Writes the table of what operations ask of DynamoDB, and what a fleet's day costs, into docs/dynamodb.md:
// `npm run dynamodb:costs`. It starts DynamoDB Local for that.
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { open } from '../src/index.ts';
import type { JsonObject } from '../src/kernel/json.ts';
import type { Coxswain } from '../src/runtime/coxswain.ts';
import { operations } from '../src/runtime/operation-list.ts';
import { createTable } from '../src/stores/dynamodb/create-table.ts';
import { testEndpoint } from '../test/support/dynamodb.ts';
import { tap } from './dynamodb-tap.ts';
import { added, Meter, NOTHING, type Units } from './dynamodb-units.ts';

const FILE = fileURLToPath(new URL('../docs/dynamodb.md', import.meta.url));
const [BEGIN, END] = ['<!-- costs -->', '<!-- /costs -->'];

/** On demand, standard table class, US East (N. Virginia). In November 2024 AWS halved them; much that is written has the old ones. */
const PRICES = {
  region: 'us-east-1',
  since: '2024-11',
  usd_per_million_writes: 0.625,
  usd_per_million_reads: 0.125,
};

const AGENTS = 100;
const HOURS = 8;

interface Step {
  readonly label: string;
  readonly agent: 'ann' | 'ben';
  readonly operation: string;
  readonly input: JsonObject;
  /** How often an agent of the fleet does it in an hour. */
  readonly per_hour: number;
  /** Another holds it: that costs, too. */
  readonly refused?: true;
}

const edge = { feature: 'F-1', edge: 'design_code' };
const STEPS: readonly Step[] = [
  {
    label: 'lock a file',
    agent: 'ann',
    operation: 'acquire_lock',
    input: { file_path: 'src/a.ts' },
    per_hour: 12,
  },
  {
    label: 'lock it again (extend)',
    agent: 'ann',
    operation: 'acquire_lock',
    input: { file_path: 'src/a.ts' },
    per_hour: 12,
  },
  {
    label: 'ask for a file that another holds',
    agent: 'ben',
    operation: 'acquire_lock',
    input: { file_path: 'src/a.ts' },
    per_hour: 3,
    refused: true,
  },
  {
    label: 'release it',
    agent: 'ann',
    operation: 'release_lock',
    input: { file_path: 'src/a.ts' },
    per_hour: 12,
  },
  { label: 'see who holds what', agent: 'ann', operation: 'check_locks', input: {}, per_hour: 6 },
  {
    label: 'submit a task',
    agent: 'ann',
    operation: 'submit_work',
    input: { task_type: 'code', task_description: 'x' },
    per_hour: 4,
  },
  { label: 'take a task', agent: 'ben', operation: 'get_work', input: {}, per_hour: 4 },
  { label: 'claim a feature’s edge', agent: 'ann', operation: 'claim_edge', input: edge, per_hour: 2 },
  { label: 'heartbeat of a claim', agent: 'ann', operation: 'heartbeat_claim', input: edge, per_hour: 12 },
  {
    label: 'claim one that another holds',
    agent: 'ben',
    operation: 'claim_edge',
    input: edge,
    per_hour: 1,
    refused: true,
  },
  { label: 'heartbeat of a session', agent: 'ann', operation: 'heartbeat', input: {}, per_hour: 30 },
];

export interface Measured extends Units {
  readonly label: string;
  readonly per_hour: number;
}

/** What was measured as a table, and the fleet's day. */
export function costTable(rows: readonly Measured[]): string {
  const day = rows
    .map((row) => ({ times: row.per_hour * HOURS * AGENTS, row }))
    .reduce(
      (sum, { times, row }) => ({
        writes: sum.writes + times * row.write_units,
        reads: sum.reads + times * row.read_units,
        requests: sum.requests + times * row.requests,
      }),
      { writes: 0, reads: 0, requests: 0 },
    );
  const usd = (day.writes * PRICES.usd_per_million_writes + day.reads * PRICES.usd_per_million_reads) / 1e6;
  return [
    '| | requests | read units | write units | an agent does it in an hour |',
    '|---|---|---|---|---|',
    ...rows.map(
      (row) =>
        `| ${row.label} | ${row.requests} | ${row.read_units} | ${row.write_units} | ${row.per_hour} |`,
    ),
    '',
    `A day of ${AGENTS} agents, ${HOURS} hours each, by that last column: ${count(day.requests)} requests, ${count(day.reads)} read units and`,
    `${count(day.writes)} write units, **${usd.toFixed(2)} USD** at ${PRICES.usd_per_million_writes} USD for a million write units and ${PRICES.usd_per_million_reads} USD for a million`,
    `read units (on demand, ${PRICES.region}, the prices since ${PRICES.since}; check your region). Storage and backups are extra, cents at this size.`,
  ].join('\n');
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Everything that a call causes, also what is written behind it: until nothing has been asked for a while. */
async function measured(endpoint: string): Promise<Measured[]> {
  const meter = new Meter();
  let total = NOTHING;
  const tapped = await tap(endpoint, (exchange) => {
    total = added(total, meter.cost(exchange));
  });
  const url = `dynamodb://costs-${process.pid}?region=local&endpoint=${tapped.endpoint}`;
  await createTable(url);
  // Each with a memory of its own, as agents on two machines have.
  const coxswain = await open({ store: url, project: 'costs', env: {} });
  const another = await open({ store: url, project: 'costs', env: {} });
  try {
    const settled = async () => {
      for (let before = -1; before !== total.requests; await sleep(QUIET_MS)) before = total.requests;
    };
    const people = peopleOf({ ann: coxswain, ben: another });
    // The first call of a session introduces it.
    for (const agent of ['ann', 'ben'] as const) await people(agent, 'heartbeat', {});
    const rows: Measured[] = [];
    for (const { label, per_hour, agent, operation, input, refused } of STEPS) {
      await settled();
      total = NOTHING;
      const answer = await people(agent, operation, input);
      // A mistake in the steps would be measured like the real thing.
      if ((answer.success === false) !== (refused === true))
        throw new Error(`${label}: ${JSON.stringify(answer)}`);
      await settled();
      rows.push({ label, per_hour, ...total });
    }
    await settled();
    const watching = new AbortController();
    const hints = coxswain.store.watch('costs', watching.signal)[Symbol.asyncIterator]();
    await hints.next();
    const waiting = hints.next();
    total = NOTHING;
    await sleep(WATCHED_S * 1000);
    const { requests, read_units, write_units } = total;
    rows.push({
      label: 'follow the log for a minute, when nothing happens',
      per_hour: 60,
      requests: Math.round((requests * 60) / WATCHED_S),
      read_units: Math.round((read_units * 60) / WATCHED_S),
      write_units: Math.round((write_units * 60) / WATCHED_S),
    });
    watching.abort();
    await waiting;
    await settled();
    total = NOTHING;
    const { entries } = await coxswain.store.read('costs', 0, 1000);
    rows.push({
      label: `read the log: its first ${entries.length} rows, and put them in order`,
      per_hour: 1,
      ...total,
    });
    return rows;
  } finally {
    await coxswain.close();
    await another.close();
    await tapped.close();
  }
}

const QUIET_MS = 500;
const WATCHED_S = 6;

function peopleOf(machines: Readonly<Record<string, Coxswain>>) {
  const connections = new Map(
    Object.entries(machines).map(([agent_id, coxswain]) => [
      agent_id,
      coxswain.connect({ agent_id, session_id: `s-${agent_id}` }),
    ]),
  );
  return async (agent: string, name: string, input: JsonObject): Promise<JsonObject> => {
    const operation = operations.find((one) => one.name === name);
    const connection = connections.get(agent);
    if (operation === undefined || connection === undefined) throw new Error(`no ${name}`);
    return await connection.perform(operation, input);
  };
}

if (import.meta.main) {
  const [before = '', rest = ''] = readFileSync(FILE, 'utf8').split(BEGIN);
  const after = rest.slice(rest.indexOf(END));
  const table = costTable(await measured(await testEndpoint()));
  writeFileSync(FILE, `${before}${BEGIN}\n${table}\n${after}`);
  console.log(table);
}
