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
