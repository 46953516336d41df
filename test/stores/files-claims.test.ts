import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { NEVER_MS } from '../../src/features/claims/edge-claim.ts';
import { claimEdge } from '../../src/features/claims/operations/claim-edge-operation.ts';
import { convergeEdge } from '../../src/features/claims/operations/keep-claim-operations.ts';
import { assignProfile, setProfile } from '../../src/features/trust/operations/change-profile-operations.ts';
import { open } from '../../src/index.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { isSerialiser, type Serialised } from '../../src/ledger/serialiser.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { agent, type Call } from '../conformance/engine.ts';
import { ask } from '../support/asking.ts';

/** A workspace of a fleet, as other implementations leave one. */
class Fleet {
  readonly folder: string;
  readonly coxswain: Coxswain;

  private constructor(folder: string, coxswain: Coxswain) {
    this.folder = folder;
    this.coxswain = coxswain;
  }

  static async found(lines: readonly JsonObject[] = [], clock: Clock = systemClock): Promise<Fleet> {
    const top = await mkdtemp(join(tmpdir(), 'cox-fleet-'));
    const folder = join(top, '.ai-workspace');
    await mkdir(join(folder, 'events'), { recursive: true });
    if (lines.length > 0)
      await writeFile(
        join(folder, 'events/events.jsonl'),
        lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      );
    return new Fleet(folder, await open({ store: `files:${folder}`, cwd: top, clock }));
  }

  agent(agent_id: string): Call {
    return agent(this.coxswain, agent_id);
  }

  /** What a person gives an agent, or all agents of a type. */
  async profile(to: { to_agent: string } | { to_type: string }, rules: JsonObject): Promise<void> {
    const person = this.coxswain.connect({ agent_id: 'person:pat', agent_type: 'person' }, 'person');
    assert.equal((await person.perform(setProfile, { name: 'guest', ...rules })).success, true);
    assert.equal((await person.perform(assignProfile, { profile: 'guest', ...to })).success, true);
  }

  /** While another process keeps the log to itself. */
  async whileBusy<T>(work: () => Promise<T>): Promise<T> {
    const other = new DatabaseSync(join(this.folder, 'events/.coxswain/state.db'));
    try {
      other.exec('BEGIN IMMEDIATE');
      return await work();
    } finally {
      other.close();
    }
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

  /** As another program does. */
  async append(...lines: readonly JsonObject[]): Promise<void> {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    await appendFile(join(this.folder, 'events/events.jsonl'), text);
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
const line = (event_type: string, agent_id: string): JsonObject => ({
  event_type,
  timestamp: new Date().toISOString(),
  ...EDGE,
  agent_id,
});
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
  const connection = fleet.coxswain.connect({ agent_id: 'ann', session_id: 's' }, 'operator', {
    shows: 'never',
  });
  const asked = { ...EDGE, agent_role: 'full_stack' };
  const answer = await fleet.whileBusy(() => connection.perform(claimEdge, asked));
  assert.equal(answer.action, 'pending', JSON.stringify(answer));
  const [decided] = (await fleet.serialise()).decided;
  assert.equal(decided?.proposal, answer.proposal_id);
  assert.equal(decided?.outcome.action, 'edge_started');
  assert.deepEqual(await fleet.holders(), { 'F-1 design→code': 'ann' });
});

test('[CLAIM-9] a file that claims to be one of ours brings no decision along: it is decided as what it proposes', async () => {
  await using fleet = await Fleet.found();
  await fleet.agent('ann')('claim_edge', { ...EDGE, agent_role: 'observer' });
  await fleet.agent('eve')('claim_edge', { ...EDGE, feature: 'F-2', agent_role: 'observer' });
  const lenient = { agents: {}, single: {}, roles: { observer: ['all'] }, outside_authority_action: 'warn' };
  const forged = async (n: number, name: string, asked: JsonObject, proposed: JsonObject) => {
    const actor = { agent_id: 'eve', agent_type: 'cli', session_id: 'eve' };
    const request = { project: 'default', actor, sequence: 0, operation_id: `o${n}`, input_digest: 'x' };
    const command = { name, args: [{ rules: lenient, ...asked }] };
    await fleet.propose('eve', `${n}.json`, { ...proposed, cox: { request, command } });
  };
  const ann = { agent_id: 'ann', agent_type: 'cli', session_id: 'ann' };
  await forged(1, 'release_edge', { caller: ann, ...EDGE }, { event_type: 'edge_released', ...EDGE });
  const own = { feature: 'F-2', edge: EDGE.edge, evaluators: '1/1' };
  const eve = { ...ann, agent_id: 'eve' };
  await forged(2, 'converge_edge', { caller: eve, ...own }, { event_type: 'edge_converged', ...own });
  const key = { agent_id: 'boss', kind: 'person' };
  await forged(3, 'create_key', key, { event_type: 'edge_claim', feature: 'F-3', edge: EDGE.edge });
  const { decided, set_aside } = await fleet.serialise();
  assert.deepEqual(set_aside, []);
  assert.deepEqual(
    decided.map(({ outcome }) => outcome.action ?? outcome.error),
    ['not_holder', 'convergence_escalated', 'edge_started'],
  );
  assert.deepEqual(await fleet.holders(), {
    'F-1 design→code': 'ann',
    'F-2 design→code': 'eve',
    'F-3 design→code': 'eve',
  });
});

test('[CLAIM-9] [PROF-1] what an agent’s profile forbids it is not given through the inbox either', async () => {
  await using fleet = await Fleet.found();
  await fleet.profile({ to_agent: 'eve' }, { blocked_operations: ['claim_edge'] });
  await fleet.propose('eve', '1.json', claim());
  await fleet.propose('fay', '1.json', claim());
  const { decided } = await fleet.serialise();
  const answers = decided.map(({ agent_id, outcome }) => [agent_id, outcome.error ?? outcome.action]);
  assert.deepEqual(answers, [
    ['eve', 'operation_not_permitted'],
    ['fay', 'edge_started'],
  ]);
});

test('[CLAIM-9] a convergence with a long name of an evaluator is left and decided like any other', async () => {
  await using fleet = await Fleet.found();
  const eve = fleet.coxswain.connect({ agent_id: 'eve', session_id: 's' });
  await ask(eve, 'claim_edge', { ...EDGE, agent_role: 'full_stack' });
  const evaluators = [{ name: 'x'.repeat(150), passed: true }];
  const left = await fleet.whileBusy(() => eve.perform(convergeEdge, { ...EDGE, evaluators }));
  assert.equal(left.action, 'pending', JSON.stringify(left));
  const { decided, set_aside } = await fleet.serialise();
  assert.deepEqual(set_aside, []);
  assert.equal(decided[0]?.outcome.action, 'edge_converged');
  assert.deepEqual(await fleet.holders(), {});
});

/** As if `cox` had left it in this session. */
const leftIn = (session_id: string, agent_type: string) => ({
  cox: {
    request: {
      actor: { agent_id: 'eve', agent_type, session_id },
      ...{ project: 'default', sequence: 1, operation_id: `${session_id}-${agent_type}`, input_digest: 'x' },
    },
  },
});

test('[CLAIM-9] [PROF-3] who proposes by files has no session whose time could be up', async () => {
  const clock = { ...systemClock, forward_ms: 0, now_ms: () => systemClock.now_ms() + clock.forward_ms };
  await using fleet = await Fleet.found([], clock);
  await fleet.profile({ to_agent: 'eve' }, { resource_limits: { max_execution_time: '1m' } });
  for (const feature of ['F-1', 'F-2']) {
    await fleet.propose('eve', `${feature}.json`, claim({ feature }));
    const [decided] = (await fleet.serialise()).decided;
    assert.equal(decided?.outcome.action, 'edge_started', JSON.stringify(decided));
    clock.forward_ms += 3_600_000;
  }
});

test('[CLAIM-9] [PROF-1] a file names no session and no type that its agent does not have now', async () => {
  await using fleet = await Fleet.found();
  await fleet.profile({ to_type: 'foreign' }, { blocked_operations: ['claim_edge'] });
  const here = (session_id: string) =>
    fleet.coxswain.connect({ agent_id: 'eve', agent_type: 'codex', session_id });
  await ask(here('s'), 'claims_status');
  await ask(here('over'), 'claims_status');
  await ask(here('over'), 'end_session');
  await ask(
    fleet.coxswain.connect({ agent_id: 'fay', agent_type: 'codex', session_id: 'fays' }),
    'claims_status',
  );
  const decide = async (session_id: string, agent_type: string) => {
    await fleet.propose('eve', '1.json', claim(leftIn(session_id, agent_type)));
    const [decided] = (await fleet.serialise()).decided;
    return decided?.outcome.error ?? decided?.outcome.action;
  };
  for (const [session, type] of [
    ['fresh', 'codex'],
    ['s', 'cli'],
    ['over', 'codex'],
    ['fays', 'codex'],
  ] as const)
    assert.equal(await decide(session, type), 'operation_not_permitted', session);
  assert.equal(await decide('s', 'codex'), 'edge_started');
  const { instance_id, cox } = (await fleet.lines()).at(-1) as { instance_id: string; cox: JsonObject };
  assert.deepEqual([instance_id, (cox.op as JsonObject).agent_type], ['s', 'codex']);
});

test('[CLAIM-9] who repeats a call that was left gets its answer, whether its session is known or not', async () => {
  await using fleet = await Fleet.found();
  for (const [feature, shows] of [
    ['F-1', 'always'],
    ['F-2', 'never'],
  ] as const) {
    const eve = fleet.coxswain.connect({ agent_id: 'eve', session_id: feature }, 'operator', { shows });
    await ask(eve, 'claims_status');
    const asked = { ...EDGE, feature, operation_id: `claim-${feature}` };
    const left = await fleet.whileBusy(() => eve.perform(claimEdge, asked));
    assert.equal(left.action, 'pending', JSON.stringify(left));
    const [decided] = (await fleet.serialise()).decided;
    assert.equal(decided?.outcome.action, 'edge_started');
    assert.deepEqual(await eve.perform(claimEdge, asked), decided?.outcome);
  }
});

test('[CLAIM-2] a line of another program takes nothing from who holds it here', async () => {
  await using fleet = await Fleet.found();
  const ann = fleet.agent('ann');
  await ann('claim_edge', { ...EDGE, agent_role: 'full_stack' });
  await fleet.append(line('edge_started', 'bob'));
  assert.deepEqual(await fleet.holders(), { 'F-1 design→code': 'ann' });
  assert.equal((await ann('converge_edge', { ...EDGE, evaluators: '1/1' })).action, 'edge_converged');
});

test('[CLAIM-2] what its log had only asked for is its own once a call of ours went by it', async () => {
  const calls: [name: string, input: JsonObject, answer: string][] = [
    ['claim_edge', { agent_role: 'observer' }, 'edge_started'],
    ['heartbeat_claim', {}, 'true'],
    ['heartbeat_claim', { iteration: 2 }, 'true'],
    ['converge_edge', { agent_role: 'observer', evaluators: '1/1' }, 'convergence_escalated'],
  ];
  for (const [name, input, expected] of calls) {
    await using fleet = await Fleet.found([line('edge_claimed', 'ann')]);
    const answer = await fleet.agent('ann')(name, { ...EDGE, ...input });
    assert.equal(String(answer.action ?? answer.success), expected);
    await fleet.append(line('edge_started', 'bob'), line('claim_rejected', 'ann'));
    assert.deepEqual(await fleet.holders(), { 'F-1 design→code': 'ann' }, name);
  }
});

test('[CLAIM-2] a claim without an end is over by no time that a line may say', async () => {
  await using fleet = await Fleet.found();
  await fleet.agent('ann')('claim_edge', { ...EDGE, agent_role: 'full_stack' });
  await fleet.append({ ...line('edge_started', 'bob'), timestamp: NEVER_MS });
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
