import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { width } from '../../src/transports/cli/output/text.ts';
import { boardMetrics } from '../../src/transports/http/board-metrics.ts';
import { until } from '../support/until.ts';
import { type BoardPlace, boardPlace, LOOP, typed, typedJson } from './board-place.ts';
import { cox, finished, makeStore, type Scratch, scratch, start } from './support.ts';

const EVIL = 'x\u001b[2J\u0007\u202egnp\r\n\u009b31m日本語🚀';

type Call = (name: string, input?: JsonObject) => Promise<JsonObject>;

/** Agents that take part by themselves, as over MCP or HTTP. */
async function staged(
  place: Scratch,
  play: (as: (agent: string) => Promise<Call>) => Promise<void>,
): Promise<void> {
  const clients: { close(): Promise<void> }[] = [];
  try {
    await play(async (agent_id) => {
      const client = await connect({ store: place.store, cwd: place.folder, agent_id, agent_type: 'test' });
      clients.push(client);
      return (name, input = {}) => client.call(name, input);
    });
  } finally {
    for (const client of clients) await client.close();
  }
}

async function withLoop(play: (place: BoardPlace) => Promise<void>): Promise<void> {
  using place = boardPlace(LOOP.yaml, LOOP.scripts);
  const child = start(['up'], { cwd: place.folder, env: { COX_STORE: place.store } });
  const ended = finished(child);
  try {
    await play(place);
  } finally {
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
  }
}

test('[PHASE-6] [CLI-1] cox forage --wait follows what comes of a goal to its end; cox unearth tells it afterwards', async () => {
  await withLoop(async (place) => {
    const { code, out } = await cox(['forage', 'a page about oars', '--wait'], {
      cwd: place.folder,
      env: { COX_STORE: place.store },
    });
    assert.equal(code, 0, out);
    assert.match(
      out,
      /^GoalDefined …(\w{6}) is on the board\.\n {2}artefact {2}[\da-f-]{30}\1\n {2}claim {5}[\da-f-]{36}\n {2}next/,
    );
    assert.match(out, /reviewer sends Draft …\w+ back: add an example\n[\s\S]*reviewer approves/);
    assert.match(out, /\nDone: 4 of 4 claims done, 6 artefacts\.\n/);
    const other = await typedJson(place, 'forage', 'another', '--wait');
    assert.partialDeepStrictEqual(other, {
      code: 0,
      success: true,
      outcome: 'complete',
      failures: [],
      decisions: [],
    });
    assert.deepEqual(
      (other.claims as JsonObject[]).map(({ artefact_type, fate }) => `${artefact_type} ${fate}`).sort(),
      ['Draft complete', 'Draft complete', 'Draft sent_back', 'GoalDefined complete'],
    );
    const drafts = (other.artefacts as JsonObject[]).filter(({ type }) => type === 'Draft');
    const [first, second] = drafts.map(({ id }) => String(id)) as [string, string];
    assertStory(await typedJson(place, 'unearth', second));
    const [claim] = (other.claims as JsonObject[]).filter(({ artefact_id }) => artefact_id === second);
    await assertNames(place, first, second, String(claim?.claim_id));
  });
});

function assertStory(story: JsonObject): void {
  assert.deepEqual(Object.keys(story).sort(), [
    'artefact',
    'code',
    'history',
    'made_from_it',
    'reworks',
    'rounds_granted',
    'sources',
    'success',
    'versions',
    'versions_left_out',
  ]);
  assert.deepEqual(
    (story.history as JsonObject[]).map(({ what, agent_id, agents, verdict, status }) =>
      [what, agent_id ?? agents, verdict ?? status]
        .flat()
        .filter((word) => word !== undefined)
        .join(' '),
    ),
    [
      'published writer',
      'standing_bids',
      'bid reviewer',
      'granted reviewer',
      'started reviewer',
      'delivered reviewer feedback',
      'ended terminated',
      'sent_back writer',
      'started writer',
      'published writer',
      'standing_bids',
      'bid reviewer',
      'granted reviewer',
      'started reviewer',
      'delivered reviewer approved',
      'granted publisher',
      'started publisher',
      'delivered publisher done',
      'ended complete',
    ],
  );
  assert.deepEqual((story.sources as JsonObject[]).map(({ depth, type }) => `${depth} ${type}`).sort(), [
    '1 Draft',
    '1 Review',
    '2 GoalDefined',
  ]);
}

async function assertNames(place: Scratch, first: string, second: string, claim_id: string): Promise<void> {
  const told = (await typed(place, ['unearth', second])).out;
  assert.match(told, /^Draft, version 2 of 2, sent back once\n/);
  assert.match(
    told,
    /reviewer wants more: add an example\n.*rejected\n.*back to writer[\s\S]*reviewer approves/,
  );
  assert.match(told, / {4}1 {2}….* sent back .*\n {2}> 2 {2}….* done /);
  // The beginning of an id is its time: only a long one is one artefact's. Its end is what screens show.
  const names = [
    second.slice(0, 30),
    `…${second.slice(-6)}`,
    second.slice(-8).toUpperCase(),
    claim_id.slice(-8),
  ];
  for (const name of names) {
    const { artefact } = await typedJson(place, 'unearth', name);
    assert.equal((artefact as JsonObject | undefined)?.id, second, name);
  }
  const many = await typedJson(place, 'unearth', first.slice(0, 6));
  assert.deepEqual([many.code, many.error, many.field], [2, 'invalid_input', 'id']);
  assert.ok((many.candidates as JsonObject[]).some(({ id, type }) => id === first && type === 'Draft'));
  assert.deepEqual(await codeOf(place, '00000000-0000'), [1, 'unknown_artefact']);
  for (const wrong of ['abc', 'nonsense', '%%%%%%%'])
    assert.deepEqual(await codeOf(place, wrong), [2, 'invalid_input']);
}

async function codeOf(place: Scratch, id: string): Promise<[number, unknown]> {
  const { code, error } = await typedJson(place, 'unearth', id);
  return [code, error];
}

test('[PHASE-5] [CLI-1] cox forage --wait: a failure is exit code 1 with its reason; Ctrl-C only ends the waiting', async () => {
  using place = boardPlace(LOOP.yaml, { ...LOOP.scripts, 'writer.sh': 'echo broken >&2; exit 3' });
  const child = start(['up'], { cwd: place.folder, env: { COX_STORE: place.store } });
  const ended = finished(child);
  const { code, out } = await typed(place, ['forage', 'a page', '--wait']);
  assert.equal(code, 1);
  assert.match(out, /\nIt came to nothing: 0 of 1 claim done[\s\S]*! GoalDefined …\w+: .*exit code 3/);
  child.kill('SIGINT');
  assert.equal((await ended).code, 0);
  const waiting = start(['forage', 'another', '--wait'], {
    cwd: place.folder,
    env: { COX_STORE: place.store },
  });
  const left = finished(waiting);
  waiting.stdout?.once('data', () => waiting.kill('SIGINT'));
  assert.equal((await left).code, 130);
  const { claims } = await typedJson(place, 'board');
  assert.equal((claims as JsonObject[]).length, 1, 'the goal stays on the board');
});

test('[PHASE-5] [CLI-1] cox forage --wait-seconds: not done by then is exit code 1, and the goal stays on the board', async () => {
  using place = scratch();
  await staged(place, async (as) => {
    await (await as('anna'))('join_board', { role: 'Editor' });
    const { code, out } = await typed(place, ['forage', 'a page', '--wait-seconds', '0.2']);
    assert.equal(code, 1);
    assert.match(out, /\nNot done yet, it goes on: 0 of 1 claim done/);
    const other = await typedJson(place, 'forage', 'another', '--wait-seconds', '0.2');
    assert.partialDeepStrictEqual(other, { code: 1, success: false, outcome: 'unfinished' });
    const { claims } = await typedJson(place, 'board');
    assert.equal((claims as JsonObject[]).length, 2);
  });
  for (const seconds of ['0', '-1', 'soon'])
    assert.partialDeepStrictEqual(await typedJson(place, 'forage', 'a page', '--wait-seconds', seconds), {
      code: 2,
      error: 'invalid_input',
      field: 'wait_seconds',
    });
});

test('[PHASE-8] [BID-1] cox board: bids, who is awaited, what is stuck and the command that helps; cox status and /metrics say so, too', async () => {
  using place = scratch();
  await makeStore(place);
  const empty = await typed(place, ['board']);
  assert.match(empty.out, /Agents {2}nobody is on the board: start `cox up`\n\nClaims {2}none is open\n$/);
  await staged(place, async (as) => {
    const [anna, ben] = [await as('anna'), await as('ben')];
    await anna('join_board', { role: 'Editor' });
    await ben('join_board', { role: 'Reviewer', bidding: 'review', target_types: ['Plan'] });
    const { claim_id } = await ben('publish_artefact', { type: 'Plan', payload: 'p', summary: 'a plan' });
    const { out } = await typed(place, ['board'], 80);
    assert.match(
      out,
      /Claims {2}1 open\n {2}…\w{6} {2}Plan {2}bidding {2}\d s {2}bids of anna\n +bids: ben review, anna \?\n/,
    );
    assert.match(out, / anna +Editor +1 bid awaited +is asked\n/);
    assert.match(out, / …\w{6} {2}Plan +ben +\d s ago {2}a plan\n/);
    const seen = await typedJson(place, 'board');
    assert.deepEqual(Object.keys(seen).sort(), [
      'agents',
      'artefacts',
      'claims',
      'code',
      'ended',
      'needs_you',
      'project',
      'seen_at',
      'settings',
      'store',
      'success',
    ]);
    assert.deepEqual(seen.needs_you, []);
    await typed(place, ['board', 'configure', '--stuck-minutes', '0.001']);
    await until(async () => ((await typedJson(place, 'board')).needs_you as unknown[]).length === 1);
    const stuck = await typed(place, ['board'], 80);
    assert.match(
      stuck.out,
      /Needs you\n {2}! Plan …\w{6} is open for \d s: no bid of anna\n {4}cox board leave anna\n/,
    );
    assert.match(
      (await typed(place, ['status'], 120)).out,
      / {2}! 1 claim on the board open for up to \d s: Plan waits for bids of anna\n {4}cox board\n/,
    );
    assert.match(await metrics(place), /cox_board_claims\{status="bidding"\} 1\n/);
    assert.match(await metrics(place), /cox_board_claims_stuck 1\n/);
    assert.match(
      await metrics(place),
      new RegExp(
        `cox_board_claim_pending_seconds\\{claim_id="${claim_id}",artefact_type="Plan",waits_for="bids of anna"\\} \\d`,
      ),
    );
    await anna('place_bid', { claim_id: String(claim_id), bid: 'exclusive' });
    assert.match((await typed(place, ['board'], 80)).out, /review {2}\d s {2}ben waits to be begun\n/);
    assert.match(
      (await typed(place, ['board'])).out,
      /nothing from ben\n {4}cox board terminate [\da-f-]{36} "why"\n/,
    );
    await ben('take_grant', { claim_id: String(claim_id) });
    assert.match((await typed(place, ['board'], 80)).out, /ben works for \d s, 5 min left\n/);
    await ben('deliver_artefact', { claim_id: String(claim_id), type: 'Review', payload: '{}' });
    await anna('deliver_artefact', {
      claim_id: String(claim_id),
      type: 'Book',
      payload: 'b',
      structural_type: 'Terminal',
    });
    assert.match(
      (await typed(place, ['board'])).out,
      /Claims {2}none is open\n\nEnded\n.* Plan {2}done .* review ben; exclusive anna\n/,
    );
    assert.match(await metrics(place), /cox_board_claims_stuck 0\n/);
  });
});

async function metrics(place: Scratch): Promise<string> {
  const coxswain = await open({ store: place.store, cwd: place.folder });
  try {
    return await boardMetrics(coxswain);
  } finally {
    await coxswain.close();
  }
}

test('[CLI-1] cox board and cox unearth: no line is wider than the terminal, whatever agents write', async () => {
  using place = scratch();
  let id = '';
  await staged(place, async (as) => {
    const anna = await as('anna-with-a-name-that-goes-on-and-on-日本語');
    await anna('join_board', { role: `Role ${'r'.repeat(50)}`, bidding: 'claim' });
    const user = await as('user');
    for (let n = 0; n < 30; n += 1) {
      const contents = {
        type: `T日本語${'t'.repeat(40)}`,
        payload: EVIL.repeat(200),
        summary: EVIL.repeat(20),
      };
      id = String((await user('publish_artefact', contents)).artefact_id);
    }
  });
  for (const columns of [40, 80, 200])
    for (const words of [['board'], ['unearth', id]]) {
      const { out } = await typed(place, words, columns);
      for (const line of out.split('\n')) assert.ok(width(line) <= columns, `${columns}: ${line}`);
      assert.doesNotMatch(out.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
      assert.ok(out.split('\n').length <= 75, `${out.split('\n').length} lines are no screen`);
    }
});

test('[CLI-1] cox board alone is a screen; its verbs are still there, and a wrong one is a mistake', async () => {
  using place = scratch();
  await makeStore(place);
  assert.equal((await typedJson(place, 'board', 'status')).code, 0);
  assert.equal((await typed(place, ['board'])).code, 0);
  const { code, err } = await typed(place, ['board', 'stauts']);
  assert.equal(code, 2);
  assert.match(err, /There is no command "stauts"\. Did you mean: cox board status/);
  assert.equal((await typed(place, ['board', '--nonsense'])).code, 2);
  for (const name of ['up', 'forage', 'unearth', 'board'])
    assert.match((await typed(place, [name, '--help'])).out, /\nExamples:\n {2}cox /, name);
});
