import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import type { Authority } from '../../src/runtime/operation.ts';
import { ask } from '../support/asking.ts';
import { paced } from '../support/paced.ts';
import type { Call } from './engine.ts';
import type { Scene } from './suite.ts';

/** An agent of some type, or a person: what a profile goes by. */
export function somebody(
  coxswain: Coxswain,
  agent_id: string,
  agent_type: string,
  authority: Authority = 'operator',
  session_id = `session-${agent_id}`,
): Call {
  const connection = coxswain.connect({ agent_id, agent_type, session_id }, authority);
  return (name, input) => ask(connection, name, input);
}

type Asked = [operation: string, input: JsonObject];

const files = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `limited/${from + n}.ts`);

export function profileCases(scene: Scene): void {
  const at = scene.engine;
  const person = () => somebody(scene.coxswain(), 'person:ann', 'person', 'person');
  const done = (answer: JsonObject) => assert.equal(answer.success, true, JSON.stringify(answer));
  /** Every case has a profile and agents of its own. */
  const profiled = async (name: string, profile: JsonObject): Promise<Call> => {
    done(await person()('set_profile', { name, ...profile }));
    done(await person()('assign_profile', { profile: name, to_agent: name }));
    return somebody(scene.coxswain(), name, 'test');
  };

  test(`[PROF-2] ${at}: a reviewer reports no file modification`, async () => {
    const reviewer = await profiled('reads-only', { allowed_operations: ['read'], blocked_operations: [] });
    const refused = await reviewer('submit_changeset', { file_paths: ['a.ts'] });
    assert.deepEqual([refused.success, refused.error], [false, 'operation_not_permitted']);
    assert.equal((await reviewer('acquire_lock', { file_path: 'reviewed.ts' })).success, true);
  });

  test(`[PROF-5] ${at}: what a profile blocks by name is refused to read, to commit and to claim`, async () => {
    const bound = await profiled('bound', { blocked_operations: ['check_locks', 'send_message', 'work'] });
    for (const [operation, input] of [
      ['check_locks', {}],
      ['send_message', { to: ['x'], body: 'b' }],
      ['get_work', {}],
      ['submit_work', { task_type: 't', task_description: 'd' }],
    ] satisfies Asked[])
      assert.equal((await bound(operation, input)).error, 'operation_not_permitted', operation);
    assert.equal((await bound('acquire_lock', { file_path: 'bound.ts' })).success, true);
  });

  test(`[PROF-4] [PROF-7] ${at}: rules are changed by level 4 and people, and level 4 is given by people`, async () => {
    const admin = await profiled('admin', { trust_level: 4 });
    const agent = somebody(scene.coxswain(), 'climber', 'strands_agent');
    const refused = await agent('set_profile', { name: 'mine', trust_level: 3 });
    assert.deepEqual(
      [refused.error, refused.required_trust_level, refused.trust_level],
      ['insufficient_trust_level', 4, 3],
    );
    done(await admin('set_profile', { name: 'made-by-admin', trust_level: 1 }));
    done(await admin('assign_profile', { profile: 'made-by-admin', to_agent: 'climber' }));
    assert.equal(((await agent('get_my_profile')).profile as JsonObject).name, 'made-by-admin');
    for (const [operation, input] of [
      ['set_profile', { name: 'made-by-admin', trust_level: 4 }],
      ['assign_profile', { profile: 'admin', to_agent: 'climber' }],
      ['set_profile', { name: 'admin', blocked_operations: [] }],
      ['restore_trust', { agent_name: 'admin' }],
    ] satisfies Asked[])
      assert.equal((await admin(operation, input)).required_authority, 'person', operation);
    assert.equal((await person()('remove_profile', { name: 'made-by-admin' })).error, 'wrong_status');
    done(await person()('unassign_profile', { to_agent: 'climber' }));
    done(await person()('remove_profile', { name: 'made-by-admin' }));
    assert.equal((await person()('show_profile', { name: 'made-by-admin' })).error, 'unknown_profile');
  });

  test(`[PROF-3] ${at}: the last file within the limit passes, the next is refused, the same one counts once`, async () => {
    const worker = await profiled('limited', { resource_limits: { max_file_modifications: 5 } });
    done(await worker('submit_changeset', { file_paths: files(3) }));
    done(await worker('submit_changeset', { file_paths: files(5) }));
    for (const [operation, input] of [
      ['submit_changeset', { file_paths: files(1, 5) }],
      ['acquire_lock', { file_path: 'limited/new.ts' }],
      ['report_usage', { files: files(1, 6) }],
    ] satisfies Asked[]) {
      const refused = await worker(operation, input);
      assert.deepEqual(
        [refused.error, refused.limit, refused.allowed],
        ['resource_limit_exceeded', 'max_file_modifications', 5],
        operation,
      );
    }
    done(await worker('submit_changeset', { file_paths: files(2) }));
    done(await worker('acquire_lock', { file_path: 'limited/new.ts', shared: true }));
    assert.equal(((await worker('get_my_profile')).used as JsonObject).file_modifications, 5);
    // The end of a session ends what it has used.
    done(await worker('end_session'));
    done(await worker('submit_changeset', { file_paths: files(5, 50) }));
  });

  test(`[PROF-3] ${at}: reads and calls are limits too, each by its name`, async () => {
    const reader = await profiled('counted', {
      resource_limits: { max_file_reads: 10, max_api_calls_per_hour: 6 },
    });
    done(await reader('report_usage', { file_reads: 10 }));
    assert.equal((await reader('report_usage', { file_reads: 1 })).limit, 'max_file_reads');
    for (let call = 3; call <= 6; call += 1) done(await reader('check_locks'));
    const refused = await reader('check_locks');
    assert.deepEqual([refused.error, refused.limit], ['resource_limit_exceeded', 'max_api_calls_per_hour']);
    done(await reader('end_session'));
  });

  test(`[PROF-3] ${at}: time is a limit too, and what is in its hands can still be given back`, async () => {
    await paced(1000, async (pace) => {
      const [name, file_path] = [`timed-${pace.attempt}`, `timed-${pace.attempt}.ts`];
      const timed = await profiled(name, { resource_limits: { max_execution_time: pace.limit_ms / 1000 } });
      done(await pace.within(() => timed('acquire_lock', { file_path })));
      const late = await pace.until(async () => {
        const answer = await timed('acquire_lock', { file_path });
        return answer.success === false && answer;
      });
      assert.deepEqual([late.error, late.limit], ['resource_limit_exceeded', 'max_execution_time']);
      assert.equal((await timed('get_work')).limit, 'max_execution_time');
      done(await timed('release_lock', { file_path }));
      done(await timed('write_handoff', { summary: 'time is up' }));
    });
  });

  test(`[PROF-7] ${at}: level 1 changes only what it holds`, async () => {
    const limited = await profiled('level-1', { trust_level: 1 });
    const refused = await limited('submit_changeset', { file_paths: ['own.ts', 'bare.ts'] });
    assert.deepEqual([refused.error, refused.file_paths], ['lock_required', ['own.ts', 'bare.ts']]);
    done(await limited('acquire_lock', { file_paths: ['own.ts', 'held/'] }));
    assert.deepEqual(
      (await limited('submit_changeset', { file_paths: ['own.ts', 'held/deep/x.ts', 'bare.ts'] })).file_paths,
      ['bare.ts'],
    );
    done(await limited('submit_changeset', { file_paths: ['own.ts', 'held/deep/x.ts'] }));
    const many = Array.from({ length: 60 }, (_, n) => `held/${n}.ts`);
    done(await limited('submit_changeset', { file_paths: many }));
    assert.equal(
      (await limited('submit_changeset', { file_paths: [...many, 'y.ts'] })).error,
      'lock_required',
    );
    done(await limited('end_session'));
  });

  test(`[PROF-1] ${at}: a whole file of rules is applied or nothing of it`, async () => {
    const document =
      'profiles:\n  from-file: { trust_level: 1 }\nassignments:\n  - { agent_id: filed, profile: nowhere }\n';
    assert.equal((await person()('apply_profiles', { document })).error, 'unknown_profile');
    assert.equal((await person()('show_profile', { name: 'from-file' })).error, 'unknown_profile');
    done(await person()('apply_profiles', { document: document.replace('nowhere', 'from-file') }));
    const filed = somebody(scene.coxswain(), 'filed', 'test');
    assert.deepEqual((await filed('get_my_profile')).trust_level, 1);
    assert.equal((await person()('apply_profiles', { document: 'profiles: [' })).error, 'profiles_invalid');
  });
}
