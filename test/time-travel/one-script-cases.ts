import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Engine } from '../conformance/engine.ts';
import { scratch } from '../transports/support.ts';
import { type Outcome, perform } from './one-script.ts';

const ROLES =
  'roles:\n  full_stack:\n    converge_edges: [all]\nclaim_protocol:\n  claim_ttl_seconds: 3600\n';

async function performedOn(engine: Engine): Promise<Outcome> {
  using place = scratch();
  // Where it is not configured, a claim has a hard end on DynamoDB and none elsewhere.
  mkdirSync(join(place.folder, '.ai-workspace'));
  writeFileSync(join(place.folder, '.ai-workspace', 'agent_roles.yml'), ROLES);
  const fixture = await engine.fresh();
  try {
    return await perform(
      await fixture.open({ cwd: place.folder, env: { COX_WORKSPACE: join(place.folder, '.ai-workspace') } }),
    );
  } finally {
    await fixture.drop();
  }
}

export function oneScriptCases(engines: readonly Engine[]): void {
  test('[STORE-1] one script on every store: the same answers, the same events in order, the same fold', async () => {
    const [first, ...others] = engines;
    assert.ok(first);
    const expected = await performedOn(first);
    const told = expected.events.join('\n');
    for (const type of ['lock_acquired', 'task_claimed', 'dependency_met', 'task_skipped', 'edge_converged'])
      assert.ok(told.includes(`"type":"${type}"`), type);
    for (const type of ['message_acknowledged', 'handoff_written', 'approval_used', 'session_ended'])
      assert.ok(told.includes(`"type":"${type}"`), type);
    for (const engine of others) {
      const { answers, events, fold } = await performedOn(engine);
      assert.deepEqual(answers, expected.answers, `${engine.name}: answers`);
      assert.deepEqual(events, expected.events, `${engine.name}: events`);
      assert.deepEqual(fold, expected.fold, `${engine.name}: fold`);
    }
  });
}
