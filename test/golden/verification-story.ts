import {
  decideRun,
  dispatchRun,
  finishRun,
  renewRun,
  routeChangeset,
  startRun,
} from '../../src/features/verification/commands.ts';
import { runId } from '../../src/features/verification/verification-run.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { secretHash } from '../../src/kernel/secret.ts';
import { answerOf, type Decision } from '../../src/ledger/decision.ts';
import type { Connection } from '../../src/runtime/coordinator.ts';
import type { Operation } from '../../src/runtime/operation.ts';
import type { Telling } from './telling.ts';

const COMMIT = '4f1c2ab0'.repeat(5);
const LEASE_MS = 60_000;

/** One decision as a runner or a door makes it, through the one loop. */
function step(name: string, decision: Decision<JsonObject>): Operation {
  return {
    name,
    group: 'verification',
    verb: name,
    summary: 'A step of a runner.',
    route: { method: 'POST', path: '' },
    mutates: true,
    standard: false,
    examples: [],
    input: () => Promise.reject(new Error('built by the story')),
    handle: async (_input, given) => answerOf(await given.run(decision)),
  };
}

/** A run of its own that lives, is handed to another service, and one whose result is known at once. */
async function tellOfRuns({ build }: Telling, runner: Connection): Promise<void> {
  const { actor } = runner;
  const commit = async (name: string, decision: Decision<JsonObject>) =>
    await build(runner, step(name, decision), {});
  const start = async (policy: string, secret_hash?: string) => {
    const run_id = runId(COMMIT, policy);
    const started = await commit(
      'start_run',
      startRun({ run_id, caller: actor, executor: 'inline', ttl_ms: LEASE_MS, secret_hash }),
    );
    return { run_id, mine: { ...actor, token: started.fencing_token as number } };
  };
  const lint = await start('static-analysis');
  await commit('renew_run', renewRun(lint.run_id, lint.mine, LEASE_MS));
  await commit(
    'finish_run',
    finishRun(lint.run_id, lint.mine, {
      status: 'failed',
      executor: 'inline',
      exit_code: 1,
      output: '1 problem',
    }),
  );
  const unit = await start('unit-tests', secretHash('a secret of the story'));
  const external = { repository: 'o/r', workflow: 'cox-verify.yml', url: 'https://github.com/o/r/actions' };
  await commit('dispatch_run', dispatchRun(unit.run_id, unit.mine, external, 10 * LEASE_MS));
}

/** A change that three policies and a person have to do with. */
export async function tellOfVerification(telling: Telling): Promise<void> {
  const { ask, build, connect, paul } = telling;
  const hugo = connect({ agent_id: 'hugo', agent_type: 'worker' });
  const runner = connect({ agent_id: 'cox-verifier', agent_type: 'verifier', session_id: 'verifier-1' });
  await ask(paul, 'set_verification_policy', {
    name: 'release',
    tier: 2,
    executor: 'inline',
    patterns: ['**/*.ts'],
    command: 'npm run release',
    requires_approval: true,
  });
  const { changeset_id } = await ask(hugo, 'submit_changeset', {
    file_paths: ['a.ts', '.env'],
    commit_sha: COMMIT,
    base: '0a1b2c3',
    diff: '+1',
    summary: 'one more',
  });
  await ask(hugo, 'verify_changeset', { changeset_id });
  const seen = { files: ['.env', 'a.ts', 'b.ts'], from: 'git' } as const;
  const routing = { changeset_id: changeset_id as string, commit_sha: COMMIT, seen, is_person: false };
  await build(runner, step('route_changeset', routeChangeset(routing)), {});
  await tellOfRuns(telling, runner);
  const decide = async (policy: string, is_approved: boolean, reason: string) => {
    const decision = decideRun(runId(COMMIT, policy), is_approved, paul.actor.agent_id, reason);
    await build(paul, step('record_verification', decision), {});
  };
  await decide('release', true, 'now');
  await decide('security-sensitive', false, 'a key is in it');
  await ask(paul, 'remove_verification_policy', { name: 'release' });
}
