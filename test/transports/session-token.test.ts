import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { ALICE, type ApiDoor, SERVICE, settableClock, startApi, withKey } from './api.ts';

const bearer = (token: unknown) => ({ authorization: `Bearer ${token}` });

async function register(door: ApiDoor, headers: Record<string, string>): Promise<JsonObject> {
  return (await door.post('/sessions/register', { capabilities: ['review'] }, headers)).body;
}

test('[HTTP-2] [SESS-1] a session token acts as its session and as no other', async () => {
  const clock = settableClock();
  await using door = await startApi({ clock });
  const as = { ...withKey(ALICE), 'x-session-id': 'worktree-1' };
  const { session_token, session_id } = await register(door, as);
  assert.equal(session_id, 'worktree-1');
  const acquired = await door.post('/locks/acquire', { file_path: 'a.ts' }, bearer(session_token));
  assert.equal(acquired.status, 200);
  const { body } = await door.post('/locks/check', {}, bearer(session_token));
  const [lock] = body.locks as JsonObject[];
  assert.deepEqual([lock?.locked_by, lock?.agent_type, lock?.session_id], ['alice', 'codex', 'worktree-1']);
  const others: Record<string, string>[] = [{ 'x-session-id': 'worktree-2' }, { 'x-agent-id': 'bob' }];
  for (const other of others) {
    const spoofed = await door.post('/locks/check', {}, { ...bearer(session_token), ...other });
    assert.equal(spoofed.status, 403, JSON.stringify(other));
  }
  const forged = String(session_token).replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  assert.equal((await door.post('/locks/check', {}, bearer(forged))).status, 401);
});

test('[HTTP-2] [SESS-1] a token ends with its session, and with the next registration', async () => {
  const clock = settableClock();
  await using door = await startApi({ clock });
  const first = await register(door, withKey(ALICE));
  const ask = async (token: unknown) => (await door.post('/locks/check', {}, bearer(token))).status;
  assert.equal(await ask(first.session_token), 200);
  const second = await register(door, withKey(ALICE));
  clock.forward_ms += 3_000;
  assert.deepEqual([await ask(first.session_token), await ask(second.session_token)], [401, 200]);
  await door.post('/sessions/end', {}, withKey(ALICE));
  clock.forward_ms += 3_000;
  assert.equal(await ask(second.session_token), 401);
});

test('[HTTP-2] the secret of a token is in no row and no record, and a repeated call gives none away', async () => {
  await using door = await startApi();
  const as = { ...withKey(SERVICE), 'x-agent-id': 'eve', 'idempotency-key': 'once' };
  const first = await register(door, as);
  const again = await register(door, as);
  assert.equal(again.session_token, undefined);
  const secret = String(first.session_token).split('.')[1] ?? '';
  assert.ok(secret.length > 40);
  const { store, project } = door.api.coxswain;
  const { entries } = await store.read(project, 0, 1000);
  assert.ok(entries.some(({ operation }) => operation === 'register_session'));
  assert.ok(!JSON.stringify(entries).includes(secret));
});
