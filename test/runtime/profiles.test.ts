import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeHandoff } from '../../src/features/handoffs/commands.ts';
import { exportProfiles } from '../../src/features/trust/cli/profile-export.ts';
import { assignProfile } from '../../src/features/trust/commands.ts';
import { governedBy } from '../../src/features/trust/governed.ts';
import { nativeEngine } from '../../src/features/trust/permit.ts';
import { submitChangeset } from '../../src/features/verification/commands.ts';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createIds, systemRandom } from '../../src/kernel/ids.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Request } from '../../src/ledger/log.ts';
import { LoadedSet } from '../../src/ledger/proposal.ts';
import { commands } from '../../src/runtime/commands.ts';
import type { Showing } from '../../src/runtime/coordinator-context.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';
import type { Authority } from '../../src/runtime/operation.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { MemoryStore } from '../../src/stores/memory/store.ts';
import { main } from '../../src/transports/cli/main.ts';
import { fakeTerminal } from '../transports/support.ts';

type Call = (name: string, input?: JsonObject) => Promise<JsonObject>;

function caller(
  coxswain: Coxswain,
  agent_id: string,
  agent_type: string,
  authority: Authority = 'operator',
  door?: Showing['door'],
): Call {
  const connection = coxswain.connect({ agent_id, agent_type, session_id: `s-${agent_id}` }, authority, {
    door,
  });
  return (name, input = {}) => {
    const operation = operationsByName.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return connection.perform(operation, input);
  };
}

const NOTHING_LEFT = {
  summary: 'done',
  completed_work: [],
  in_progress: [],
  decisions: [],
  next_steps: [],
  relevant_files: [],
};

const request = (agent_id: string, operation: string): Request => ({
  project: 'p',
  actor: { agent_id, agent_type: 'test', session_id: 's' },
  sequence: 1,
  operation,
  parameters: {},
  operation_id: createIds(systemClock, systemRandom).uuid(),
  input_digest: '',
  started_ms: 0,
});

test('[PROF-2] a profile that is taken away between the decision and its commit takes the commit with it', async () => {
  const ids = createIds(systemClock, systemRandom);
  let before: (() => Promise<void>) | undefined;
  const store: MemoryStore = new MemoryStore(
    { entities, clock: systemClock, random: systemRandom, ids },
    {
      async at(point) {
        if (point !== 'before_commit') return;
        const act = before;
        before = undefined;
        await act?.();
      },
    },
  );
  const asked = request('alice', 'write_handoff');
  // One that does not look at the rules itself.
  const decision = writeHandoff('h1', asked.actor, NOTHING_LEFT);
  const demand = { actor: asked.actor, operation: 'write_handoff', permission: 'write' as const };
  before = async () => {
    const assignment = { agent_id: 'alice', profile: 'reviewer' } as const;
    await store.run(
      request('person:ann', 'assign_profile'),
      assignProfile(assignment, { agent_id: 'person:ann', person: true }),
    );
  };
  const outcome = await store.run(asked, governedBy(decision, demand, nativeEngine));
  assert.equal(outcome.status, 'refused');
  assert.equal(outcome.status === 'refused' && outcome.refusal.error, 'operation_not_permitted');
  const { entries } = await store.read('p', 0, 100);
  assert.deepEqual(
    entries.flatMap(({ events }) => events.map(({ type }) => type)),
    ['profile_assigned'],
  );
});

test('[PROF-2] a governed decision is built again from its command, as whoever sits does it', () => {
  const { actor } = request('alice', 'submit_changeset');
  const inner = submitChangeset('c1', actor, { files: ['a.ts'] });
  const demand = { actor: { ...actor, agent_type: 'reviewer' }, operation: 'submit_changeset' };
  const { command } = governedBy(inner, { ...demand, uses: { modifies: ['a.ts'] } }, nativeEngine);
  const { name, args } = JSON.parse(JSON.stringify(command)) as { name: string; args: never[] };
  const rebuilt = commands.get(name)?.(...args);
  assert.ok(rebuilt !== undefined);
  const loaded = new LoadedSet();
  for (const key of rebuilt.needs.keys ?? []) loaded.put(key, undefined);
  const verdict = rebuilt.decide(loaded, 0);
  assert.equal(verdict.verdict === 'refuse' && verdict.refusal.error, 'operation_not_permitted');
});

test('[PROF-6] agents from elsewhere do not come in by local ways, nor local ones over plain HTTP', async () => {
  const coxswain = await open({ store: 'memory:', env: {} });
  const tries: [type: string, door: Showing['door'], passes: boolean][] = [
    ['codex_cloud', 'http', true],
    ['codex_cloud', 'cli', false],
    ['claude_code_web', 'hook', false],
    ['claude-code', 'mcp', true],
    ['claude_code_cli', 'http', false],
    // What clients, and the original server, call it says nothing about how it comes in.
    ['claude-code', 'http', true],
    ['claude_code', 'http', true],
    ['strands_agent', 'mcp', false],
  ];
  for (const [type, door, passes] of tries) {
    const agent = caller(coxswain, `${type}-${door}`, type, 'operator', door);
    for (const [name, input] of [
      ['check_locks', {}],
      ['acquire_lock', { file_path: `${type}-${door}.ts` }],
    ] satisfies [string, JsonObject][]) {
      const answer = await agent(name, input);
      assert.equal(answer.error, passes ? undefined : 'operation_not_permitted', `${type} ${door} ${name}`);
    }
  }
  await coxswain.close();
});

test('[PROF-5] POLICY_ENGINE=cedar decides in the same loop, with the same answers, and says so', async () => {
  const answers: JsonObject[][] = [];
  for (const engine of ['native', 'cedar']) {
    const coxswain = await open({ store: 'memory:', env: { POLICY_ENGINE: engine } });
    const agent = caller(coxswain, 'web', 'claude_code_web', 'agent', 'http');
    const explained = await agent('check_policy', { operation: 'write' });
    assert.equal(explained.engine, engine);
    answers.push([
      await agent('submit_changeset', { file_paths: ['a.ts'] }),
      await agent('set_profile', { name: 'x' }),
      { allowed: explained.allowed, reason: explained.reason },
    ]);
    await coxswain.close();
  }
  assert.deepEqual(answers[1], answers[0]);
  await assert.rejects(
    open({ store: 'memory:', env: { POLICY_ENGINE: 'opa' } }),
    /POLICY_ENGINE: expected native or cedar/,
  );
  await assert.rejects(
    open({ store: 'memory:', env: { PROFILES_DEFAULT_TRUST: '4' } }),
    /PROFILES_DEFAULT_TRUST/,
  );
});

test('[PROF-7] an agent’s own environment takes trust away and never gives any', async () => {
  const coxswain = await open({ store: 'memory:', env: { PROFILES_DEFAULT_TRUST: '3' } });
  const trust = async (door: Showing['door']) =>
    (await caller(coxswain, `a-${door}`, 'my_bot', 'operator', door)('get_my_profile')).trust_level;
  assert.deepEqual([await trust('cli'), await trust('http')], [2, 3]);
  await coxswain.close();
});

test('[PROF-7] PROFILES_DEFAULT_TRUST is the trust by which networks, guardrails and verification decide too', async () => {
  const withDefault = async (trust: string, door: Showing['door'], use: (call: Call) => Promise<void>) => {
    const coxswain = await open({ store: 'memory:', env: { PROFILES_DEFAULT_TRUST: trust } });
    await use(caller(coxswain, 'bot', 'my_bot', 'agent', door));
    await coxswain.close();
  };
  await withDefault('0', 'mcp', async (call) => {
    const { error, why } = await call('check_network', { domain: 'github.com' });
    assert.deepEqual([error, why], ['domain_blocked', 'no_network']);
  });
  await withDefault('1', 'mcp', async (call) => {
    const lowered: unknown[] = [];
    for (const branch of ['a', 'b', 'c', 'd', 'e']) {
      const answer = await call('check_guardrails', { operation_text: `git push --force origin ${branch}` });
      lowered.push(answer.trust_lowered_to);
    }
    assert.deepEqual(lowered, [undefined, undefined, undefined, undefined, 0], 'one less than it had');
    assert.equal((await call('get_my_profile')).trust_level, 0);
  });
  await withDefault('3', 'http', async (call) => {
    const { trust_level, plan } = await call('submit_changeset', { file_paths: ['src/a.ts'] });
    const statuses = (plan as JsonObject[]).map(({ status }) => status);
    assert.deepEqual([trust_level, statuses], [3, ['skipped', 'skipped']]);
  });
});

test('[PROF-1] rules are exported as the file that applies them, and applied from it at the command line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cox-profiles-'));
  try {
    const store = `sqlite:${join(folder, 'cox.db')}`;
    const coxswain = await open({ store, env: {} });
    const person = caller(coxswain, 'person:ann', 'person', 'person');
    await person('set_profile', { name: 'admin', trust_level: 4 });
    await person('assign_profile', { profile: 'admin', to_agent: 'root-agent' });
    await coxswain.close();
    const run = async (...words: string[]) => {
      const { terminal, written } = fakeTerminal(folder, { COX_STORE: store, AGENT_ID: 'root-agent' });
      const code = await main(words, terminal);
      return { code, out: written.out };
    };
    writeFileSync(join(folder, 'rules.yaml'), 'profiles:\n  docs: { trust_level: 1, connection: any }\n');
    const applied = await run('profile', 'apply', 'rules.yaml', '--json');
    assert.deepEqual([applied.code, (JSON.parse(applied.out) as JsonObject).profiles], [0, ['docs']]);
    const { out } = await run('profile', 'export');
    assert.match(out, /^ {2}docs:$/m);
    const other = await open({ store: 'memory:', env: {} });
    await caller(other, 'person:ann', 'person', 'person')('apply_profiles', { document: out });
    assert.equal((await exportProfiles(other, false)).document, out);
    await other.close();
    assert.equal((await run('profile', 'apply', 'nowhere.yaml', '--json')).code, 2);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
