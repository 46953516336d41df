import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { until } from '../../support/until.ts';
import { boardScene, says } from './scene.ts';

const TERMINAL = says('Done', 'done', 'Terminal');

const story = (claims: readonly JsonObject[]) =>
  claims.map(({ artefact_type, status, termination_reason }) => [artefact_type, status, termination_reason]);

test('[PHASE-1] [PHASE-2] [PHASE-6] [BID-1] a reviewer rejects once: the author gets its words, makes version 2, and that is approved', async () => {
  await using scene = await boardScene(
    `version: "1.0"
agents:
  coder: {role: Coder, command: [./coder.sh], bidding_strategy: {type: exclusive, target_types: [Goal]}}
  reviewer: {role: Reviewer, command: [./reviewer.sh], bid_script: [./bid.sh]}
  scribe: {role: Scribe, command: [./scribe.sh], bidding_strategy: {type: claim, target_types: [Code]}}
`,
    {
      'coder.sh': `case "$INPUT" in
        *'add tests'*) ${says('Code', 'second')} ;;
        *) ${says('Code', 'first')} ;;
      esac`,
      'reviewer.sh': `case "$INPUT" in *'"payload":"first"'*) ${says('Review', 'add tests')} ;; *) ${says('Review', '{}')} ;; esac`,
      'bid.sh': `case "$INPUT" in *'"type":"Code"'*) echo review ;; *) echo ignore ;; esac`,
      'scribe.sh': TERMINAL,
    },
  );
  // Before an agent runs: it is picked up.
  const { claim_id } = await scene.publish('a page');
  const first = await scene.start();
  const claims = await scene.atRest();
  assert.deepEqual(story(claims), [
    ['Goal', 'complete', null],
    ['Code', 'terminated', 'review_rejected'],
    ['Code', 'complete', null],
    ['Code', 'complete', null],
  ]);
  assert.equal(claims[0]?.id, claim_id);
  assert.deepEqual(claims[3]?.granted_parallel_agents, ['scribe']);
  const made = await scene.artefacts();
  assert.deepEqual(
    made.map(({ type, version, produced_by_agent }) => [type, version, produced_by_agent]),
    [
      ['Goal', 1, 'user'],
      ['Code', 1, 'coder'],
      ['Review', 1, 'reviewer'],
      ['Code', 2, 'coder'],
      ['Review', 1, 'reviewer'],
      ['Done', 1, 'scribe'],
    ],
  );
  assert.equal(made[3]?.logical_id, made[1]?.id, 'another version of the same thing');
  assert.deepEqual(made[3]?.source_artefacts, [made[1]?.id, made[2]?.id]);
  assert.ok(first.news.some(({ what, agent_id }) => what === 'bid' && agent_id === 'reviewer'));
});

test('[PHASE-3] [PHASE-9] parallel agents that declared the same files take turns; each is told of the others', async () => {
  const work = `echo "$AGENT_ID begins" >> "$TRACE"; sleep 0.2; echo "$AGENT_ID ends" >> "$TRACE"
    case "$INPUT" in *'"co_workers":[{"agent_id":"'*'"declared":["docs/"'*) echo "$AGENT_ID knows" >> "$TRACE" ;; esac
    ${TERMINAL}`;
  await using scene = await boardScene(
    `version: "1.0"
agents:
  ann: {role: A, command: [./work.sh], bidding_strategy: claim, files: [docs/]}
  bob: {role: B, command: [./work.sh], bidding_strategy: claim, files: [docs/]}
  eve: {role: E, command: [./last.sh], bidding_strategy: exclusive}
`,
    { 'work.sh': work, 'last.sh': `echo "eve" >> "$TRACE"; ${TERMINAL}` },
  );
  await scene.start();
  await scene.publish('write it down');
  const [claim] = await scene.atRest();
  assert.equal(claim?.status, 'complete');
  const lines = scene.trace().filter((line) => !line.endsWith('knows'));
  const [one = ''] = lines[0]?.split(' ') ?? [];
  const other = one === 'ann' ? 'bob' : 'ann';
  assert.deepEqual(lines, [`${one} begins`, `${one} ends`, `${other} begins`, `${other} ends`, 'eve']);
  assert.equal(scene.trace().filter((line) => line.endsWith('knows')).length, 2);
  const { locks } = await until(async () => {
    const held = await scene.user.call('check_locks', {});
    return (held.locks as unknown[]).length === 0 && held;
  });
  assert.deepEqual(locks, [], 'and nobody holds anything at the end');
});

for (const [phase, bid] of [
  ['review', 'review'],
  ['parallel', 'claim'],
  ['exclusive', 'exclusive'],
] as const) {
  test(`[PHASE-5] an agent that crashes or hangs in ${phase} ends its claim, with a Failure that says how`, async () => {
    await using scene = await boardScene(
      `version: "1.0"
orchestrator: {timeouts: {${phase}: 1s}}
agents:
  worker: {role: W, command: [./worker.sh], bidding_strategy: ${bid}, max_concurrent: 2}
`,
      {
        'worker.sh': `case "$INPUT" in *'"payload":"crash"'*) echo broken >&2; exit 3 ;; *) sleep 60 ;; esac`,
      },
    );
    await scene.start();
    await scene.publish('crash');
    await scene.publish('hang');
    const claims = await scene.atRest();
    assert.deepEqual(
      claims.map(({ status }) => status),
      ['terminated', 'terminated'],
    );
    const failures = (await scene.artefacts()).filter(({ structural_type }) => structural_type === 'Failure');
    assert.equal(failures.length, 2);
    const contents = await Promise.all(
      failures.map(async ({ id }) => {
        const { artefact } = await scene.user.call('get_artefact', { artefact_id: id as string });
        return JSON.parse((artefact as JsonObject).payload as string) as JsonObject;
      }),
    );
    const crash = contents.find(({ exit_code }) => exit_code === 3);
    assert.match(String(crash?.stderr), /broken/);
    const hang = contents.find((each) => each !== crash);
    assert.match(JSON.stringify(hang), /in time|timeout/);
  });
}

test('[PHASE-5] a failed part is tried again where the file says so, and late results change nothing', async () => {
  await using scene = await boardScene(
    `version: "1.0"
orchestrator: {on_failure: retry, max_attempts: 3}
agents:
  worker: {role: W, command: [./worker.sh], bidding_strategy: exclusive}
`,
    {
      'worker.sh': `echo try >> "$TRACE"; [ "$(grep -c try "$TRACE")" -ge 3 ] || exit 1
        ${TERMINAL}`,
    },
  );
  await scene.start();
  await scene.publish('thrice');
  assert.deepEqual(story(await scene.atRest()), [['Goal', 'complete', null]]);
  assert.equal(scene.trace().length, 3);
});

test('[PHASE-7] four replicas: one bidder, four workers at once at most, each under a name of its own', async () => {
  await using scene = await boardScene(
    `version: "1.0"
agents:
  worker: {role: Builder, command: [./worker.sh], bidding_strategy: exclusive, replicas: 4}
`,
    {
      'worker.sh': `echo "+" >> "$TRACE"; sleep 0.3; echo "$COX_WORKER" >> "$TRACE"; echo "-" >> "$TRACE"
        ${TERMINAL}`,
    },
  );
  for (let n = 0; n < 10; n += 1) await scene.publish(`goal ${n}`);
  const { news } = await scene.start();
  const claims = await scene.atRest();
  assert.ok(
    claims.every(({ status, bids }) => status === 'complete' && Object.keys(bids as JsonObject).length === 1),
  );
  let [at_once, most] = [0, 0];
  for (const line of scene.trace()) {
    at_once += line === '+' ? 1 : line === '-' ? -1 : 0;
    most = Math.max(most, at_once);
  }
  assert.equal(most, 4);
  const names = scene.trace().filter((line) => line.length > 1);
  assert.equal(new Set(names).size, 10);
  for (const name of names) assert.match(name, /^Builder-[0-9a-f]{8}-1$/);
  assert.ok(news.some(({ what }) => what === 'queued'));
});

test('[PHASE-4] [PHASE-7] two orchestrators of one file: every part is executed once', async () => {
  await using scene = await boardScene(
    `version: "1.0"
agents:
  ann: {role: A, command: [./work.sh], bidding_strategy: claim, max_concurrent: 2}
  bob: {role: B, command: [./work.sh], bidding_strategy: exclusive, max_concurrent: 2}
`,
    { 'work.sh': `echo "$COX_CLAIM_ID $AGENT_ID" >> "$TRACE"; sleep 0.05; ${TERMINAL}` },
  );
  await Promise.all([scene.start(), scene.start()]);
  await Promise.all(Array.from({ length: 8 }, (_, n) => scene.publish(`goal ${n}`)));
  const claims = await scene.atRest();
  assert.ok(claims.every(({ status }) => status === 'complete'));
  assert.equal(scene.trace().length, 16);
  assert.equal(new Set(scene.trace()).size, 16);
});

test('[PHASE-4] stopped in order: nothing is left running, the part is given back, and the next one does it', async () => {
  await using scene = await boardScene(
    `version: "1.0"
agents:
  worker: {role: W, command: [./worker.sh], bidding_strategy: exclusive}
`,
    {
      'worker.sh': `echo begun >> "$TRACE"; [ "$(grep -c begun "$TRACE")" -ge 2 ] || sleep 60
        ${TERMINAL}`,
    },
  );
  const first = await scene.start();
  const { claim_id } = await scene.publish('wait');
  await until(async () => scene.trace().length === 1);
  await first.stop();
  const { claim } = await scene.user.call('board_status', { claim_id: claim_id as string });
  const { phase_state } = claim as { phase_state: { grants: JsonObject[] } };
  assert.equal(phase_state.grants[0]?.taken_until, null, 'nobody has it');
  await scene.start();
  assert.deepEqual(story(await scene.atRest()), [['Goal', 'complete', null]]);
  assert.equal(
    (await scene.artefacts()).filter(({ structural_type }) => structural_type === 'Failure').length,
    0,
  );
});
