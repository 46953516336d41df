import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Scenario } from './scenario.ts';

/** What agents may reach, as an agent of the default profile (trust 2) sees it. */
export const networkScenarios: Record<string, Scenario> = {
  '[NET-1] [NET-2] an allowed domain is permitted, a blocked one refused, and both are logged': async (
    alice,
    bob,
  ) => {
    const allowed = await alice.call('check_network', { url: 'https://PyPI.org./simple/?token=s3cret' });
    assert.deepEqual([allowed.success, allowed.allowed, allowed.domain], [true, true, 'pypi.org']);
    const blocked = await alice.call('check_network', { url: 'https://user:s3cret@example.com/a' });
    assert.deepEqual([blocked.error, blocked.why], ['domain_blocked', 'invalid_host']);
    const unlisted = await alice.call('check_network', { domain: 'example.com', port: 443 });
    assert.deepEqual(
      [unlisted.success, unlisted.error, unlisted.domain, unlisted.allowed, unlisted.alert],
      [false, 'domain_blocked', 'example.com', false, true],
    );
    const rebound = await alice.call('check_network', { domain: 'pypi.org', addresses: ['169.254.169.254'] });
    assert.deepEqual([rebound.error, rebound.address], ['domain_blocked', '169.254.169.254']);
    const fronted = await alice.call('check_network', { domain: 'pypi.org', server_name: 'example.com' });
    assert.deepEqual([fronted.error, fronted.why], ['domain_blocked', 'other_server_name']);
    await bob.call('check_network', { domain: 'github.com' });

    const { attempts } = await alice.call('list_network_access', { agent_id: 'alice' });
    assert.deepEqual(
      (attempts as JsonObject[]).map(({ domain, allowed: let_, alert }) => [domain, let_, alert ?? false]),
      [
        ['pypi.org', false, true],
        ['pypi.org', false, true],
        ['example.com', false, true],
        ['…@example.com', false, true],
        ['pypi.org', true, false],
      ],
    );
    const let_ = await alice.call('list_network_access', { agent_id: 'alice', allowed: true, limit: 5 });
    assert.equal((let_.attempts as JsonObject[]).length, 1);
    const trail = await alice.call('query_audit', { agent_id: 'alice', operation: 'check_network' });
    assert.equal((trail.entries as JsonObject[]).length, 5);
    assert.ok(!JSON.stringify([trail, attempts]).includes('s3cret'), 'no secret of a URL is kept');
  },

  '[NET-5] policies are listed; whoever has not the trust for it does not change them': async (alice) => {
    const { policies } = await alice.call('list_network_policies', {});
    assert.deepEqual(
      (policies as JsonObject[]).map(({ name, source }) => `${name} ${source}`),
      [
        'configurable',
        'coordination_only',
        'documentation_only',
        'full_access',
        'package_managers_and_docs',
      ].map((name) => `${name} shipped`),
    );
    const set = await alice.call('set_network_policy', { name: 'configurable', allow: ['*'] });
    assert.equal(set.error, 'insufficient_trust_level');
    const removed = await alice.call('remove_network_policy', { name: 'configurable' });
    assert.equal(removed.error, 'insufficient_trust_level');
    const wrong = await alice.call('set_network_policy', { name: 'ours', allow: ['exa*mple.com'] });
    assert.deepEqual([wrong.error, wrong.field], ['invalid_input', 'allow.0']);
  },
};
