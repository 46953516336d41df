import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { makePlace } from './place.ts';
import { Turn } from './turn.ts';
import { installed } from './vendors/all.ts';
import type { Client } from './vendors/client.ts';
import { codex, codexInPrograms } from './vendors/codex.ts';
import { wireUp } from './wire-up.ts';

const HELD = { 'asked.txt': 'first\n', 'taken.txt': 'first\r\nno newline at the end' };

/** Of what the client was told at its start, so much is shown when a check fails. */
const BRIEFING_CHARS_MAX = 3_000;

/** The first works and waits; the second comes, is kept off, leaves word; the first ends; the second goes on. */
async function meet(t: TestContext, first: Client, second: Client): Promise<void> {
  await using place = await makePlace(HELD);
  await wireUp(place, [first, second]);
  await using ahead = await Turn.start(first, place);
  await ahead.call(first.mcp('acquire_lock', { file_path: 'asked.txt', reason: 'the router moves' }));
  await ahead.call(first.shell('echo second > taken.txt'));
  const before = { asked: place.read('asked.txt'), taken: place.read('taken.txt') };
  const { locks } = await place.cox('lock', 'check');
  const holder = `${(locks as { locked_by: string }[])[0]?.locked_by}`;

  {
    await using behind = await Turn.start(second, place);
    const byEdit = await behind.call(
      ...second.edit({ path: 'asked.txt', before: 'first', after: 'mine' }, place),
    );
    for (const part of ['asked.txt', holder, 'the router moves'])
      assert.ok(byEdit.result.includes(part), `${part} is not in: ${byEdit.result}`);
    t.diagnostic(`${second.name} was told: ${byEdit.result}`);
    const byShell = await behind.call(second.shell('echo mine > asked.txt'));
    assert.ok(byShell.result.includes(holder), byShell.result);
    const ofTaken = await behind.call(second.shell('echo mine > taken.txt'));
    assert.ok(ofTaken.result.includes(holder), ofTaken.result);
    await behind.call(second.mcp('send_message', { to: [holder], body: 'say when asked.txt is free' }));
    assert.equal((await behind.end()).code, 0);
  }
  assert.deepEqual({ asked: place.read('asked.txt'), taken: place.read('taken.txt') }, before);

  const heard = await ahead.call(first.shell('true'));
  assert.ok(heard.text.includes('say when asked.txt is free'), 'the mail was not delivered');
  await ahead.call(first.mcp('write_handoff', { summary: 'The router has moved to src/net.' }));
  const ended = await ahead.end();
  assert.equal(ended.code, 0, ended.output);

  await using after = await Turn.start(second, place);
  const told = after.opening;
  const briefing = told.slice(told.indexOf('Coxswain coordinates the agents')).slice(0, BRIEFING_CHARS_MAX);
  assert.ok(told.includes('The router has moved to src/net.'), `the hand-off is not in: ${briefing}`);
  await after.call(...second.edit({ path: 'asked.txt', before: 'first', after: 'mine' }, place));
  assert.equal(`${place.read('asked.txt')}`, 'mine\n');
  await after.call(second.shell('echo mine > taken.txt'));
  assert.equal(`${place.read('taken.txt')}`, 'mine\n');
  assert.equal((await after.end()).code, 0);
}

for (const [at, first] of installed.entries()) {
  const second = installed[(at + 1) % installed.length] ?? first;
  test(`[LOCK-12] ${first.name} holds a file, ${second.name} is kept off it until the other is done`, (t) =>
    meet(t, first, second));
}

if (installed.includes(codex))
  test('[LOCK-12] codex is kept off a file from within its programs too', (t) =>
    meet(t, installed[0] ?? codex, codexInPrograms));
