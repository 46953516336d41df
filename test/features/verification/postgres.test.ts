import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startVerification } from '../../../src/features/verification/operations/verification-operations.ts';
import { applyVerificationPolicies } from '../../../src/features/verification/receive-change.ts';
import { open } from '../../../src/index.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';
import { ask } from '../../stores/postgres-support.ts';
import { testDatabase } from '../../support/postgres.ts';
import { policy } from './support.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;

before(async () => {
  database = await testDatabase();
});

after(() => database.drop());

test('[VER-2] postgres: changesets, their results and the policies stand under the names of the seed', async () => {
  const coxswain = await open({ store: database.url, env: {} });
  const commit_sha = 'd'.repeat(40);
  try {
    const alice = coxswain.connect({ agent_id: 'alice', agent_type: 'test', session_id: 's' });
    const perform = async (name: string, input: object) => {
      const operation = operationsByName.get(name);
      assert.ok(operation);
      return await alice.perform(operation, input);
    };
    const person = coxswain.connect({ agent_id: 'person:ann', agent_type: 'person' }, 'person');
    const own = policy('true', { required_environment: ['DATABASE_URL'] });
    await person.performBuilt(applyVerificationPolicies, { policies: [own] });
    const file_paths = ['src/a.ts', '.env'];
    const { changeset_id } = await perform('submit_changeset', { file_paths, commit_sha });
    await perform('submit_changeset', { file_paths: ['b.ts'] });
    await perform('verify_changeset', { changeset_id });
    const run_id = `${commit_sha}#checks`;
    const { secret } = await person.perform(startVerification, { run_id });
    await perform('record_verification', { run_id, secret, status: 'failed', exit_code: 2, output: 'red' });

    const changesets = await ask(database.url, 'SELECT * FROM coxswain.changesets ORDER BY created_at');
    assert.deepEqual(
      changesets.map(({ agent_id, files, status }) => [agent_id, files, status]),
      [
        ['alice', file_paths, 'failed'],
        ['alice', ['b.ts'], 'submitted'],
      ],
    );
    const [result] = await ask(
      database.url,
      `SELECT * FROM coxswain.verification_results WHERE id = '${run_id}'`,
    );
    assert.deepEqual(
      [
        result?.changeset_id,
        result?.tier,
        result?.executor,
        result?.status,
        result?.exit_code,
        result?.output,
      ],
      [changeset_id, 2, 'inline', 'failed', 2, 'red'],
    );
    const policies = await ask(database.url, 'SELECT * FROM coxswain.verification_policies');
    assert.deepEqual(
      policies.map(({ name, tier, required_env }) => [name, tier, required_env]),
      [['checks', 2, ['DATABASE_URL']]],
    );
  } finally {
    await coxswain.close();
  }
});
