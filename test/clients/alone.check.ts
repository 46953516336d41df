import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acquireLock } from '../../src/features/locks/operations/acquire-lock-operation.ts';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import { makePlace, type Place } from './place.ts';
import { ask, Turn } from './turn.ts';
import { installed } from './vendors/all.ts';
import type { Client } from './vendors/client.ts';
import { codex, codexInPrograms } from './vendors/codex.ts';
import { wireUp } from './wire-up.ts';

const FILES = { 'asked.txt': 'first\n', 'taken.txt': 'first\n' };

async function locksIn(place: Place): Promise<JsonObject[]> {
  return (await place.cox('lock', 'check')).locks as JsonObject[];
}

/** One lock asked for through MCP, one taken by the hook before an edit. */
async function takeTwo(client: Client, turn: Turn, place: Place): Promise<void> {
  const asked = await turn.call(client.mcp('acquire_lock', { file_path: 'asked.txt', reason: 'mine' }));
  assert.match(asked.result, /\\?"success\\?":\s?true/);
  await turn.call(...client.edit({ path: 'taken.txt', before: 'first', after: 'second' }, place));
  assert.equal(`${place.read('taken.txt')}`, 'second\n');
}

async function oneAgent(client: Client): Promise<void> {
  await using place = await makePlace(FILES);
  await wireUp(place, [client]);
  await using turn = await Turn.start(client, place);
  await takeTwo(client, turn, place);
  const locks = await locksIn(place);
  assert.deepEqual(locks.map(({ file_path }) => file_path).sort(), ['asked.txt', 'taken.txt']);
  assert.deepEqual([...new Set(locks.map(({ agent_type }) => agent_type))], [client.name]);
  assert.equal(new Set(locks.map(({ locked_by }) => locked_by)).size, 1, JSON.stringify(locks));
  // What it holds is no obstacle to itself, whichever way it holds it and whichever tool it uses.
  await turn.call(...client.edit({ path: 'asked.txt', before: 'first', after: 'second' }, place));
  await turn.call(client.shell('echo third > asked.txt'));
  assert.equal(`${place.read('asked.txt')}`, 'third\n');
  const { code, output } = await turn.end();
  assert.equal(code, 0, output);
  assert.deepEqual(await locksIn(place), [], 'its locks outlive it');
}

/** Another agent wants the file, so many minutes from now. */
async function askedLater(place: Place, minutes: number): Promise<JsonObject> {
  const clock = { ...systemClock, now_ms: () => systemClock.now_ms() + minutes * 60_000 };
  const coxswain = await open({ cwd: place.repo, env: place.env, clock });
  try {
    return await coxswain.connect({ agent_id: 'later' }).perform(acquireLock, { file_path: 'asked.txt' });
  } finally {
    await coxswain.close();
  }
}

for (const client of installed) {
  test(`[HOOK-3] ${client.name}: its own list shows the server as it should be`, async () => {
    await using place = await makePlace(FILES);
    await wireUp(place, [client]);
    assert.match(await ask(client, place, client.list.words), client.list.connected);
  });

  test(`[HOOK-1] ${client.name}: MCP server and hooks are one agent, and nothing is held when it is gone`, () =>
    oneAgent(client));

  test(`[HOOK-1] ${client.name}: killed with -9, what it held is free at once`, async () => {
    await using place = await makePlace(FILES);
    await wireUp(place, [client]);
    await using turn = await Turn.start(client, place);
    await takeTwo(client, turn, place);
    await turn.kill('client');
    await until(async () => (await locksIn(place)).length === 0);
  });

  test(`[HOOK-1] ${client.name}: killed with all it started, what it held is free after the threshold`, async () => {
    await using place = await makePlace(FILES);
    await wireUp(place, [client]);
    await using turn = await Turn.start(client, place);
    await takeTwo(client, turn, place);
    await turn.kill('all');
    assert.equal((await askedLater(place, 13)).success, false);
    assert.equal((await askedLater(place, 17)).success, true);
  });
}

if (installed.includes(codex))
  test('[HOOK-1] codex: calls from within its programs are the same agent’s', () =>
    oneAgent(codexInPrograms));
