import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkGuardrails, listViolations } from '../../../src/features/guardrails/operations.ts';
import {
  approve,
  denyApproval,
  showApproval,
} from '../../../src/features/trust/operations/approval-operations.ts';
import {
  assignProfile,
  setProfile,
} from '../../../src/features/trust/operations/change-profile-operations.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { personId } from '../../../src/kernel/names.ts';
import { CLIENTS } from '../../../src/transports/shared/agent-clients.ts';
import { git, Stage } from './support.ts';

const FORCED = 'git push --force origin main';
const HIDDEN = [
  `bash -c '${FORCED}'`,
  'F=--force; B=main; git push $F origin $B',
  `git -c alias.ship='push --force origin main' ship`,
  `python3 -c "import os; os.system('git push -f origin main')"`,
  // What is pushed is what is checked out.
  'git push -f',
];

async function violations(stage: Stage): Promise<JsonObject[]> {
  const coxswain = await stage.open();
  const answer = await coxswain.connect({ agent_id: 'looker' }).perform(listViolations, {});
  return answer.violations as JsonObject[];
}

/** The id that an agent is told for a person to type. */
function idIn(denied: string | undefined): string {
  return /cox approve (\w+)/.exec(denied ?? '')?.[1] ?? assert.fail(`no id in: ${denied}`);
}

async function decide(stage: Stage, id: string, verdict: 'approve' | 'deny'): Promise<void> {
  const coxswain = await stage.open();
  const bob = coxswain.connect({ agent_id: personId('bob'), agent_type: 'person' }, 'person');
  const { approval } = await bob.perform(showApproval, { approval_id: id });
  const { shown_hash } = approval as JsonObject;
  const answer =
    verdict === 'approve'
      ? await bob.perform(approve, { approval_id: id, shown_hash })
      : await bob.perform(denyApproval, { approval_id: id, reason: 'open a pull request' });
  assert.equal(answer.success, true, JSON.stringify(answer));
}

for (const client of CLIENTS)
  test(`[GUARD-6] ${client}: a force push to main is denied however it is hidden, and written down`, async () => {
    await using stage = new Stage();
    const alice = stage.agent('alice', client);
    for (const command of HIDDEN) {
      const { denied } = await alice.shell(command);
      assert.match(denied ?? '', /Coxswain: .*forced push.*cox approve \w+/s, command);
    }
    const found = await violations(stage);
    assert.equal(found.length, HIDDEN.length);
    assert.ok(found.every(({ operation, blocked }) => operation === 'force_push_main' && blocked === true));
    for (const harmless of ['git commit -m "never run rm -rf /"', 'git push', 'echo git push --force'])
      assert.equal((await alice.shell(harmless)).denied, undefined, harmless);
    assert.equal((await violations(stage)).length, HIDDEN.length);
  });

test('[APPR-2] what a person approves passes once, for that agent and that command alone', async () => {
  await using stage = new Stage();
  const [alice, bert] = [stage.agent('alice'), stage.agent('bert')];
  const id = idIn((await alice.shell(FORCED)).denied);
  assert.equal(idIn((await alice.shell(FORCED)).denied), id, 'asking again is the same item');
  await decide(stage, id, 'approve');
  assert.ok((await bert.shell(FORCED)).denied, 'it was not for others');
  assert.ok((await alice.shell(`${FORCED} --tags`)).denied, 'it was not for anything else');
  assert.equal((await alice.shell(FORCED)).denied, undefined);
  assert.ok((await alice.shell(FORCED)).denied, 'it is used up');
});

test('[APPR-2] a push of what is checked out is approved on that branch and on no other', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  const id = idIn((await alice.shell('git push --force')).denied);
  const person = (await stage.open()).connect({ agent_id: personId('bob'), agent_type: 'person' }, 'person');
  const { approval } = await person.perform(showApproval, { approval_id: id });
  assert.equal(
    ((approval as JsonObject).context as JsonObject).branch,
    'main',
    'a person sees what it is about',
  );
  await decide(stage, id, 'approve');
  git(stage.repo, 'checkout', '-q', '-b', 'master');
  assert.notEqual(idIn((await alice.shell('git push --force')).denied), id);
  git(stage.repo, 'checkout', '-q', '-b', 'topic');
  const turned = await alice.shell('git checkout main && git push --force');
  assert.match(
    turned.denied ?? '',
    /forced push/,
    'what the same line turns to is not what is checked out now',
  );
  git(stage.repo, 'checkout', '-q', 'main');
  assert.equal((await alice.shell('git push --force')).denied, undefined);
});

test('[APPR-2] an approval got by asking first holds in the hook; a denial is told with its reason', async () => {
  await using stage = new Stage();
  const coxswain = await stage.open();
  const asking = coxswain.connect({ agent_id: 'alice', agent_type: 'claude-code', session_id: 'alice-1' });
  const asked = await asking.perform(checkGuardrails, { operation_text: FORCED });
  await decide(stage, asked.approval_id as string, 'approve');
  const alice = stage.agent('alice');
  assert.equal((await alice.shell(FORCED)).denied, undefined);
  const id = idIn((await alice.shell(FORCED)).denied);
  await decide(stage, id, 'deny');
  assert.match((await alice.shell(FORCED)).denied ?? '', /denied it: open a pull request/);
});

test('[GUARD-8] the repository says what may be removed: build output and committed files, not work', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  writeFileSync(join(stage.repo, '.gitignore'), 'node_modules/\n');
  git(stage.repo, 'add', '-A');
  git(stage.repo, 'commit', '-q', '-m', 'ignore');
  mkdirSync(join(stage.repo, 'node_modules', 'x'), { recursive: true });
  assert.equal((await alice.shell('rm -rf node_modules')).denied, undefined);
  assert.equal((await alice.shell('rm -rf src')).denied, undefined, 'git brings it back');
  writeFileSync(join(stage.repo, 'src', 'c.ts'), 'not committed\n');
  assert.match((await alice.shell('rm -rf src')).denied ?? '', /cox approve/);
  writeFileSync(join(stage.repo, 'guardrails.yaml'), 'rules: { build_output: off }\n');
  assert.ok((await alice.shell('rm -rf node_modules')).denied, 'the rule is switched off');
});

test('[GUARD-8] a pattern of the project stops what nothing else would', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  const kind = { category: 'production_deployment', operation: 'release' };
  const pattern = { id: 'shipment', program: 'make', subcommand: ['shipment'], reason: 'It ships.', ...kind };
  writeFileSync(join(stage.repo, 'guardrails.yaml'), JSON.stringify({ patterns: [pattern] }));
  assert.match((await alice.shell('make shipment')).denied ?? '', /It ships\./);
  assert.equal((await alice.shell('make test')).denied, undefined);
});

test('[GUARD-5] credential files and secrets wait for a person whatever the trust; nothing of them is kept', async () => {
  await using stage = new Stage();
  const secret = `ghp_${'a1B2c3D4e5'.repeat(4)}`;
  for (const client of CLIENTS) {
    const alice = stage.agent(`alice-${client}`, client);
    assert.match((await alice.edit('.env')).denied ?? '', /person/, client);
    assert.equal((await alice.edit(`${client}/.env.example`)).denied, undefined, client);
  }
  const alice = stage.agent('alice');
  const tool_input = { file_path: join(stage.repo, 'a.txt'), content: `token: ${secret}` };
  const { denied } = await alice.hook('before-tool', { tool_name: 'Write', tool_input });
  assert.match(denied ?? '', /secret/i);
  const bytes = (await stage.open()).store_url.replace('sqlite:', '');
  for (const file of [bytes, `${bytes}-wal`])
    if (existsSync(file)) assert.ok(!readFileSync(file).includes(secret), file);
});

test('[GUARD-1] an agent does not reach for the rules it works under', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  for (const command of ['cox approve 0123456789ab', 'cox key create --person eve', 'rm -rf .git/coxswain'])
    assert.ok((await alice.shell(command)).denied, command);
  assert.ok((await alice.edit('.claude/settings.json')).denied);
});

for (const client of CLIENTS)
  test(`[GUARD-1] ${client}: what steers us waits for a person in every worktree, from an edit tool and from a shell`, async () => {
    await using stage = new Stage();
    const other = join(stage.folder, 'other');
    git(stage.repo, 'worktree', 'add', '-q', other);
    for (const cwd of [stage.repo, other]) {
      const alice = stage.agent('alice', client, { cwd });
      for (const file of ['.mcp.json', '.gemini/settings.json', '../repo/.git/config'])
        assert.match((await alice.edit(file)).denied ?? '', /cox approve \w+/, file);
    }
    const alice = stage.agent('alice', client);
    const command = 'git config core.hooksPath .githooks';
    await decide(stage, idIn((await alice.shell(command)).denied), 'approve');
    assert.equal((await alice.shell(command)).denied, undefined);
    assert.match((await alice.shell(command)).denied ?? '', /would not run.*cox approve/s, 'once');
    for (const ordinary of [
      'git remote add o ../x',
      'git config user.name A',
      'git branch x',
      'cat .git/config',
    ])
      assert.equal((await alice.shell(ordinary)).denied, undefined, ordinary);
  });

test('[GUARD-9] what only the running shell knows is asked about where a person sits, and blocked elsewhere', async () => {
  await using stage = new Stage();
  const command = 'eval "$PLAN"';
  const asked = await stage.agent('alice').shell(command);
  const { permissionDecision } = (asked.answer.hookSpecificOutput ?? {}) as JsonObject;
  assert.equal(permissionDecision, 'ask');
  assert.ok((await stage.agent('bert', 'codex').shell(command)).denied);
});

test('[GUARD-6] a check that fails denies what looks dangerous, says so, and can be told not to', async () => {
  await using stage = new Stage();
  const gone = { COX_STORE: 'postgres://nobody@127.0.0.1:1/nowhere' };
  const alice = stage.agent('alice', 'claude-code', { env: gone });
  const { denied } = await alice.shell(FORCED);
  assert.match(denied ?? '', /could not decide about this/);
  assert.equal((await alice.shell('ls')).denied, undefined);
  const env = { ...gone, COX_GUARD_ON_FAILURE: 'allow' };
  assert.equal((await alice.shell(FORCED, { env })).denied, undefined);
});

test('[LOCK-12] a command that is denied for its danger leaves no lock behind', async () => {
  await using stage = new Stage();
  writeFileSync(join(stage.repo, 'src', 'c.ts'), 'not committed\n');
  assert.ok((await stage.agent('alice').shell('rm -rf src')).denied);
  assert.deepEqual(await stage.locks(), []);
});

test('[GUARD-2] [GUARD-5] where locks only warn, a file that another holds does not let danger through', async () => {
  await using stage = new Stage();
  await stage.ask('alice', 'acquire_lock', { file_paths: ['a.txt', '.env'] });
  const bob = stage.agent('bob', 'claude-code', { flags: ['--locks', 'warn'] });
  assert.match((await bob.shell(`touch a.txt; ${FORCED}`)).denied ?? '', /forced push.*cox approve \w+/s);
  const secret = { file_path: join(stage.repo, '.env'), content: 'X=1\n' };
  const edit = { tool_name: 'Write', tool_input: secret };
  assert.match((await bob.hook('before-tool', edit)).denied ?? '', /credentials/);
  // Neither warning hides the other.
  writeFileSync(join(stage.repo, 'b.txt'), 'not committed\n');
  const { denied, context = '' } = await bob.shell('touch a.txt; git checkout .');
  assert.equal(denied, undefined);
  assert.match(context, /a\.txt is locked by alice/);
  assert.match(context, /Uncommitted changes are lost/);
});

test('[PROF-3] where locks only warn, a file that another holds still counts', async () => {
  await using stage = new Stage();
  await stage.ask('alice', 'acquire_lock', { file_path: 'a.txt' });
  const coxswain = await stage.open();
  const ann = coxswain.connect({ agent_id: personId('ann'), agent_type: 'person' }, 'person');
  await ann.perform(setProfile, { name: 'one', resource_limits: { max_file_modifications: 1 } });
  await ann.perform(assignProfile, { profile: 'one', to_agent: 'tom' });
  const tom = stage.agent('tom', 'claude-code', { flags: ['--locks', 'warn'] });
  assert.match((await tom.edit('a.txt')).context ?? '', /warns: a\.txt is locked by alice/);
  assert.match((await tom.edit('b.txt')).denied ?? '', /max_file_modifications/);
});
