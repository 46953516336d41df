import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { checkNetwork } from '../../src/features/network/operations/network-operations.ts';
import { open } from '../../src/index.ts';
import { testDatabase } from '../support/postgres.ts';
import { ask } from './postgres-support.ts';

test('[NET-2] [STORE-5] postgres: network_access_log has every attempt, with its alert', async () => {
  const database = await testDatabase();
  const coxswain = await open({ store: database.url, project: 'p', env: {}, cwd: tmpdir() });
  try {
    const alice = coxswain.connect({ agent_id: 'alice', agent_type: 'somebody', session_id: 's' }, 'agent');
    await alice.perform(checkNetwork, { url: 'https://pypi.org/simple?s3cret' });
    await alice.perform(checkNetwork, { url: 'https://evil.example/s3cret' });
    await alice.perform(checkNetwork, { domain: 'evil.example', port: 0 });
    const rows = await ask(
      database.url,
      `SELECT project, agent_id, session_id, domain, url, allowed, alert, policy_id, reason, port,
        accessed_at > now() - interval '1 hour' AS recent
       FROM coxswain.network_access_log ORDER BY accessed_at, length(id), id`,
    );
    const shared = {
      project: 'p',
      agent_id: 'alice',
      session_id: 's',
      policy_id: 'configurable',
      port: 443,
      recent: true,
    };
    assert.deepEqual(rows, [
      {
        ...shared,
        domain: 'pypi.org',
        url: 'https://pypi.org',
        allowed: true,
        alert: false,
        reason: 'allowed',
      },
      {
        ...shared,
        domain: 'evil.example',
        url: 'https://evil.example',
        allowed: false,
        alert: true,
        reason: 'not_listed',
      },
    ]);
  } finally {
    await coxswain.close();
    await database.drop();
  }
});
