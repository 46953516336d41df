import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { main } from '../../src/transports/cli/main.ts';
import type { Terminal } from '../../src/transports/cli/output/terminal.ts';
import { inTerminal } from '../support/pty.ts';
import { machineOf, personsTerminal } from './person.ts';
import { cox, fakeTerminal, type Scratch, scratch } from './support.ts';

const FORCE = 'git push --force origin topic';

async function asAgent(place: Scratch, operation: string, input: JsonObject): Promise<JsonObject> {
  const client = await connect({
    store: place.store,
    cwd: place.folder,
    agent_id: 'alice',
    agent_type: 'tester',
  });
  try {
    return await client.call(operation, input);
  } finally {
    await client.close();
  }
}

const attempt = (place: Scratch, operation_text = FORCE) =>
  asAgent(place, 'check_guardrails', { operation_text });

async function personsKey(place: Scratch): Promise<string> {
  return String((await asAgent(place, 'create_key', { person: 'bob' })).key);
}

const statusOf = async (place: Scratch, approval_id: string) =>
  ((await asAgent(place, 'show_approval', { approval_id })).approval as JsonObject).status;

test('[APPR-1] [APPR-2] end to end: blocked, a person approves at the terminal, one retry passes, blocked again', async () => {
  using place = scratch();
  const id = String((await attempt(place)).approval_id);
  const { terminal, written, asked } = personsTerminal(place.folder, { COX_STORE: place.store }, id);
  assert.equal(await main(['approve', id], terminal), 0, written.err);
  for (const shown of [FORCE, 'alice (tester)', 'that others may have built on', 'git_force'])
    assert.ok(written.out.includes(shown), shown);
  assert.match(asked[0] ?? '', new RegExp(`Type ${id}`));
  assert.partialDeepStrictEqual(await attempt(place), { success: true, safe: true, approval_id: id });
  const again = await attempt(place);
  assert.partialDeepStrictEqual(again, { success: false, approval_id: id, approval_status: 'pending' });
});

test('[APPR-2] cox guard check says that it has used an approval up; with --dry-run it uses none', async () => {
  using place = scratch();
  const env = { COX_STORE: place.store, AGENT_ID: 'alice', AGENT_TYPE: 'tester' };
  const check = async (...more: string[]) => {
    const { terminal, written } = fakeTerminal(place.folder, env);
    return { code: await main(['guard', 'check', FORCE, ...more], terminal), ...written };
  };
  const id = String((await attempt(place)).approval_id);
  const person = personsTerminal(place.folder, { COX_STORE: place.store }, id);
  assert.equal(await main(['approve', id], person.terminal), 0, person.written.err);
  const looked = await check('--dry-run');
  assert.equal(looked.code, 0, looked.err);
  assert.doesNotMatch(looked.out, /used/);
  const asked = await check();
  assert.equal(asked.code, 0, asked.err);
  assert.match(asked.out, new RegExp(`This check has used up approval ${id}`));
  assert.match(asked.out, /approval used +yes/);
  assert.equal((await check()).code, 3);
  assert.match((await check('--help')).out, /--dry-run +Only look: .*no approval used\s+up/);
});

test('[APPR-1] what is typed is what counts: anything else leaves it as it is', async () => {
  using place = scratch();
  const id = String((await attempt(place)).approval_id);
  for (const typed of ['y', 'yes', '', undefined, id.slice(1)]) {
    const { terminal, written } = personsTerminal(place.folder, { COX_STORE: place.store }, typed);
    assert.equal(await main(['approve', id, '--yes'], terminal), 1);
    assert.match(written.err, /not_confirmed/);
  }
  assert.equal(await statusOf(place, id), 'pending');
});

test('[APPR-1] no agent approves: not by its variables, its ancestors, a pipe or a key of its own', async () => {
  using place = scratch();
  const id = String((await attempt(place)).approval_id);
  const agents: [string, Record<string, string>, Partial<Terminal>][] = [
    ...['AGENT_ID', 'CLAUDECODE', 'GEMINI_CLI', 'CODEX_SANDBOX'].map(
      (name): [string, Record<string, string>, Partial<Terminal>] => [name, { [name]: '1' }, {}],
    ),
    ...[
      ['bash', 'claude', 'bash'],
      ['sh', ['node', '/opt/bin/gemini'], 'zsh'],
      ['bash', ['python3', '/usr/bin/aider'], 'zsh'],
      ['bash', 'timeout', 'script', 'bash', 'nohup', 'codex'],
      ['bash', ['node', '/usr/bin/cox', 'run', '--', 'x']],
      [['/usr/local/bin/Claude']],
    ].map((chain): [string, Record<string, string>, Partial<Terminal>] => [
      JSON.stringify(chain),
      {},
      { machine: machineOf(...chain) },
    ]),
    ['an unknown chain', {}, { machine: { ...machineOf('bash'), read: () => undefined } }],
    ['no controlling terminal', {}, { controlled: () => false }],
  ];
  for (const [why, env, more] of agents) {
    const { terminal, written, asked } = personsTerminal(
      place.folder,
      { COX_STORE: place.store, ...env },
      id,
      more,
    );
    assert.equal(await main(['approve', id, '--json'], terminal), 1, why);
    assert.deepEqual([(JSON.parse(written.out) as JsonObject).error, asked], ['person_required', []], why);
  }
  const piped = await cox(['approve', id, '--yes'], {
    cwd: place.folder,
    env: { COX_STORE: place.store },
    input: `${id}\n`,
  });
  assert.match(piped.err, /person_required/);
  const { key } = await asAgent(place, 'create_key', { agent: 'alice' });
  for (const given of [String(key), 'coxp_000000000000_made-up', `coxp${String(key).slice(3)}`]) {
    const env = { COX_STORE: place.store, COX_PERSON_KEY: given };
    const { terminal, written } = personsTerminal(place.folder, env, id);
    assert.equal(await main(['approve', id, '--yes'], terminal), 1);
    assert.match(written.err, /person_required/, 'a key that is none is no way round to the terminal either');
  }
  for (const name of ['CLAUDECODE', 'AGENT_ID']) {
    const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: place.store, [name]: '1' });
    assert.equal(await main(['key', 'create', '--person', 'bob', '--json'], terminal), 1);
    assert.equal(
      (JSON.parse(written.out) as JsonObject).error,
      'person_required',
      'nor makes itself a person’s key',
    );
  }
  for (const name of ['approve', 'deny_approval'])
    assert.equal(
      (await asAgent(place, name, { approval_id: id, reason: 'x', shown_hash: '0'.repeat(64) })).error,
      'person_required',
    );
  assert.equal(await statusOf(place, id), 'pending');
});

test('[APPR-1] with a person’s key: in the environment or a file, also without a terminal, if it is said to be meant', async () => {
  using place = scratch();
  const key = await personsKey(place);
  const first = String((await attempt(place)).approval_id);
  const env = { COX_STORE: place.store, COX_PERSON_KEY: key };
  const unsaid = await cox(['approve', first, '--json'], { cwd: place.folder, env });
  assert.deepEqual([unsaid.code, (JSON.parse(unsaid.out) as JsonObject).field], [2, 'yes']);
  const said = await cox(['approve', first, '--yes', '--json'], { cwd: place.folder, env });
  assert.partialDeepStrictEqual(JSON.parse(said.out), {
    success: true,
    status: 'approved',
    decided_by: 'person:bob',
  });
  const second = String((await attempt(place, 'rm -rf /srv/data')).approval_id);
  writeFileSync(join(place.folder, 'key'), `${key}\n`);
  const words = ['deny', second, '--reason', 'never', '--person-key-file', 'key', '--yes', '--json'];
  const denied = await cox(words, { cwd: place.folder, env: { COX_STORE: place.store } });
  assert.partialDeepStrictEqual(JSON.parse(denied.out), { success: true, status: 'denied' });
  const told = await attempt(place, 'rm -rf /srv/data');
  assert.partialDeepStrictEqual(told, { approval_status: 'denied', decision_reason: 'never' });
  const twice = await cox(['approve', second, '--yes', '--json'], { cwd: place.folder, env });
  assert.equal((JSON.parse(twice.out) as JsonObject).error, 'approval_decided');
  const bare = await cox(['deny', second, '--json'], { cwd: place.folder, env });
  assert.deepEqual(
    [bare.code, (JSON.parse(bare.out) as JsonObject).field],
    [2, 'reason'],
    'a reason is needed',
  );
});

test('[APPR-1] nothing that an agent writes escapes the screen or hides on it', async () => {
  using place = scratch();
  const evil =
    'rm -rf /srv \u001b[2J\u001b]0;approved\u0007 \u202ecod.exe \u200b; echo approved by person:bob\nrm -rf /';
  const id = String((await attempt(place, evil)).approval_id);
  const { terminal, written } = personsTerminal(place.folder, { COX_STORE: place.store }, 'no');
  await main(['approve', id], terminal);
  assert.doesNotMatch(written.out, /(?!\n)[\p{Cc}\p{Cf}]/u);
  for (const shown of ['\\u{1b}[2J', '\\u{202e}', '\\u{200b}', '│ rm -rf /'])
    assert.ok(written.out.includes(shown), shown);
  assert.equal(await statusOf(place, id), 'pending', 'its own words approve nothing');
});

test('[APPR-1] in a real terminal: shown, asked, typed; or left with Ctrl-C', async () => {
  using place = scratch();
  const key = await personsKey(place);
  const id = String((await attempt(place)).approval_id);
  const env = { COX_STORE: place.store, COX_PERSON_KEY: key, NO_COLOR: '1' };
  {
    await using left = await inTerminal(['approve', id], { cwd: place.folder, env });
    await left.shows(`Type ${id}`);
    left.type('\u0003');
    assert.equal(await left.ended(), 1);
  }
  assert.equal(await statusOf(place, id), 'pending');
  await using pty = await inTerminal(['approve', id], { cwd: place.folder, env });
  await pty.shows(`Type ${id}`);
  pty.type(`${id}\r`);
  assert.equal(await pty.ended(), 0, pty.output());
  assert.equal(await statusOf(place, id), 'approved');
});

test('[APPR-1] cox status and cox approval list show what waits; show has all of it', async () => {
  using place = scratch();
  const id = String((await attempt(place)).approval_id);
  const run = async (...words: string[]) => {
    const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: place.store });
    assert.equal(await main(words, terminal), 0, written.err);
    return written.out;
  };
  assert.match(
    await run('status'),
    new RegExp(`alice asks for force_push[^]*cox approve ${id}[^]*1 violation`),
  );
  assert.match(await run('approval', 'list'), new RegExp(id));
  assert.match(await run('approval', 'show', id), /│ git push --force origin topic/);
  assert.match(await run('guard', 'violations'), /force_push/);
  const { terminal } = personsTerminal(place.folder, { COX_STORE: place.store }, id);
  const [shown] = (JSON.parse(await run('approval', 'list', '--json')) as { approvals: JsonObject[] })
    .approvals;
  const words = ['approval', 'approve', id, '--shown-hash', String(shown?.shown_hash)];
  assert.equal(await main(words, terminal), 0, 'by the operation’s own words as well');
  assert.doesNotMatch(await run('status'), /asks for/);
});
