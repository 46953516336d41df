import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkNetwork } from '../../../src/features/network/check-network.ts';
import { open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/kernel/limits.ts';
import type { Connection } from '../../../src/runtime/coordinator.ts';
import type { Coxswain } from '../../../src/runtime/coxswain.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';
import { given, NOON_MS } from '../../support/decider-spec.ts';

async function call(connection: Connection, name: string, input: JsonObject): Promise<JsonObject> {
  const operation = operationsByName.get(name);
  assert.ok(operation);
  return await connection.perform(operation, input);
}

async function withCoxswain(
  env: Record<string, string>,
  use: (coxswain: Coxswain) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cox-net-'));
  const coxswain = await open({ store: 'memory:', env, cwd: folder });
  try {
    await use(coxswain);
  } finally {
    await coxswain.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const agent = (coxswain: Coxswain, agent_type: string, agent_id = 'alice') =>
  coxswain.connect({ agent_id, agent_type }, 'agent');
const person = (coxswain: Coxswain) =>
  coxswain.connect({ agent_id: 'person:eve', agent_type: 'person' }, 'person', { shows: 'never' });

async function assign(coxswain: Coxswain, agent_id: string, profile: string): Promise<void> {
  const assigned = await call(person(coxswain), 'assign_profile', { to_agent: agent_id, profile });
  assert.equal(assigned.success, true, String(assigned.message));
}

test('[NET-1] [NET-3] the profiles of the seed reach what their policies say', async () => {
  await withCoxswain({ COORDINATION_API_URL: 'https://coord.example.com' }, async (coxswain) => {
    const table: [agent_type: string, yes: string, no: string][] = [
      ['claude_code_cli', 'example.com coord.example.com', '169.254.169.254 localhost'],
      ['claude_code_web', 'docs.python.org coord.example.com', 'pypi.org example.com s3.amazonaws.com'],
      ['codex_cloud', 'coord.yourdomain.com coord.example.com', 'github.com pypi.org docs.python.org'],
      [
        'strands_agent',
        'pypi.org s3.amazonaws.com github.com coord.example.com',
        'example.com amazonaws.com',
      ],
      ['somebody', 'pypi.org s3.amazonaws.com coord.example.com', 'example.com'],
    ];
    for (const [type, yes, no] of table) {
      const alice = agent(coxswain, type);
      for (const domain of yes.split(' '))
        assert.equal((await call(alice, 'check_network', { domain })).success, true, `${type} ${domain}`);
      for (const domain of no.split(' '))
        assert.equal(
          (await call(alice, 'check_network', { domain })).error,
          'domain_blocked',
          `${type} ${domain}`,
        );
    }
  });
});

test('[NET-2] [NET-5] [PROF-7] at trust 0 an agent reaches its coordinator and nothing else, and each attempt is logged', async () => {
  await withCoxswain({ COORDINATION_API_URL: 'https://coord.example.com' }, async (coxswain) => {
    await assign(coxswain, 'alice', 'untrusted');
    const alice = agent(coxswain, 'somebody');
    assert.equal((await call(alice, 'check_network', { domain: 'coord.example.com' })).success, true);
    const blocked = await call(alice, 'check_network', { domain: 'docs.python.org' });
    assert.deepEqual([blocked.error, blocked.why, blocked.alert], ['domain_blocked', 'no_network', true]);
    const { attempts } = await call(person(coxswain), 'list_network_access', { agent_id: 'alice' });
    assert.deepEqual(
      (attempts as JsonObject[]).map(({ domain, allowed, alert }) => [domain, allowed, alert]),
      [
        ['docs.python.org', false, true],
        ['coord.example.com', true, undefined],
      ],
    );
  });
});

test('[PROF-2] whose profile blocks the network does not even ask', async () => {
  await withCoxswain({}, async (coxswain) => {
    const eve = person(coxswain);
    await call(eve, 'set_profile', { name: 'offline', blocked_operations: ['network'] });
    await assign(coxswain, 'alice', 'offline');
    const answer = await call(agent(coxswain, 'somebody'), 'check_network', { domain: 'pypi.org' });
    assert.deepEqual([answer.error, answer.blocked_by], ['operation_not_permitted', 'network']);
  });
});

test('[NET-3] NETWORK_DEFAULT_POLICY opens the web to local agents, and nothing to those in a cloud', async () => {
  await withCoxswain({ NETWORK_DEFAULT_POLICY: 'allow' }, async (coxswain) => {
    const asked = async (type: string) =>
      (await call(agent(coxswain, type), 'check_network', { domain: 'a.example' })).success;
    assert.deepEqual([await asked('somebody'), await asked('codex_cloud')], [true, false]);
  });
  for (const [name, value] of [
    ['NETWORK_DEFAULT_POLICY', 'perhaps'],
    ['COORDINATION_API_URL', 'no url'],
  ] as const)
    await withCoxswain({ [name]: value }, async (coxswain) => {
      const answer = await call(agent(coxswain, 'somebody'), 'check_network', { domain: 'pypi.org' });
      assert.deepEqual([answer.error, answer.field], ['invalid_input', name]);
    });
});

test('[NET-5] policies are set by a person or at trust 4, have effect at once, and can be taken back', async () => {
  await withCoxswain({}, async (coxswain) => {
    const [alice, boss] = [agent(coxswain, 'somebody'), agent(coxswain, 'strands_agent', 'boss')];
    const claimed = agent(coxswain, 'strands_agent', 'mallory');
    await assign(coxswain, 'boss', 'strands-orchestrator');
    const operator = coxswain.connect({ agent_id: 'cli-root', agent_type: 'cli' }, 'operator');
    const policy = {
      name: 'configurable',
      allow: ['Bücher.example', '*.Example.com:8443'],
      deny: ['a.example.com'],
    };
    for (const who of [alice, operator, claimed])
      assert.equal((await call(who, 'set_network_policy', policy)).error, 'insufficient_trust_level');
    const set = await call(boss, 'set_network_policy', policy);
    assert.deepEqual(
      [set.success, set.source, set.allow],
      [true, 'changed', ['xn--bcher-kva.example', '*.example.com:8443']],
    );
    const reach = async (url: string) => (await call(alice, 'check_network', { url })).success;
    assert.deepEqual(
      await Promise.all(
        [
          'https://bücher.example',
          'https://b.example.com:8443',
          'https://a.example.com:8443',
          'https://pypi.org',
        ].map(reach),
      ),
      [true, true, false, false],
    );
    const shown = await call(alice, 'list_network_policies', {});
    const found = (shown.policies as JsonObject[]).find(({ name }) => name === 'configurable');
    assert.deepEqual([found?.source, found?.deny], ['changed', ['a.example.com']]);
    assert.equal(
      (await call(alice, 'remove_network_policy', { name: 'configurable' })).error,
      'insufficient_trust_level',
    );
    assert.equal(
      (await call(person(coxswain), 'remove_network_policy', { name: 'configurable' })).removed,
      true,
    );
    assert.equal(
      (await call(person(coxswain), 'remove_network_policy', { name: 'configurable' })).removed,
      false,
    );
    assert.equal(await reach('https://pypi.org'), true);
  });
});

test('[NET-1] there is an end to the policies that can be set', async () => {
  await withCoxswain({}, async (coxswain) => {
    const eve = person(coxswain);
    for (let number = 0; number < limits.network_policies_max; number += 1)
      assert.equal((await call(eve, 'set_network_policy', { name: `p${number}` })).success, true);
    assert.equal((await call(eve, 'set_network_policy', { name: 'more' })).error, 'too_large');
    assert.equal((await call(eve, 'set_network_policy', { name: 'p0', allow: ['a.example'] })).success, true);
  });
});

test('[NET-2] an agent sees its own attempts, whoever runs the place sees all', async () => {
  await withCoxswain({}, async (coxswain) => {
    const [alice, bob] = [agent(coxswain, 'somebody'), agent(coxswain, 'somebody', 'bob')];
    await call(alice, 'check_network', { domain: 'pypi.org' });
    await call(bob, 'check_network', { domain: 'evil.example' });
    await call(bob, 'check_network', { domain: 'evil.example', port: -1 });
    const seen = async (who: Connection, input: JsonObject = {}) =>
      ((await call(who, 'list_network_access', input)).attempts as JsonObject[] | undefined)?.map(
        ({ agent_id }) => agent_id,
      );
    assert.deepEqual(await seen(alice), ['alice']);
    assert.deepEqual(await seen(person(coxswain)), ['bob', 'alice']);
    assert.deepEqual(await seen(person(coxswain), { allowed: false }), ['bob']);
    assert.deepEqual(await seen(person(coxswain), { agent_id: 'alice' }), ['alice']);
    assert.equal((await call(alice, 'list_network_access', { agent_id: 'bob' })).error, 'forbidden');
  });
});

test('[NET-2] a blocked attempt is committed, not noted: under no pressure is its row given up', () => {
  const decision = checkNetwork(
    { agent_id: 'alice', agent_type: 'somebody' },
    { domain: 'evil.example', target: { host: 'evil.example', port: 443 } },
    { default: 'deny', coordination: [] },
  );
  const { settled } = given().at(NOON_MS).when(decision);
  assert.equal(settled.verdict, 'commit');
  assert.ok(settled.verdict === 'commit');
  assert.deepEqual(
    [settled.answer.success, settled.answer.allowed, settled.answer.domain, settled.answer.alert],
    [false, false, 'evil.example', true],
  );
  assert.deepEqual(
    decision.needs.keys,
    [{ kind: 'rulebook', id: 'all' }],
    'under the rules of that very moment',
  );
});
