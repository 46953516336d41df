import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { claimEvent, NEVER_MS } from '../../src/features/claims/edge-claim.ts';
import { EVENT_SCHEMA } from '../../src/ledger/log.ts';
import { isSerialiser } from '../../src/ledger/serialiser.ts';
import { flatLine } from '../../src/stores/files/log-line.ts';
import { openFdatasync } from '../baselines/fdatasync.ts';
import { atLeast, atMost, type Bench, play, type Row } from '../bench.ts';
import { openCrew } from '../crew.ts';
import type { Contender } from '../harness.ts';
import { median, spread } from '../statistics.ts';

const PROCESSES = 8;
const EVENTS = 1_000_000;
const PAIRS = 10_000;
const AGENTS = 16;
const OPENER = fileURLToPath(new URL('../files-opener.ts', import.meta.url));

async function openProposers(dir: string): Promise<Contender> {
  const crew = await openCrew('claims in files', join(dir, '.ai-workspace'), PROCESSES);
  return {
    name: 'ours',
    async measure(durationMs) {
      const { count, elapsed_ms } = await crew.measure(durationMs);
      return { count, elapsed_ms };
    },
    close: () => crew.close(),
  };
}

/** Agents that only write files, and one serialiser that decides what they propose: all that was decided, once none is left. */
async function openInbox(dir: string): Promise<Contender> {
  const folder = join(dir, 'inbox', '.ai-workspace');
  const crew = await openCrew('proposals', folder, PROCESSES);
  const { open } = await import('../../src/index.ts');
  const { store, close } = await open({ store: `files:${folder}`, presence: 'off' });
  if (!isSerialiser(store)) throw new Error('no inbox');
  return {
    name: 'ours',
    async measure(durationMs) {
      const start = performance.now();
      let proposing = true;
      const proposed = crew.measure(durationMs).then(() => {
        proposing = false;
      });
      let count = 0;
      for (let taken = 1; proposing || taken > 0; ) {
        ({ taken } = await store.serialise());
        count += taken;
        await new Promise(setImmediate);
      }
      await proposed;
      return { count, elapsed_ms: performance.now() - start };
    },
    async close() {
      await crew.close();
      await close();
    },
  };
}

/** The files store: claims from many processes beside the disk, and how long it takes to open a long log. */
export async function files(bench: Bench): Promise<Row[]> {
  const dir = await bench.cleanup.tempDir('files');
  const proposing = await play(bench, {
    goal: 'FILES',
    what: `claims and convergences of ${PROCESSES} processes that wait for each answer, plain files, durable`,
    unit: 'commits/s',
    ours: () => openProposers(dir),
    peers: [{ open: async () => openFdatasync(dir), bound: atLeast(1, 2) }],
  });
  const inbox = await play(bench, {
    goal: 'FILES',
    what: `proposals of ${PROCESSES} processes in the inbox, decided by a serialiser, durable`,
    unit: 'proposals/s',
    ours: () => openInbox(dir),
    peers: [{ open: async () => openFdatasync(dir), bound: atLeast(1, 2) }],
  });
  if (bench.baselines_only) return [...proposing, ...inbox];
  return [...proposing, ...inbox, ...opening(bench, join(dir, 'long'))];
}

function opening(bench: Bench, folder: string): Row[] {
  bench.progress.say?.(`writing a log of ${EVENTS} events`);
  writeLog(folder, EVENTS);
  const anew: Opened[] = [];
  const again: Opened[] = [];
  for (let round = 0; round < Math.min(3, bench.rounds); round += 1) {
    rmSync(join(folder, 'events/.coxswain'), { recursive: true, force: true });
    anew.push(openInProcess(folder));
    again.push(openInProcess(folder));
  }
  const megabytes = Math.round(statSync(join(folder, 'events/events.jsonl')).size / 1e6);
  const row = (what: string, opened: readonly Opened[], limit_ms: number): Row => {
    const ours = median(opened.map(({ elapsed_ms }) => elapsed_ms));
    const peak = Math.max(...opened.map(({ peak_mb }) => peak_mb));
    return {
      goal: 'FILES',
      what: `${what} (${EVENTS} events, ${megabytes} MB; memory at most ${peak} MB)`,
      ours,
      peer: limit_ms,
      peer_name: 'allowed',
      unit: 'ms',
      ratio: spread(opened.map(({ elapsed_ms }) => elapsed_ms / limit_ms)),
      bound: atMost(1, 0.8),
      note: '',
    };
  };
  return [
    row('open a log without a snapshot', anew, 10_000),
    row('open a log with its snapshot', again, 500),
  ];
}

interface Opened {
  readonly elapsed_ms: number;
  readonly peak_mb: number;
}

/** In a process of its own: memory and what is loaded belong to it. */
function openInProcess(folder: string): Opened {
  const { stdout, stderr, status } = spawnSync(process.execPath, [OPENER, `files:${folder}`], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Opened;
}

function writeLog(folder: string, count: number): void {
  mkdirSync(join(folder, 'events'), { recursive: true });
  const handle = openSync(join(folder, 'events/events.jsonl'), 'w');
  let text = '';
  for (let n = 0; n < count; n += 1) {
    text += `${lineOf(n)}\n`;
    if (text.length < 1 << 20 && n < count - 1) continue;
    writeSync(handle, text);
    text = '';
  }
  closeSync(handle);
}

/** Claims and convergences in turn, as the claims' decisions write them. */
function lineOf(n: number): string {
  const pair = { feature: `FEAT-${Math.floor(n / 2) % PAIRS}`, edge: 'design→code' };
  const at_ms = Date.UTC(2026, 0, 1) + n;
  const agent_id = `agent-${n % AGENTS}`;
  const actor = { agent_id, agent_type: 'test', session_id: `session-${agent_id}` };
  const lease = { ...actor, token: at_ms, granted_at_ms: at_ms, expires_at_ms: NEVER_MS };
  const agent_role = 'full_stack';
  const event =
    n % 2 === 0
      ? claimEvent(pair, 'edge_started', { granted_to: agent_id, agent_role, source: 'serialiser', lease })
      : claimEvent(pair, 'edge_converged', { agent_id, agent_role, evaluators: '3/3' });
  const row = {
    ...{
      schema: EVENT_SCHEMA,
      project: 'default',
      at_ms,
      ...actor,
      sequence: n,
      parameters: {},
      duration_ms: 0,
    },
    operation: n % 2 === 0 ? 'claim_edge' : 'converge_edge',
    operation_id: `01a1e478-9926-737d-8000-${String(n).padStart(12, '0')}`,
    result: { success: true },
    events: [event],
  };
  return flatLine(row, n + 1, event, 1, 1);
}
