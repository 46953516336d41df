import assert from 'node:assert/strict';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { main } from '../../src/transports/cli/main.ts';
import { ALICE, settableClock, startApi, withKey } from './api.ts';
import { fakeTerminal, makeStore, scratch } from './support.ts';

const TOUCHED = new Date('2026-03-01T09:30:00Z');

function workspace(features: Readonly<Record<string, string>>) {
  const place = scratch();
  const folder = join(place.folder, '.ai-workspace', 'features');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(features)) {
    const file = join(folder, `${name}.yml`);
    writeFileSync(file, text);
    // The one that was touched last would come first.
    utimesSync(file, TOUCHED, TOUCHED);
  }
  return {
    async cox(...words: string[]) {
      await makeStore(place);
      const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: place.store, AGENT_ID: 'ann' });
      const code = await main(words, terminal);
      return {
        code,
        ...written,
        answer: words.includes('--json') ? (JSON.parse(written.out) as JsonObject) : {},
      };
    },
    [Symbol.dispose]: () => place[Symbol.dispose](),
  };
}

test('[CLAIM-12] cox start is route_work, with agents as a person types them', async () => {
  using here = workspace({ a: 'feature: A\nmodules: [x]\n', b: 'feature: B\nmodules: [y]\n' });
  const { code, answer } = await here.cox('start', '--agents', 'bob=architect', 'eve', '--json');
  assert.equal(code, 0);
  const agents = [{ agent_id: 'bob', agent_role: 'architect' }, { agent_id: 'eve' }];
  const declared = await here.cox('claim', 'route', '--agents', JSON.stringify(agents), '--json');
  assert.deepEqual(answer, declared.answer);
  assert.deepEqual(
    (answer.assignments as JsonObject[]).map(({ agent_id, feature }) => [agent_id, feature]),
    [
      ['bob', 'A'],
      ['eve', 'B'],
    ],
  );
  const { out } = await here.cox('start');
  assert.match(out, /ann +A +intent_requirements +the first by name among equals/);
  const wrong = await here.cox('start', '--agents', '=x');
  assert.deepEqual([wrong.code, wrong.out], [2, '']);
  assert.match(wrong.err, /agents\.0\.agent_id/);
});

test('[CLAIM-12] cox start stops with exit code 3 where only a person can go on', async () => {
  using here = workspace({ a: 'feature: A\nstatus: time_box_expired\n' });
  const { code, answer } = await here.cox('start', '--json');
  assert.deepEqual([code, answer.success, answer.waiting_for_person], [3, true, true]);
  assert.deepEqual(answer.waiting, [{ feature: 'A', reason: 'its time box is over' }]);
  using none = workspace({});
  assert.equal((await none.cox('start')).code, 0);
});

test('[CLAIM-12] what a file says can’t drive the terminal it is shown in', async () => {
  using here = workspace({
    a: 'feature: "A\\e[2J"\n',
    b: 'feature: B\nmodules: ["x\\e[2J"]\ntrajectory: {"c\\e[2J": {}}\n',
  });
  const { out, answer } = await here.cox('start');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the very thing that must not be there.
  assert.doesNotMatch(out, /\u001b\[2J/);
  assert.match(out, /printable/);
  assert.deepEqual(answer, {});
});

test('[CLAIM-12] POST /api/start answers as the operation does: same key, same input, same words', async () => {
  await using door = await startApi();
  const own = await door.post('/claims/route', {}, withKey(ALICE));
  const alias = await door.post('/api/start', {}, withKey(ALICE));
  assert.deepEqual([alias.status, alias.body], [200, own.body]);
  assert.equal((await door.post('/api/start', {})).status, 401);
  assert.equal((await door.post('/api/start', { nonsense: 1 }, withKey(ALICE))).status, 422);
  const { body } = await door.ask('GET', '/openapi.json');
  const paths = body.paths as Record<string, Record<string, JsonObject>>;
  assert.equal(paths['/api/start']?.post?.operationId, 'route_work_api_start');
  assert.deepEqual(paths['/api/start']?.post?.requestBody, paths['/claims/route']?.post?.requestBody);
});

test('[CLAIM-12] GET /api/status answers as the operation does: what is stale, what waits for a person, how it is', async () => {
  const clock = settableClock();
  await using door = await startApi({ clock });
  const edges = { stale: 'design_code', escalated: 'code↔unit_tests' };
  for (const [feature, edge] of Object.entries(edges))
    await door.post('/claims/claim', { feature, edge, agent_role: 'tdd_engineer' }, withKey(ALICE));
  const converged = await door.post(
    '/claims/converge',
    { feature: 'escalated', edge: edges.escalated },
    withKey(ALICE),
  );
  const status = async (query = '') => (await door.ask('GET', `/api/status${query}`, withKey(ALICE))).body;
  const fresh = await status();
  assert.deepEqual((fresh.claims as JsonObject[]).map(({ stale }) => stale).includes(true), false);
  clock.forward_ms += 31 * 60_000;
  const late = await status();
  const stale = (late.claims as JsonObject[]).filter((claim) => claim.stale === true);
  assert.ok(stale.some(({ feature }) => feature === 'stale'));
  assert.notDeepEqual(late.health, fresh.health, 'a stale claim shows in the health');
  assert.equal(converged.body.action, 'convergence_escalated');
  assert.deepEqual(
    (late.escalations as JsonObject[]).map(({ feature }) => feature),
    ['escalated'],
  );
  const own = await door.ask('GET', '/claims/status', withKey(ALICE));
  assert.deepEqual(await status(), own.body);
  assert.deepEqual(
    ((await status('?feature=stale')).claims as JsonObject[]).map(({ feature }) => feature),
    ['stale'],
  );
  assert.equal((await door.ask('GET', '/api/status')).status, 401);
});
