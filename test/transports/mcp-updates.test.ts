// Who follows the log for subscribers: one reader for all, none for none, and nothing lost while the store is away.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { type Source, Updates } from '../../src/transports/mcp/updates.ts';
import { until } from '../support/until.ts';

const ofKind = (kind: string) => (row: LogEntry) => row.events.some((event) => event.kind === kind);
const RESOURCES = [
  { uri: 'locks', changedBy: ofKind('lock') },
  { uri: 'tasks', changedBy: ofKind('task') },
];

async function inMemory() {
  const coxswain = await open({ store: 'memory:', cwd: import.meta.dirname });
  const connection = coxswain.connect({ agent_id: 'writer' });
  const watching = { now: 0, ever: 0 };
  const reads = { away: false, failed: 0 };
  const store = new Proxy(coxswain.store, {
    get(target, name) {
      if (name === 'watch')
        return async function* watch(project: string, signal: AbortSignal) {
          watching.now += 1;
          watching.ever += 1;
          try {
            yield* target.watch(project, signal);
          } finally {
            watching.now -= 1;
          }
        };
      const value: unknown = Reflect.get(target, name);
      if (name === 'read' && reads.away)
        return () => {
          reads.failed += 1;
          return Promise.reject(new Error('away'));
        };
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }) as Store;
  const source: Source = { store, project: coxswain.project };
  const perform = async (name: string, input: object) => {
    const operation = operationsByName.get(name);
    assert.ok(operation);
    return await connection.perform(operation, input);
  };
  return {
    updates: new Updates(RESOURCES, async () => source, coxswain.clock),
    watching,
    lock: (file_path: string) => perform('acquire_lock', { file_path }),
    submit: () => perform('submit_work', { task_type: 't', task_description: 'd' }),
    reads,
  };
}

test('[MCP-2] one reader of the log however many listen, and none when nobody does', async () => {
  const { updates, watching, lock } = await inMemory();
  const heard: string[] = [];
  const listeners = Array.from({ length: 50 }, (_, index) =>
    updates.listen((uri) => heard.push(`${index} ${uri}`)),
  );
  await Promise.all(listeners.map(({ ready }) => ready));
  await lock('a.ts');
  await until(async () => heard.length >= 50);
  assert.deepEqual([heard.length, new Set(heard).size, watching.ever], [50, 50, 1]);
  for (const { end } of listeners.slice(1)) end();
  assert.equal(updates.active, true);
  listeners[0]?.end();
  assert.equal(updates.active, false);
  await until(async () => watching.now === 0);
  const again = updates.listen((uri) => heard.push(`again ${uri}`));
  await again.ready;
  await lock('b.ts');
  await until(async () => heard.length > 50);
  assert.deepEqual(heard.slice(50), ['again locks']);
  updates.stop();
  await until(async () => watching.now === 0);
});

test('[MCP-2] [STORE-3] a store that was away when somebody began to listen: afterwards all counts as changed', async () => {
  const { updates, reads, submit } = await inMemory();
  const heard: string[] = [];
  reads.away = true;
  const listening = updates.listen((uri) => heard.push(uri));
  await listening.ready;
  assert.equal(reads.failed, 1);
  reads.away = false;
  await until(async () => heard.length === 2);
  assert.deepEqual(heard, ['locks', 'tasks']);
  await submit();
  await until(async () => heard.length === 3);
  assert.equal(heard[2], 'tasks');
  updates.stop();
});

test('[MCP-2] [STORE-3] what was committed while the store could not be read is told once it can', async () => {
  const { updates, reads, lock } = await inMemory();
  const heard: string[] = [];
  const listening = updates.listen((uri) => heard.push(uri));
  await listening.ready;
  reads.away = true;
  await lock('a.ts');
  await until(async () => reads.failed > 0);
  reads.away = false;
  await until(async () => heard.length > 0);
  assert.deepEqual(heard, ['locks']);
  updates.stop();
});
