import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { overlap } from '../../../src/features/port-blocks/decide-ports.ts';
import { type Program, startProgram, temporaryFolder } from '../../chaos/crew.ts';
import { codeOf, portsIn } from './support.ts';

const program = fileURLToPath(new URL('./worker.ts', import.meta.url));

interface Said {
  readonly session_id: string;
  readonly port?: number;
  readonly refused?: string;
  readonly released?: boolean;
}

async function startWorker(job: { folder: string; name: string; sessions?: number }): Promise<Program> {
  const worker = startProgram(program, job);
  await worker.lines.next();
  return worker;
}

async function next({ lines }: Program): Promise<Said | undefined> {
  const { value, done } = await lines.next();
  return done === true ? undefined : (JSON.parse(value as string) as Said);
}

async function rest(worker: Program): Promise<Said[]> {
  const all: Said[] = [];
  for (let said = await next(worker); said !== undefined; said = await next(worker)) all.push(said);
  return all;
}

async function held(folder: string): Promise<Map<string, number>> {
  const listed = await portsIn(folder).list();
  if ('success' in listed) throw new Error(listed.message);
  return new Map(listed.leases.map(({ session_id, db_port }) => [session_id, db_port]));
}

function assertApart(ports: readonly number[]): void {
  for (const [index, port] of ports.entries())
    for (const other of ports.slice(index + 1)) assert.ok(!overlap(port, other), `${port} and ${other}`);
}

test('[PORT-2] [PORT-5] sixteen processes race for twenty blocks: each goes to one, the rest are refused', async () => {
  using folder = temporaryFolder();
  const names = Array.from({ length: 16 }, (_, index) => `racer${index}`);
  const racers = await Promise.all(
    names.map((name) => startWorker({ folder: folder.path, name, sessions: 2 })),
  );
  for (const { child } of racers) child.stdin?.write('go\n');
  const said = (await Promise.all(racers.map(rest))).flat();
  for (const { exited } of racers) assert.deepEqual((await exited).code, 0);
  const ports = said.flatMap(({ port }) => port ?? []);
  assert.deepEqual(
    ports.toSorted((a, b) => a - b),
    Array.from({ length: 20 }, (_, index) => 10_000 + index * 100),
  );
  const refused = said.flatMap(({ refused: code }) => code ?? []);
  assert.deepEqual(refused, Array(12).fill('no_ports_available'));
  const granted = said.flatMap(({ session_id, port }) => (port === undefined ? [] : [[session_id, port]]));
  assert.deepEqual(
    [...(await held(folder.path))].toSorted(),
    granted.toSorted(),
    'what was answered is what is kept',
  );
  assert.equal(codeOf(await portsIn(folder.path).allocate('one more', undefined)), 'no_ports_available');
});

const KILLS = 24;
const LANES = 4;
const LINES_MAX = 12;

/** What it was told last is there: the block before is released only when the next one is its own. */
async function killOne(folder: string, name: string): Promise<void> {
  const worker = await startWorker({ folder, name });
  worker.child.stdin?.write('go\n');
  const said: Said[] = [];
  const lines = 1 + Math.floor(Math.random() * LINES_MAX);
  while (said.length < lines) said.push((await next(worker)) as Said);
  worker.child.kill('SIGKILL');
  said.push(...(await rest(worker)));
  assert.equal((await worker.exited).signal, 'SIGKILL', 'it was killed and did not end by itself');
  const kept = await held(folder);
  const last = said.findLast(({ port }) => port !== undefined);
  assert.equal(kept.get(last?.session_id ?? ''), last?.port, JSON.stringify(said));
  for (const { session_id, released } of said) if (released === true) assert.ok(!kept.has(session_id));
  // A dead process cleans up nothing; that is what the time is for, or a person.
  for (const session_id of kept.keys())
    if (session_id.startsWith(`${name}-`)) assert.equal(await portsIn(folder).release(session_id), true);
}

test('[PORT-5] processes killed at any instant lose nothing that was answered and leave nothing broken', async () => {
  using folder = temporaryFolder();
  let left = KILLS;
  const lane = async (index: number) => {
    for (; left > 0; ) {
      left -= 1;
      await killOne(folder.path, `lane${index}x${left}`);
      assertApart([...(await held(folder.path)).values()]);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
  assert.deepEqual([...(await held(folder.path))], []);
});
