import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { claimEvent, NEVER_MS } from '../../src/features/claims/edge-claim.ts';
import { routeWork, suggestNext } from '../../src/features/claims/operations/route-work-operation.ts';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { commit } from '../../src/ledger/decision.ts';
import type { EventBody } from '../../src/ledger/entity.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import type { Operation } from '../../src/runtime/operation.ts';

type Told = readonly [feature: string, edge: string, type: string, agent_id: string, data?: JsonObject];

function event([feature, edge, type, agent_id, data = {}]: Told): EventBody {
  const lease = {
    agent_id,
    agent_type: 'tester',
    session_id: 's',
    token: 1,
    granted_at_ms: 0,
    expires_at_ms: NEVER_MS,
    ...(data.lease as object | undefined),
  };
  return claimEvent({ feature, edge }, type, { agent_id, agent_role: 'architect', ...data, lease });
}

/** What happened to claims, as if it had been asked for. */
const happen = (told: readonly Told[]): Operation => ({
  ...routeWork,
  mutates: true,
  async handle(_input, step) {
    for (let start = 0; start < told.length; start += 50) {
      const events = told.slice(start, start + 50).map(event);
      const needs = { keys: events.map(({ kind, id }) => ({ kind, id })) };
      await step.chore('tell', { needs, decide: () => commit(events, { success: true }) });
    }
    return { success: true };
  },
});

const suggest: Operation = {
  ...routeWork,
  handle: async (_input, step) => ({
    success: true,
    suggestion: (await suggestNext(
      step,
      { agent_id: 'me', agent_role: 'full_stack' },
      { feature: 'A', edge: 'intent_requirements' },
    )) as JsonObject | undefined,
  }),
};

async function place(features: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'cox-route-'));
  mkdirSync(join(folder, '.ai-workspace', 'features'), { recursive: true });
  for (const [index, text] of features.entries())
    writeFileSync(join(folder, '.ai-workspace', 'features', `${index}.yml`), text);
  const coxswain: Coxswain = await open({ store: 'memory:', cwd: folder, env: {} });
  const me = coxswain.connect({ agent_id: 'me', agent_type: 'tester', session_id: 's' });
  return {
    folder,
    async tell(...told: Told[]) {
      assert.deepEqual(await me.perform(happen(told), {}), { success: true });
    },
    route: (input: JsonObject = {}) => me.perform(routeWork, input),
    suggest: async () => (await me.perform(suggest, {})).suggestion as JsonObject | undefined,
    async [Symbol.asyncDispose]() {
      await coxswain.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const assigned = ({ assignments }: JsonObject) =>
  (assignments as JsonObject[]).map(({ agent_role, feature, edge }) => `${agent_role} ${feature} ${edge}`);

test('[CLAIM-7] claims of the store count: held ones are skipped, converged ones are done, run out ones are free', async () => {
  await using here = await place(['feature: A\n', 'feature: B\npriority: 9\n', 'feature: C\npriority: 10\n']);
  assert.deepEqual(assigned(await here.route()), [' A intent_requirements']);
  await here.tell(['A', 'intent→requirements', 'edge_started', 'bob']);
  assert.deepEqual(assigned(await here.route()), [' B intent_requirements']);
  assert.equal((await here.suggest())?.feature, 'B');
  await here.tell(['A', 'intent_requirements', 'edge_converged', 'bob']);
  assert.deepEqual(assigned(await here.route()), [' A requirements_design']);
  await here.tell(['A', 'requirements_design', 'edge_started', 'bob', { lease: { expires_at_ms: 1 } }]);
  assert.deepEqual(assigned(await here.route()), [' A requirements_design'], 'its time is up');
  await here.tell(['B', 'intent_requirements', 'edge_started', 'me']);
  assert.deepEqual(
    assigned(await here.route()),
    ['architect A requirements_design'],
    'the role it claims under',
  );
});

test('[CLAIM-7] more claims than a range has rows; none is overlooked', async () => {
  await using here = await place([]);
  const told = Array.from(
    { length: 2500 },
    (_, index): Told => [`F${index}`, 'design_code', 'edge_started', 'bob'],
  );
  await here.tell(
    ...told,
    ['Z', 'design_code', 'edge_started', 'eve'],
    ['Z', 'design_code', 'edge_released', 'eve'],
  );
  const answer = await here.route();
  assert.deepEqual(assigned(answer), [' Z design_code']);
  assert.deepEqual(answer.left_out, { warnings: 180, groups: 2481 });
  assert.match(String(answer.message), /features\/NAME\.yml/);
});

test('[CLAIM-7] an escalation or a silent holder is for a person: said, and exit code 3 where nothing else is left', async () => {
  await using here = await place(['feature: A\n']);
  writeFileSync(
    join(here.folder, '.ai-workspace', 'agent_roles.yml'),
    'claim_protocol: { stale_claim_timeout: 30d }\n',
  );
  await here.tell(['A', 'intent_requirements', 'edge_started', 'bob']);
  assert.equal((await here.route()).waiting_for_person, false, 'bob is at work');
  await here.tell([
    'A',
    'intent_requirements',
    'convergence_escalated',
    'bob',
    { approval_id: '3f9a2c81d04e' },
  ]);
  const escalated = await here.route();
  assert.deepEqual(
    [escalated.waiting_for_person, escalated.waiting],
    [
      true,
      [
        {
          feature: 'A',
          edge: 'intent_requirements',
          reason: 'the convergence by bob waits for approval 3f9a2c81d04e',
        },
      ],
    ],
  );
  await here.tell(
    ['A', 'intent_requirements', 'review_completed', 'bob'],
    ['A', 'intent_requirements', 'claim_expired', 'bob'],
  );
  const stale = (await here.route()).waiting as JsonObject[];
  assert.match(String(stale[0]?.reason), /^claimed by bob, of whom nothing was heard since \d{4}-/);
  assert.equal(await here.suggest(), undefined);
});
