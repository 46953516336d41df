import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { envSnippet, portBlock } from '../../../src/features/port-blocks/port-block.ts';
import type { Ports } from '../../../src/features/port-blocks/ports.ts';
import { isBlockTaken } from '../../../src/features/port-blocks/taken-ports.ts';
import { StoreFailure } from '../../../src/kernel/refusal.ts';
import { temporaryFolder } from '../../chaos/crew.ts';
import { codeOf, portOf, portsIn, settableClock } from './support.ts';

const THREE = { PORT_ALLOC_BASE: '20000', PORT_ALLOC_RANGE: '50', PORT_ALLOC_MAX_SESSIONS: '3' };

async function held(ports: Ports): Promise<string[]> {
  const listed = await ports.list();
  if ('success' in listed) throw new Error(listed.message);
  return listed.leases.map(({ session_id, db_port }) => `${session_id}@${db_port}`);
}

test('[PORT-2] the same session keeps its block and renews it; a full range harms nobody', async () => {
  using folder = temporaryFolder();
  const clock = settableClock();
  const ports = portsIn(folder.path, THREE, clock);
  const first = await ports.allocate('a', undefined);
  clock.set_ms += 119 * 60_000;
  const again = await ports.allocate('a', undefined);
  assert.equal(portOf(again), portOf(first));
  assert.equal((again as { expires_at_ms: number }).expires_at_ms, clock.set_ms + 120 * 60_000);
  await ports.allocate('b', undefined);
  await ports.allocate('c', undefined);
  const before = await ports.list();
  assert.equal(codeOf(await ports.allocate('d', undefined)), 'no_ports_available');
  assert.deepEqual(await ports.list(), before);
});

test('[PORT-3] a block is free at the instant its time is over, and when it is released', async () => {
  using folder = temporaryFolder();
  const clock = settableClock();
  const ports = portsIn(folder.path, { ...THREE, PORT_ALLOC_MAX_SESSIONS: '1' }, clock);
  await ports.allocate('a', 10);
  clock.set_ms += 10 * 60_000 - 1;
  assert.deepEqual(await held(ports), ['a@20000']);
  assert.equal(codeOf(await ports.allocate('b', undefined)), 'no_ports_available');
  clock.set_ms += 1;
  assert.deepEqual(await held(ports), []);
  assert.equal(await ports.release('a'), false, 'there is nothing left to release');
  assert.equal(portOf(await ports.allocate('b', undefined)), 20_000);
  assert.equal(await ports.release('b'), true);
  assert.equal(await ports.release('b'), false);
  assert.equal(await ports.release('never heard of'), false);
  assert.equal(portOf(await ports.allocate('a', undefined)), 20_000);
});

test('[PORT-3] a clock that was set back makes no block free and gives none twice', async () => {
  using folder = temporaryFolder();
  const clock = settableClock();
  const ports = portsIn(folder.path, THREE, clock);
  await ports.allocate('a', 10);
  clock.set_ms -= 86_400_000;
  assert.equal(portOf(await ports.allocate('b', undefined)), 20_050);
  assert.deepEqual(await held(ports), ['a@20000', 'b@20050']);
  assert.equal(await ports.release('a'), true);
});

test('[PORT-5] processes that are configured differently do not overlap', async () => {
  using folder = temporaryFolder();
  const one = portsIn(folder.path, THREE);
  const other = portsIn(folder.path, { ...THREE, PORT_ALLOC_BASE: '20002' });
  assert.equal(portOf(await one.allocate('a', undefined)), 20_000);
  assert.equal(portOf(await other.allocate('b', undefined)), 20_052);
  assert.equal(portOf(await one.allocate('c', undefined)), 20_100);
});

test('[PORT-1] a block on which another program listens is passed over, and kept by nobody', async () => {
  using folder = temporaryFolder();
  const listening = new Set([20_000, 20_050]);
  const ports = portsIn(folder.path, THREE, settableClock(), async (port) => listening.has(port));
  assert.equal(portOf(await ports.allocate('a', undefined)), 20_100);
  assert.deepEqual(await held(ports), ['a@20100']);
  listening.add(20_100);
  assert.equal(portOf(await ports.allocate('a', undefined)), 20_100, 'what listens there is its own');
  const refused = await ports.allocate('b', undefined);
  assert.equal(codeOf(refused), 'no_ports_available');
  assert.match(
    (refused as { message: string }).message,
    /1 sessions have one, and other programs listen on 2/,
  );
  assert.deepEqual(await held(ports), ['a@20100']);
});

for (const host of ['127.0.0.1', '0.0.0.0', '::1'])
  test(`[PORT-1] a listener on ${host} is seen on each of a block’s four ports`, async () => {
    const server = createServer().listen({ host, port: 0 });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (const offset of [0, 1, 2, 3]) assert.equal(await isBlockTaken(port - offset), true);
    server.close();
    await once(server, 'close');
  });

test('[PORT-1] where nothing listens a block is not taken', async () => {
  assert.equal(await isBlockTaken(1), false);
});

test('[PORT-5] the file is the user’s alone', async () => {
  using folder = temporaryFolder();
  const state = join(folder.path, 'state', 'deep');
  await portsIn(state).allocate('a', undefined);
  assert.equal(statSync(state).mode & 0o777, 0o700);
  assert.equal(statSync(join(state, 'ports.db')).mode & 0o777, 0o600);
  chmodSync(state, 0o770);
  await assert.rejects(portsIn(state).allocate('b', undefined), (error: StoreFailure) => {
    assert.equal(error.refusal.error, 'state_unavailable');
    assert.ok(error.message.includes(state));
    return true;
  });
});

const spoilt: [how: string, code: string, spoil: (file: string) => void][] = [
  ['is no database', 'store_damaged', (file) => writeFileSync(file, 'x'.repeat(8192))],
  ['was cut short', 'store_damaged', (file) => truncateSync(file, 5000)],
  [
    'was written over',
    'store_damaged',
    (file) => {
      const bytes = readFileSync(file);
      bytes.fill(0xaa, 4096);
      writeFileSync(file, bytes);
    },
  ],
  [
    'is a folder',
    'state_unavailable',
    (file) => {
      execFileSync('rm', [file]);
      mkdirSync(file);
    },
  ],
  [
    'belongs to another program',
    'state_unavailable',
    (file) => {
      execFileSync('rm', [file]);
      const database = new DatabaseSync(file);
      database.exec('CREATE TABLE theirs (x)');
      database.close();
    },
  ],
  [
    'is of a newer version',
    'upgrade_required',
    (file) => {
      const database = new DatabaseSync(file);
      database.exec('PRAGMA user_version = 99');
      database.close();
    },
  ],
];

for (const [how, code, spoil] of spoilt)
  test(`[PORT-5] a file that ${how} is refused by its name and left as it is`, async () => {
    using folder = temporaryFolder();
    const ports = portsIn(folder.path);
    await ports.allocate('a', undefined);
    const file = join(folder.path, 'ports.db');
    spoil(file);
    const before = statSync(file).isFile() ? readFileSync(file) : undefined;
    for (const call of [() => ports.allocate('b', undefined), () => ports.release('a'), () => ports.list()])
      await assert.rejects(call, (error: StoreFailure) => {
        assert.ok(error instanceof StoreFailure);
        assert.equal(error.refusal.error, code);
        assert.ok(error.message.includes(file), error.message);
        return true;
      });
    if (before !== undefined) assert.deepEqual(readFileSync(file), before);
  });

test('[PORT-5] a process that was stopped amid a change is waited for, not for ever, and blocks nothing else', async () => {
  using folder = temporaryFolder();
  await portsIn(folder.path).allocate('a', undefined);
  const stopped = new DatabaseSync(join(folder.path, 'ports.db'));
  stopped.exec('BEGIN IMMEDIATE');
  let slept = 0;
  let now_ms = 0;
  const clock = {
    ...settableClock(),
    elapsed_ms: () => now_ms,
    async sleep() {
      slept += 1;
      now_ms += 1000;
    },
  };
  await assert.rejects(portsIn(folder.path, {}, clock).allocate('b', undefined), (error: StoreFailure) => {
    assert.equal(error.refusal.error, 'state_unavailable');
    assert.match(error.message, /ports\.db are kept busy by another process/);
    return true;
  });
  assert.equal(slept, 11);
  const wakes = { ...clock, sleep: async () => stopped.exec('ROLLBACK') };
  assert.equal(portOf(await portsIn(folder.path, {}, wakes).allocate('b', undefined)), 10_100);
  stopped.close();
});

test('[PORT-5] a folder that cannot be made is refused by its name', async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'file');
  writeFileSync(file, '');
  await assert.rejects(portsIn(join(file, 'state')).list(), (error: StoreFailure) => {
    assert.equal(error.refusal.error, 'state_unavailable');
    assert.ok(error.message.includes(join(file, 'state')));
    return true;
  });
});

test('[PORT-5] a file whose maker died before the first table is used', async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'ports.db'), '');
  assert.deepEqual(await held(portsIn(folder.path)), []);
});

test('[PORT-1] the snippet has six variables and nothing of the session’s name', () => {
  assert.equal(
    envSnippet(portBlock('worktree-1', 20_000)),
    [
      'export AGENT_COORDINATOR_DB_PORT=20000',
      'export AGENT_COORDINATOR_REST_PORT=20001',
      'export AGENT_COORDINATOR_REALTIME_PORT=20002',
      'export API_PORT=20003',
      'export COMPOSE_PROJECT_NAME=ac-66743315',
      'export SUPABASE_URL=http://localhost:20001',
    ].join('\n'),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (session_id) => {
      const lines = envSnippet(portBlock(session_id, 20_000)).split('\n');
      assert.equal(lines.length, 6);
      for (const line of lines) assert.match(line, /^export [A-Z_]+=[\w:/-]+$/);
    }),
  );
});

test('[PORT-1] a shell that evaluates it gets the variables, and no hostile name is obeyed', () => {
  using folder = temporaryFolder();
  for (const session_id of [
    '$(touch owned)',
    '`touch owned`',
    "'; touch owned; '",
    '\n touch owned',
    '"\\',
  ]) {
    const snippet = envSnippet(portBlock(session_id, 20_000));
    const script = 'eval "$1"; echo "$SUPABASE_URL $API_PORT $COMPOSE_PROJECT_NAME"';
    const said = execFileSync('sh', ['-c', script, 'sh', snippet], { cwd: folder.path, encoding: 'utf8' });
    assert.match(said, /^http:\/\/localhost:20001 20003 ac-[0-9a-f]{8}\n$/);
    assert.ok(!existsSync(join(folder.path, 'owned')));
  }
});
