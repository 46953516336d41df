// What can happen to a file: cut, overwritten, another program's, newer than we are, moved away or replaced under our feet.
// Always a clear refusal, never a commit that was acknowledged and is gone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { fileSystemProblem } from '../../src/stores/sqlite/file.ts';
import { SCHEMA_EPOCH } from '../../src/stores/sqlite/schema.ts';
import { until } from '../support/until.ts';
import { Agent, temporaryFolder } from './crew.ts';

/** SQL from a process of its own: opening and closing the file in ours would drop the locks of its connections. */
function sql(path: string, statements: string): void {
  const script = `const { DatabaseSync } = require('node:sqlite');
    new DatabaseSync(process.argv[1]).exec(process.argv[2]);`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script, path, statements], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
}

async function filled(path: string, locks: number): Promise<Agent> {
  const agent = new Agent({ store: `sqlite:${path}`, agent_id: 'anna' });
  for (let index = 0; index < locks; index += 1) {
    const answer = await agent.call('acquire_lock', { file_path: `${index}.ts`, reason: 'x'.repeat(500) });
    assert.equal(answer.success, true, JSON.stringify(answer));
  }
  return agent;
}

async function ask(path: string, operation = 'check_locks', input: JsonObject = {}): Promise<JsonObject> {
  using agent = new Agent({ store: `sqlite:${path}`, agent_id: 'bert' });
  const answer = await agent.call(operation, input);
  await agent.close();
  return answer;
}

async function lockedPaths(path: string): Promise<string[]> {
  const answer = await ask(path);
  assert.equal(answer.success, true, JSON.stringify(answer));
  return (answer.locks as JsonObject[]).map(({ file_path }) => String(file_path));
}

test('[STORE-3] garbage and truncated files are refused and left as they are', async () => {
  using folder = temporaryFolder();
  const whole = join(folder.path, 'whole.db');
  await (await filled(whole, 20)).close();
  const cases: [string, Buffer, string][] = [
    ['garbage', Buffer.alloc(9000, 'no database at all'), 'store_damaged'],
    ['half', readFileSync(whole).subarray(0, 4096 * 3 + 100), 'store_damaged'],
    ['page', readFileSync(whole).subarray(0, 4096), 'store_damaged'],
    ['head', readFileSync(whole).subarray(0, 60), 'store_damaged'],
  ];
  for (const [name, content, code] of cases) {
    const path = join(folder.path, `${name}.db`);
    writeFileSync(path, content);
    for (const [operation, input] of [
      ['acquire_lock', { file_path: 'a.ts' }],
      ['check_locks', {}],
    ] as const) {
      const answer = await ask(path, operation, input);
      assert.equal(answer.error, code, `${name}, ${operation}: ${JSON.stringify(answer)}`);
    }
    assert.deepEqual(readFileSync(path), content, `${name} was changed`);
  }
});

test('[STORE-3] a foreign database is refused and left as it is', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'theirs.db');
  sql(path, 'CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)');
  const before = readFileSync(path);
  const answer = await ask(path, 'acquire_lock', { file_path: 'a.ts' });
  assert.equal(answer.error, 'store_unsupported', JSON.stringify(answer));
  assert.deepEqual(readFileSync(path), before);
});

test('[STORE-1] a store upgraded by a newer version: upgrade_required, on opening and while open', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'cox.db');
  using agent = await filled(path, 1);
  sql(path, 'PRAGMA user_version = 99');
  const answer = await agent.call('acquire_lock', { file_path: 'late.ts' });
  assert.equal(answer.error, 'upgrade_required', JSON.stringify(answer));
  assert.equal((await ask(path)).error, 'upgrade_required');
  sql(path, `PRAGMA user_version = ${SCHEMA_EPOCH}`);
  assert.equal((await agent.call('acquire_lock', { file_path: 'a.ts' })).success, true);
  assert.deepEqual(await lockedPaths(path), ['0.ts', 'a.ts']);
  await agent.close();
});

function overwrite(path: string, at: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, 'x'.repeat(100), at);
  closeSync(file);
}

const DISTURBANCES: [string, (path: string) => void][] = [
  ['moved away', (path) => renameSync(path, `${path}.old`)],
  ['deleted', (path) => rmSync(path)],
  [
    'deleted with all that belongs to it',
    (path) => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`);
    },
  ],
  [
    'replaced by a copy',
    (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
  ['robbed of its -wal', (path) => rmSync(`${path}-wal`)],
  ['robbed of its -shm', (path) => rmSync(`${path}-shm`)],
  ['emptied', (path) => truncateSync(path, 0)],
  ['cut short', (path) => truncateSync(path, 4096)],
  ['emptied in its -wal', (path) => truncateSync(`${path}-wal`, 0)],
  ['cut short in its -wal', (path) => truncateSync(`${path}-wal`, 5000)],
  ['overwritten', (path) => overwrite(path, 8192)],
];

for (const [what, disturb] of DISTURBANCES) {
  test(`[STORE-3] a store that is ${what} while open takes no more commits, and reads say so too`, async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'cox.db');
    using agent = await filled(path, 3);
    // So that the main file has pages that are not in the -wal.
    sql(path, 'PRAGMA wal_checkpoint(PASSIVE)');
    assert.equal((await agent.call('acquire_lock', { file_path: 'a.ts' })).success, true);
    // It is looked for once in a millisecond.
    const aMillisecond = async () => {
      const began_ms = performance.now();
      await until(async () => performance.now() > began_ms + 1);
    };
    await aMillisecond();
    assert.equal((await agent.call('check_locks')).success, true);
    disturb(path);
    await aMillisecond();
    for (const operation of ['acquire_lock', 'check_locks']) {
      const input = operation === 'acquire_lock' ? { file_path: 'lost.ts' } : {};
      const answer = await agent.call(operation, input);
      assert.ok(
        answer.error === 'store_moved' || answer.error === 'store_damaged',
        `${operation}: ${JSON.stringify(answer)}`,
      );
    }
    await agent.kill();
    // A new process takes what is there, or is refused too; what was refused here is in neither.
    if (existsSync(path)) {
      const answer = await ask(path);
      if (answer.success === true) assert.ok(!JSON.stringify(answer).includes('lost.ts'));
      else assert.equal(answer.error, 'store_damaged', JSON.stringify(answer));
    }
  });
}

test('[STORE-1] file systems whose locks do not hold between machines are named', () => {
  for (const [type, name] of [
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [0xfe534d42, 'SMB2'],
    [0x01021997, '9p'],
    [0x65735546, 'FUSE'],
  ] as const)
    assert.equal(fileSystemProblem(type), name);
  for (const local of [0xef53, 0x9123683e, 0x58465342, 0x01021994, 0x794c7630])
    assert.equal(fileSystemProblem(local), undefined);
});

test('[STORE-3] another program that empties the -wal by a checkpoint is no harm', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'cox.db');
  using agent = await filled(path, 3);
  sql(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
  assert.equal((await agent.call('check_locks')).success, true);
  assert.equal((await agent.call('acquire_lock', { file_path: 'a.ts' })).success, true);
  sql(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
  assert.equal((await agent.call('acquire_lock', { file_path: 'b.ts' })).success, true);
  assert.deepEqual(await lockedPaths(path), ['0.ts', '1.ts', '2.ts', 'a.ts', 'b.ts']);
  await agent.close();
});

test('[STORE-3] a call on a closed store is told so', async () => {
  using folder = temporaryFolder();
  const client = await connect({ store: `sqlite:${join(folder.path, 'cox.db')}`, agent_id: 'anna' });
  assert.equal((await client.call('acquire_lock', { file_path: 'a.ts' })).success, true);
  await client.close();
  for (const operation of ['acquire_lock', 'check_locks'] as const) {
    const answer = await client.call(operation, operation === 'acquire_lock' ? { file_path: 'b.ts' } : {});
    assert.equal(answer.error, 'database_unavailable', JSON.stringify(answer));
  }
});
