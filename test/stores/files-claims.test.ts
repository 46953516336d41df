import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Coxswain, open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { isSerialiser, type Serialised } from '../../src/ledger/serialiser.ts';
import { agent, type Call } from '../conformance/engine.ts';

/** A workspace of a fleet, as other implementations leave one. */
class Fleet {
  readonly folder: string;
  readonly coxswain: Coxswain;

  private constructor(folder: string, coxswain: Coxswain) {
    this.folder = folder;
    this.coxswain = coxswain;
  }

  static async found(lines: readonly JsonObject[] = []): Promise<Fleet> {
    const top = await mkdtemp(join(tmpdir(), 'cox-fleet-'));
    const folder = join(top, '.ai-workspace');
    await mkdir(join(folder, 'events'), { recursive: true });
    if (lines.length > 0)
      await writeFile(
        join(folder, 'events/events.jsonl'),
        lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      );
    return new Fleet(folder, await open({ store: `files:${folder}`, cwd: top }));
  }

  agent(agent_id: string): Call {
    return agent(this.coxswain, agent_id);
  }

  async propose(agent_id: string, name: string, proposal: JsonObject | string): Promise<void> {
    const folder = join(this.folder, 'events/inbox', agent_id);
    await mkdir(folder, { recursive: true });
    const text = typeof proposal === 'string' ? proposal : JSON.stringify({ agent_id, ...proposal });
    await writeFile(join(folder, name), text);
  }

  async serialise(): Promise<Serialised> {
    const { store } = this.coxswain;
    assert.ok(isSerialiser(store));
    return await store.serialise();
  }

  async lines(): Promise<JsonObject[]> {
    const text = await readFile(join(this.folder, 'events/events.jsonl'), 'utf8');
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);
  }

  async holders(): Promise<Record<string, unknown>> {
    const { claims } = await this.agent('looker')('claims_status');
    return Object.fromEntries(
      (claims as JsonObject[]).map(({ feature, edge, agent_id }) => [`${feature} ${edge}`, agent_id]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.coxswain.close();
    await rm(join(this.folder, '..'), { recursive: true, force: true });
  }
}

const EDGE = { feature: 'F-1', edge: 'design→code' };
const claim = (fields: JsonObject = {}) => ({
  event_type: 'edge_claim',
  timestamp: '2026-02-21T10:00:00Z',
  agent_role: 'full_stack',
  ...EDGE,
  ...fields,
});

test('[CLAIM-9] proposals are decided by agent, then by sequence, then by name; converge then claim in one pass', async () => {
  await using fleet = await Fleet.found();
  // Staged in another order than the one they are decided in.
  await fleet.propose('b-01', '20260221T100000000001_edge_claim.json', claim());
  await fleet.propose('a-01', '20260221T100000000009_edge_converged.json', {
    ...EDGE,
    event_type: 'edge_converged',
    edge: 'design_code',
    sequence: 2,
  });
  await fleet.propose('a-01', '20260221T100000000010_edge_claim.json', claim({ sequence: 1 }));
  await fleet.propose('c-01', '20260221T100000000000_edge_claim.json', claim());
  const { taken, decided } = await fleet.serialise();
  assert.equal(taken, 4);
  assert.deepEqual(
    decided.map(({ agent_id, event_type, outcome }) => [agent_id, event_type, outcome.action]),
    [
      ['a-01', 'edge_claim', 'edge_started'],
      ['a-01', 'edge_converged', 'edge_converged'],
      ['b-01', 'edge_claim', 'edge_started'],
      ['c-01', 'edge_claim', 'claim_rejected'],
    ],
  );
  const types = (await fleet.lines()).map(({ event_type, agent_id }) => `${event_type} ${agent_id}`);
  assert.deepEqual(types, [
    'edge_started a-01',
    'edge_converged a-01',
    'edge_started b-01',
    'claim_rejected c-01',
  ]);
  assert.equal((await fleet.serialise()).taken, 0, 'and none is left');
});

test('[CLAIM-9] [CLAIM-1] whoever claims decides first what was proposed before; edge_claim stands in no log', async () => {
  await using fleet = await Fleet.found();
  await fleet.propose('z-99', '1_edge_claim.json', claim());
  const answer = await fleet.agent('ann')('claim_edge', EDGE);
  assert.equal(answer.action, 'claim_rejected');
  assert.equal(answer.held_by, 'z-99');
  assert.ok((await fleet.lines()).every(({ event_type }) => event_type !== 'edge_claim'));
});

test('[CLAIM-9] converging what nobody started is refused; what is malformed is set aside with its reason', async () => {
  await using fleet = await Fleet.found();
  await fleet.propose('a-01', '1.json', { ...EDGE, event_type: 'edge_converged' });
  await fleet.propose('a-01', '2.json', '{"event_type":"edge_claim","feature":"F-1","edge":""}');
  await fleet.propose('a-01', '3.json', claim({ agent_id: 'b-01' }));
  const { decided, set_aside } = await fleet.serialise();
  assert.deepEqual(
    decided.map(({ outcome }) => outcome.error),
    ['edge_not_started'],
  );
  assert.equal(set_aside.length, 2);
  const kept = await readdir(join(fleet.folder, 'events/set-aside/a-01'));
  assert.deepEqual(kept.sort(), ['2.json', '2.json.reason.txt', '3.json', '3.json.reason.txt']);
});

test('[CLAIM-9] a deleted inbox loses only what was not yet decided', async () => {
  await using fleet = await Fleet.found();
  await fleet.propose('a-01', '1.json', claim());
  await fleet.serialise();
  await fleet.propose('b-01', '1.json', claim({ feature: 'F-2' }));
  await rm(join(fleet.folder, 'events/inbox'), { recursive: true });
  assert.equal((await fleet.serialise()).taken, 0);
  assert.deepEqual(await fleet.holders(), { 'F-1 design→code': 'a-01' });
  assert.equal((await fleet.agent('b-01')('claim_edge', { ...EDGE, feature: 'F-2' })).success, true);
});

test('[CLAIM-9] while nobody can write the answer is pending, with the proposal it waits as; then it is decided', async () => {
  await using fleet = await Fleet.found();
  await fleet.holders();
  const other = new DatabaseSync(join(fleet.folder, 'events/.coxswain/state.db'));
  other.exec('BEGIN IMMEDIATE');
  const connection = fleet.coxswain.connect({ agent_id: 'ann', session_id: 's' }, 'operator', {
    shows: 'never',
  });
  const { claimEdge } = await import('../../src/operations/claim-edge.ts');
  const answer = await connection.perform(claimEdge, { ...EDGE, agent_role: 'full_stack' });
  other.exec('ROLLBACK');
  other.close();
  assert.equal(answer.action, 'pending', JSON.stringify(answer));
  const [decided] = (await fleet.serialise()).decided;
  assert.equal(decided?.proposal, answer.proposal_id);
  assert.equal(decided?.outcome.action, 'edge_started');
  assert.deepEqual(await fleet.holders(), { 'F-1 design→code': 'ann' });
});

test('[CLAIM-14] a workspace of all three shapes opens, replays and goes on', async () => {
  const lineage = (eventType: string, type: string, payload: JsonObject) => ({
    eventType,
    eventTime: '2026-02-21T10:00:03Z',
    run: { facets: { 'sdlc:event_type': { type }, 'sdlc:payload': payload } },
    job: { namespace: 'aisdlc://demo', name: 'x' },
  });
  const flat = { timestamp: '2026-02-21T10:00:00Z', project: 'demo' };
  await using fleet = await Fleet.found([
    { ...flat, event_type: 'project_initialized', data: {} },
    {
      ...flat,
      event_type: 'edge_started',
      feature: 'F-1',
      edge: 'design→code',
      agent_id: 'a',
      data: { granted_to: 'a' },
    },
    { ...flat, event_type: 'edge_started', data: { agent_id: 'b', feature: 'F-2', edge: 'design_code' } },
    lineage('START', 'EdgeStarted', { feature: 'F-3', edge: 'design→code', agent_id: 'c' }),
    // Only asked for, and held already: what a line means hangs on those before it.
    { ...flat, event_type: 'edge_claimed', feature: 'F-1', edge: 'design→code', agent_id: 'e', data: {} },
    {
      ...flat,
      event_type: 'edge_converged',
      feature: 'F-2',
      edge: 'design→code',
      agent_id: 'b',
      data: { evaluators: '2/2' },
    },
  ]);
  assert.deepEqual(await fleet.holders(), { 'F-1 design→code': 'a', 'F-3 design→code': 'c' });
  assert.equal((await fleet.agent('d')('claim_edge', EDGE)).held_by, 'a');
  assert.equal((await fleet.agent('d')('claim_edge', { ...EDGE, feature: 'F-2' })).success, true);
  assert.equal((await fleet.lines()).length > 6, true);
});
