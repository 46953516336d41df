// A caller that waits through a transport and goes away is out of the line at once, and a waiter is served through any transport.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { connect } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import { finished, type Scratch, SERVICE_KEY, scratch, start, startHttp, startMcp } from './support.ts';

/** An agent at the store itself, which holds the lock that all others want. */
async function holding(place: Scratch) {
  const holder = await connect({ store: place.store, cwd: place.folder, agent_id: 'holder' });
  assert.equal((await holder.call('acquire_lock', { file_path: 'src/a.ts' })).action, 'acquired');
  const inLine = async () => {
    const { waiting = [] } = await holder.call('check_locks');
    return (waiting as JsonObject[]).map(({ agent_id }) => agent_id);
  };
  return {
    stands: (agent_id: string) => until(async () => (await inLine()).includes(agent_id)),
    nobodyStands: () => until(async () => (await inLine()).length === 0),
    release: () => holder.call('release_lock', { file_path: 'src/a.ts' }),
    [Symbol.asyncDispose]: () => holder.close(),
  };
}

const wanted = { file_path: 'src/', wait_seconds: 60 };

test('[LOCK-11] command line: says for whom it waits; Ctrl-C leaves the line', async () => {
  using place = scratch();
  await using holder = await holding(place);
  const args = ['lock', 'acquire', 'src/', '--wait-seconds', '60', '--store', place.store, '--agent', 'cli'];
  const child = start(args, { cwd: place.folder });
  const ended = finished(child);
  await holder.stands('cli');
  child.kill('SIGINT');
  const { code, err } = await ended;
  assert.equal(code, 1);
  assert.match(err, /waiting: src\/ overlaps src\/a\.ts, which is locked by holder/);
  await holder.nobodyStands();
});

test('[LOCK-10] [LOCK-11] command line: several paths, shared, served when it is their turn', async () => {
  using place = scratch();
  await using holder = await holding(place);
  const args = ['lock', 'acquire', 'src/', 'web/*.css', '--shared', '--wait-seconds', '60', '--json'];
  const child = start([...args, '--store', place.store, '--agent', 'cli'], { cwd: place.folder });
  const ended = finished(child);
  await holder.stands('cli');
  await holder.release();
  const { code, out, err } = await ended;
  assert.deepEqual([code, err], [0, '']);
  const { locks, waited_seconds } = JSON.parse(out) as { locks: JsonObject[]; waited_seconds: number };
  assert.deepEqual(
    locks.map(({ file_path, shared }) => [file_path, shared]),
    [
      ['src/', true],
      ['web/*.css', true],
    ],
  );
  assert.ok(waited_seconds >= 0);
});

test('[LOCK-11] HTTP: a client that hangs up leaves the line; a server that stops answers who waits', async () => {
  using place = scratch();
  await using holder = await holding(place);
  await using http = await startHttp(place);
  const headers = {
    'content-type': 'application/json',
    'x-agent-id': 'hangs-up',
    'x-api-key': SERVICE_KEY,
  };
  const outgoing = request(`${http.url}/locks/acquire`, { method: 'POST', headers });
  // It was us who hung up.
  outgoing.on('error', () => {});
  outgoing.end(JSON.stringify(wanted));
  await holder.stands('hangs-up');
  outgoing.destroy();
  await holder.nobodyStands();
  const waiting = http.post('/locks/acquire', { ...wanted, agent_id: 'waits' });
  await holder.stands('waits');
  http.child.kill('SIGTERM');
  const { body } = await waiting;
  assert.equal(body.action, 'blocked');
  assert.equal(typeof body.waited_seconds, 'number');
  await holder.nobodyStands();
});

test('[LOCK-11] MCP: a cancelled call leaves the line; so does a client that goes away', async () => {
  using place = scratch();
  await using holder = await holding(place);
  const mcp = await startMcp(place, { env: { AGENT_ID: 'agent' } });
  const cancel = new AbortController();
  const call = (signal?: AbortSignal) =>
    mcp.client.callTool({ name: 'acquire_lock', arguments: wanted }, signal === undefined ? {} : { signal });
  const cancelled = assert.rejects(call(cancel.signal));
  await holder.stands('agent');
  cancel.abort();
  await cancelled;
  await holder.nobodyStands();
  // Answered or not: no client is there to read it.
  const left = call().catch(() => {});
  await holder.stands('agent');
  await mcp.client.close();
  await left;
  await holder.nobodyStands();
});
