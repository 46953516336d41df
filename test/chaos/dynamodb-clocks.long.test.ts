import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import { entities } from '../../src/runtime/entities.ts';
import { testTable } from '../support/dynamodb.ts';
import { until } from '../support/until.ts';
import { type Program, startProgram } from './crew.ts';
import { leaseFaults, readLog } from './log-check.ts';

const HOUR_MS = 3600_000;
const LEASE_MS = 6000;
const EDGE = 'design→code';

/** Agents on machines whose clocks are so far off. */
class Machine implements Disposable {
  readonly #program: Program;

  constructor(store: string, agent_id: string, off_ms: number) {
    this.#program = startProgram('dynamodb-clocks-worker.ts', { store, agent_id, off_ms });
  }

  async call(operation: string, input: JsonObject): Promise<JsonObject> {
    this.#program.child.stdin?.write(`${JSON.stringify({ operation, input })}\n`);
    const { value, done } = await this.#program.lines.next();
    if (done === true) throw new Error(`it ended: ${JSON.stringify(await this.#program.exited)}`);
    return (JSON.parse(value) as { answer: JsonObject }).answer;
  }

  [Symbol.dispose](): void {
    this.#program.child.kill('SIGKILL');
  }
}

test('[CLAIM-10] [LOCK-3] clocks an hour apart: everybody agrees who holds what, no lease ends early, tokens grow', async () => {
  const table = await testTable();
  try {
    using early = new Machine(table.url, 'early', -HOUR_MS);
    using late = new Machine(table.url, 'late', HOUR_MS);
    using right = new Machine(table.url, 'right', 0);
    const machines = [early, late, right];
    // In turns, one granted and two refused each time, however wrong which clock is.
    for (const [turn, holder] of machines.entries()) {
      const asked = { feature: `F-${turn}`, edge: EDGE };
      const granted = await holder.call('claim_edge', asked);
      assert.equal(granted.action, 'edge_started');
      const off_ms = Date.parse(String(granted.claimed_at)) - Date.now();
      assert.ok(Math.abs(off_ms) < 60_000, `${granted.claimed_at}: not by the store's clock`);
      for (const other of machines.filter((each) => each !== holder))
        assert.equal((await other.call('claim_edge', asked)).held_by, granted.agent_id);
    }
    const lease = { file_path: 'a.ts', ttl_minutes: LEASE_MS / 60_000 };
    let token = 0;
    for (const [turn, holder] of machines.entries()) {
      const asked_ms = performance.now();
      const other = machines[(turn + 1) % machines.length] as Machine;
      const granted = await holder.call('acquire_lock', lease);
      assert.equal(granted.action, 'acquired', JSON.stringify(granted));
      assert.ok(Number(granted.fencing_token) > token);
      token = Number(granted.fencing_token);
      const next = await until(async () => {
        const answer = await other.call('acquire_lock', lease);
        return answer.action === 'acquired' ? answer : undefined;
      });
      // The store runs on this machine: its clock is ours. It says its time to the second.
      assert.ok(Date.now() >= Date.parse(String(granted.expires_at)), 'ended before it said');
      assert.ok(performance.now() - asked_ms >= LEASE_MS - 1100, `${performance.now() - asked_ms} ms`);
      assert.ok(Number(next.fencing_token) > token);
      token = Number(next.fencing_token);
      assert.equal((await holder.call('release_lock', { file_path: 'a.ts' })).success, false);
      assert.equal((await other.call('release_lock', { file_path: 'a.ts' })).success, true);
    }
    const { store, project, close } = await open({ store: table.url, presence: 'off' });
    assert.deepEqual(leaseFaults(await readLog(store)), []);
    const replayed = await replay(store, entities, project);
    assert.deepEqual(await compareWithLive(store, entities, project, replayed), []);
    await close();
  } finally {
    await table.drop();
  }
});
