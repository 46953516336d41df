import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Scene } from './suite.ts';

export function keyCases(scene: Scene): void {
  const at = scene.engine;

  test(`[HTTP-2] ${at}: one operation id from eight callers makes one key, and one of them learns it`, async () => {
    const operator = scene.agent('operator');
    const input = { agent: 'alice', operation_id: 'one-key' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => operator('create_key', input)));
    assert.equal(new Set(answers.map(({ key_id }) => key_id)).size, 1);
    assert.equal(answers.filter(({ key }) => key !== undefined).length, 1);
    const { keys } = await operator('list_keys');
    assert.equal((keys as JsonObject[]).filter(({ agent_id }) => agent_id === 'alice').length, 1);
  });

  test(`[HTTP-2] ${at}: eight revoke a key at once; it is revoked once, and all are told so`, async () => {
    const operator = scene.agent('operator');
    const { key_id } = await operator('create_key', { service: true });
    const answers = await Promise.all(Array.from({ length: 8 }, () => operator('revoke_key', { key_id })));
    assert.equal(new Set(answers.map(({ revoked_at }) => revoked_at)).size, 1);
    assert.ok(answers.every(({ success, status }) => success === true && status === 'revoked'));
    const { store, project } = scene.coxswain();
    const { entries } = await store.read(project, 0, 1000);
    const revoked = entries
      .flatMap(({ events }) => events)
      .filter(({ id, type }) => id === key_id && type === 'key_revoked');
    assert.equal(revoked.length, 1);
    assert.equal((await operator('revoke_key', { key_id: '000000000000' })).error, 'unknown_key');
  });
}
