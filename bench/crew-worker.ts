/** One process of a crew: commits until its time is up, as often as it can, and reports how long each took. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import type { Way, WorkerReport } from './crew.ts';

const [way, file, name] = process.argv.slice(2) as [Way, string, string];
const PATHS = 500;
const LOOK_EVERY = 50;
const LEFT_MAX = 200;

interface Committer {
  commit(turn: number): Promise<void>;
  close(): Promise<void>;
}

async function openOurs(): Promise<Committer> {
  const { connect } = await import('../src/index.ts');
  const client = await connect({ store: `sqlite:${file}`, agent_id: `worker-${name}`, sits: way === 'seat' });
  return {
    async commit(turn) {
      const file_path = `src/worker-${name}/file-${Math.floor(turn / 2) % PATHS}.ts`;
      const answer = await client.call(turn % 2 === 0 ? 'acquire_lock' : 'release_lock', { file_path });
      if (answer.success !== true) throw new Error(JSON.stringify(answer));
    },
    close: () => client.close(),
  };
}

/** Claims and converges edges, each of its own features. */
async function openClaims(): Promise<Committer> {
  const { connect } = await import('../src/index.ts');
  const client = await connect({ store: `files:${file}`, agent_id: `worker-${name}`, sits: true });
  return {
    async commit(turn) {
      const pair = { feature: `FEAT-${name}-${Math.floor(turn / 2) % PATHS}`, edge: 'design_code' };
      const role = { ...pair, agent_role: 'full_stack' };
      const answer = await client.call(turn % 2 === 0 ? 'claim_edge' : 'converge_edge', role);
      if (answer.success !== true) throw new Error(JSON.stringify(answer));
    },
    close: () => client.close(),
  };
}

/** Leaves proposals in its inbox, as agents without `cox` do, and never more than the serialiser gets to. */
async function openProposing(): Promise<Committer> {
  const { stage } = await import('../src/stores/files/inbox.ts');
  const events = join(file, 'events');
  const agent_id = `worker-${name}`;
  return {
    async commit(turn) {
      const feature = `FEAT-${name}-${Math.floor(turn / 2)}`;
      const event_type = turn % 2 === 0 ? 'edge_claim' : 'edge_converged';
      const role = { agent_id, agent_role: 'full_stack' };
      stage(events, { event_type, ...role, feature, edge: 'design_code', sequence: turn });
      while (turn % LOOK_EVERY === 0 && left(join(events, 'inbox', agent_id)) > LEFT_MAX)
        await new Promise((resolve) => setTimeout(resolve, 1));
    },
    close: async () => {},
  };
}

function left(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0;
  }
}

/** What most tools do: open the file, let SQLite wait, write a lock and an event. */
function openBusyHandler(): Committer {
  const database = new DatabaseSync(file, { timeout: 60_000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec(`CREATE TABLE IF NOT EXISTS lock (path TEXT PRIMARY KEY, holder TEXT, version INTEGER) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS event (position INTEGER PRIMARY KEY, body TEXT NOT NULL)`);
  const upsert = database.prepare(`INSERT INTO lock VALUES (?, ?, 1)
    ON CONFLICT DO UPDATE SET holder = excluded.holder, version = version + 1`);
  const append = database.prepare('INSERT INTO event (body) VALUES (?)');
  const body = 'x'.repeat(600);
  return {
    async commit(turn) {
      database.exec('BEGIN IMMEDIATE');
      upsert.run(`src/worker-${name}/file-${Math.floor(turn / 2) % PATHS}.ts`, turn % 2 === 0 ? name : null);
      append.run(body);
      database.exec('COMMIT');
    },
    async close() {
      database.close();
    },
  };
}

/** `file` is the server's socket. A lock is taken and released in turns, as ours is. */
async function openRedis(): Promise<Committer> {
  const { acquireLock, connectLocks, releaseLock } = await import('./baselines/redis-locks.ts');
  const client = await connectLocks(file, false);
  let token = '';
  return {
    async commit(turn) {
      const path = `src/worker-${name}/file-${Math.floor(turn / 2) % PATHS}.ts`;
      if (turn % 2 === 0) token = await acquireLock(client, path);
      else await releaseLock(client, path, token);
    },
    close: async () => client.disconnect(),
  };
}

async function openCommitter(): Promise<Committer> {
  if (way === 'redis') return await openRedis();
  if (way === 'busy handler') return openBusyHandler();
  if (way === 'proposals') return await openProposing();
  return way === 'claims in files' ? await openClaims() : await openOurs();
}

const committer = await openCommitter();
let turn = 0;

process.on('message', async (message: number | 'close') => {
  if (message === 'close') {
    await committer.close();
    process.disconnect?.();
    return;
  }
  const waits_ms: number[] = [];
  const end = performance.now() + message;
  for (let now = performance.now(); now < end; ) {
    await committer.commit(turn);
    turn += 1;
    const after = performance.now();
    waits_ms.push(after - now);
    now = after;
  }
  const report: WorkerReport = { waits_ms };
  process.send?.(report);
});
// The measuring process may be stopped in the middle; no worker is left behind.
process.on('disconnect', () => process.exit());
process.send?.('ready');
