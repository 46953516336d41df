import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { perform } from './perform.ts';
import { git, Stage } from './support.ts';

/** What a person does about the agents of a stage. */
async function rule(stage: Stage, ...calls: [string, JsonObject][]): Promise<void> {
  const coxswain = await stage.open(0, 'off');
  const ann = { agent_id: 'person:ann', agent_type: 'person', session_id: 'ann' };
  const person = coxswain.connect(ann, 'person');
  for (const [name, input] of calls) assert.equal((await perform(person, name, input)).success, true, name);
}

test('[PROF-2] [PROF-5] a reviewer’s client neither edits nor runs commands, whatever the locks say', async () => {
  await using stage = new Stage();
  await rule(stage, ['assign_profile', { profile: 'reviewer', to_agent: 'rita' }]);
  // Locks are coordination: holding one is no permission to write.
  await stage.ask('rita', 'acquire_lock', { file_path: 'a.txt' });
  for (const flags of [[], ['--locks', 'warn'], ['--locks', 'require']]) {
    const rita = stage.agent('rita', 'claude-code', { flags });
    assert.match((await rita.edit('a.txt')).denied ?? '', /profile reviewer blocks write/, flags.join(' '));
    assert.match((await rita.shell('ls')).denied ?? '', /profile reviewer blocks execute/, flags.join(' '));
  }
  const rows = await stage.rows('shell');
  assert.equal(rows.length, 3, 'each denial is in the log');
  assert.ok(rows.every(({ result }) => (result as JsonObject).error === 'operation_not_permitted'));
  assert.equal((await stage.agent('carl').shell('ls')).out, '', 'the others go on');
});

test('[PROF-2] who may not push to main may not push what nobody can tell', async () => {
  await using stage = new Stage();
  await rule(
    stage,
    ['set_profile', { name: 'aside', trust_level: 3, blocked_operations: ['git_push_main'] }],
    ['assign_profile', { profile: 'aside', to_agent: 'asa' }],
  );
  const asa = stage.agent('asa');
  const lines = [
    'git push',
    'git --version; git push',
    'git bisect reset; git push',
    'git checkout "$X"; git push',
    'gh pr checkout 0; git push',
  ];
  for (const line of lines) assert.match((await asa.shell(line)).denied ?? '', /blocks git_push_main/, line);
  git(stage.repo, 'checkout', '-q', '-b', 'topic');
  for (const line of lines.slice(0, 2)) assert.equal((await asa.shell(line)).denied, undefined, line);
});

test('[PROF-3] the edit beyond the limit is denied, under a lock of the agent’s own too', async () => {
  await using stage = new Stage();
  await rule(
    stage,
    ['set_profile', { name: 'two', resource_limits: { max_file_modifications: 2 } }],
    ['assign_profile', { profile: 'two', to_agent: 'tom' }],
  );
  await stage.ask('tom', 'acquire_lock', { file_paths: ['b.txt', 'src/c.ts'] });
  const tom = stage.agent('tom');
  assert.equal((await tom.edit('a.txt')).out, '');
  assert.equal((await tom.edit('a.txt')).out, '', 'the same file counts once');
  assert.equal((await tom.edit('b.txt')).out, '');
  assert.match((await tom.edit('src/c.ts')).denied ?? '', /max_file_modifications/);
  assert.match((await tom.edit('new.txt')).denied ?? '', /max_file_modifications/);
});

test('[PROF-3] [LOCK-12] a call that is beyond the limit leaves no lock behind', async () => {
  await using stage = new Stage();
  await rule(
    stage,
    ['set_profile', { name: 'one', resource_limits: { max_file_modifications: 1 } }],
    ['assign_profile', { profile: 'one', to_agent: 'tom' }],
  );
  await stage.ask('tom', 'acquire_lock', { file_path: 'b.txt' });
  const { denied } = await stage.agent('tom').shell('cp b.txt new.txt; echo x >> b.txt');
  assert.match(denied ?? '', /max_file_modifications/);
  assert.deepEqual(await stage.locks(), ['b.txt: tom ()']);
  assert.equal((await stage.agent('ann').edit('new.txt')).out, '');
});

test('[PROF-7] level 1 is not let off with a warning about a lock', async () => {
  await using stage = new Stage();
  await rule(
    stage,
    ['set_profile', { name: 'low', trust_level: 1 }],
    ['assign_profile', { profile: 'low', to_agent: 'lou' }],
  );
  await stage.ask('other', 'acquire_lock', { file_path: 'a.txt' });
  const lou = stage.agent('lou', 'claude-code', { flags: ['--locks', 'warn'] });
  assert.match((await lou.edit('a.txt')).denied ?? '', /a\.txt is locked by other/);
  assert.equal((await lou.edit('b.txt')).out, '');
  assert.ok((await stage.locks()).includes('b.txt: lou (editing (automatic))'));
});

/** A profile of the test's own with one of the seed's named guardrails, for one agent. */
async function under(stage: Stage, guardrail: string, agent: string): Promise<void> {
  await rule(
    stage,
    ['set_profile', { name: guardrail.replaceAll('_', '-'), trust_level: 3, guardrails: [guardrail] }],
    ['assign_profile', { profile: guardrail.replaceAll('_', '-'), to_agent: agent }],
  );
}

test('[GUARD-10] [PROF-6] lock_before_write: a hook that would only warn lets this agent write nothing that another holds', async () => {
  await using stage = new Stage();
  await under(stage, 'lock_before_write', 'lara');
  await stage.ask('bob', 'acquire_lock', { file_path: 'b.txt' });
  const warns = { flags: ['--locks', 'warn'] };
  const [lara, carl] = [stage.agent('lara', 'claude-code', warns), stage.agent('carl', 'claude-code', warns)];
  assert.match((await lara.edit('b.txt')).denied ?? '', /b\.txt is locked by bob/);
  assert.match((await lara.shell('echo x > b.txt')).denied ?? '', /b\.txt is locked by bob/);
  assert.equal((await carl.edit('b.txt')).denied, undefined, 'without the guardrail it is warned');
  // What is free is locked by the edit.
  assert.equal((await lara.edit('a.txt')).denied, undefined);
  assert.deepEqual(
    (await stage.locks()).map((line) => line.split(' (')[0]),
    ['a.txt: lara', 'b.txt: bob'],
  );
});

test('[GUARD-10] [PROF-6] read_only_filesystem: nothing is written by edit or shell, and reading goes on', async () => {
  await using stage = new Stage();
  await under(stage, 'read_only_filesystem', 'rita');
  const rita = stage.agent('rita');
  assert.match((await rita.edit('a.txt')).denied ?? '', /read_only_filesystem/);
  for (const command of ['echo x > a.txt', 'rm b.txt', 'sed -i s/a/b/ src/c.ts'])
    assert.match((await rita.shell(command)).denied ?? '', /read_only_filesystem/, command);
  for (const command of ['cat a.txt', 'git log --oneline', 'grep -r one src'])
    assert.equal((await rita.shell(command)).denied, undefined, command);
  assert.deepEqual(await stage.locks(), []);
  assert.equal((await stage.agent('carl').edit('a.txt')).denied, undefined);
});

test('[GUARD-10] [PROF-6] audit_all_operations: each use of a tool has its row, also one that only reads', async () => {
  await using stage = new Stage();
  await under(stage, 'audit_all_operations', 'otto');
  const [otto, carl] = [stage.agent('otto'), stage.agent('carl')];
  for (const agent of [otto, carl]) {
    for (const command of [
      'cat a.txt',
      'curl -H "Authorization: Bearer sk-ant-api03-abcdefghijklmnopqrstuvwxyz012345" x.org',
    ]) {
      assert.equal((await agent.shell(command)).denied, undefined);
      await agent.ran(command);
    }
    await agent.edit('a.txt');
    await agent.edited('a.txt');
    await agent.hook('turn-end');
  }
  const rows = await stage.rows('tool');
  assert.deepEqual([...new Set(rows.map(({ agent_id }) => agent_id))], ['otto']);
  const inputs = rows.map(({ parameters }) => String((parameters as JsonObject).input));
  assert.equal(rows.length, 3);
  assert.ok(inputs.some((input) => input.includes('cat a.txt')));
  assert.ok(!inputs.some((input) => input.includes('abcdefghij')), 'no secret is kept');
});
