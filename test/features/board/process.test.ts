import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startExecution } from '../../../src/features/board/runner/process/process-execution.ts';
import { runName } from '../../../src/features/board/runner/process/run-files.ts';
import { agent, assignment, failureIn, printing, stage } from './support.ts';

test('an agent reads one JSON and then the end of its input, and what it prints is delivered', async () => {
  using place = stage();
  const given = assignment(
    `cat >"$OUT"; ${printing({ structural_type: 'Review' })}`,
    {},
    {
      environment: { OUT: join(place.root, 'input') },
    },
  );
  assert.deepEqual(await startExecution(given, place.places).delivered, {
    ok: true,
    artefact_type: 'Text',
    artefact_payload: 'hello',
    summary: 'said hello',
    structural_type: 'Review',
  });
  assert.deepEqual(JSON.parse(readFileSync(join(place.root, 'input'), 'utf8')), given.input);
});

/** What is printed, and what is made of it: a payload, or a part of the reason. */
const CONTRACT: readonly [name: string, script: string, expected: string | RegExp][] = [
  ['space around it', `echo; ${printing()}; printf '\\n\\t \\n'`, 'hello'],
  ['a payload that is an object', printing({ artefact_payload: { a: [1] } }), '{"a":[1]}'],
  ['an empty object as payload', printing({ artefact_payload: {} }), '{}'],
  ['null as payload', printing({ artefact_payload: null }), 'null'],
  ['an empty payload', printing({ artefact_payload: '' }), ''],
  ['fields of its own', printing({ confidence: 1 }), 'hello'],
  ['noise on the other stream', `echo thinking >&2; ${printing()}`, 'hello'],
  ['nothing', 'true', /printed nothing/],
  ['text', 'echo done', /no JSON/],
  ['text before it', `echo done; ${printing()}`, /no JSON/],
  ['text after it', `${printing()}; echo done`, /no JSON/],
  ['two of them', `${printing()}; ${printing()}`, /no JSON/],
  ['a list', 'echo "[]"', /no object/],
  ['null', 'echo null', /no object/],
  ['no type', 'echo \'{"artefact_payload":"x","summary":"s"}\'', /without artefact_type/],
  ['an empty type', printing({ artefact_type: ' ' }), /without artefact_type/],
  ['no payload', 'echo \'{"artefact_type":"x","summary":"s"}\'', /without artefact_payload/],
  ['no summary', 'echo \'{"artefact_type":"x","artefact_payload":"s"}\'', /without summary/],
  ['an unknown structural type', printing({ structural_type: 'Opinion' }), /none of Standard.*"Opinion"/],
  ['half of it', `${printing()} | head -c 20`, /no JSON/],
  ['invalid UTF-8', `printf '{"artefact_type":"\\377","artefact_payload":"","summary":""}'`, /no JSON/],
  ['NUL', `printf '\\000'; ${printing()}`, /no JSON/],
  ['brackets without end', `head -c 2000000 /dev/zero | tr '\\0' '['`, /no JSON/],
];

for (const [name, script, expected] of CONTRACT) {
  test(`[PHASE-5] the contract of what an agent prints: ${name}`, async () => {
    using place = stage();
    const delivery = await startExecution(assignment(script), place.places).delivered;
    if (typeof expected === 'string') assert.equal(delivery.ok && delivery.artefact_payload, expected);
    else {
      const { reason, error, exit_code } = failureIn(delivery);
      assert.equal(reason, 'Its output breaks the contract.');
      assert.match(error, expected);
      assert.equal(exit_code, 0);
    }
  });
}

/** However good its output was. */
const ENDS: readonly [name: string, script: string, code: number | null, reason: RegExp][] = [
  ['an exit code', `${printing()}; echo why >&2; exit 3`, 3, /exit code 3/],
  ['a signal', `${printing()}; kill -SEGV $$`, 139, /signal 11/],
  ['a program that is not there', 'exec /no/such/program', 127, /not found/],
  ['a program that is none', 'exec /', 126, /could not be run/],
  ['the end of its own group, asked for', `kill 0; ${printing()}`, 143, /signal 15/],
  ['the end of its own group, forced', 'kill -KILL 0', null, /Somebody killed it/],
];

for (const [name, script, code, reason] of ENDS) {
  test(`[PHASE-5] an agent that ends with ${name} has failed`, async () => {
    using place = stage();
    const failure = failureIn(await startExecution(assignment(script), place.places).delivered);
    assert.match(failure.reason, reason);
    assert.equal(failure.exit_code, code);
    if (code === 3) assert.equal(failure.stderr, 'why\n');
  });
}

test('[PHASE-5] what a failure quotes is short, has both ends, no secret and nothing a terminal obeys', async () => {
  using place = stage();
  const token = ['gh', 'p_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYabcd'].join('');
  const script = [
    `printf 'first \\033[31mred\\033[0m \\033]0;title\\007 \\000 \\377 ${token} %s\\n' "$API_KEY" >&2`,
    `head -c 300000 /dev/zero | tr '\\0' x >&2`,
    'echo "the last words" >&2; exit 1',
  ].join('\n');
  const given = assignment(script, {}, { environment: { API_KEY: 'plain words of a key' } });
  const { stderr } = failureIn(await startExecution(given, place.places).delivered);
  assert.ok(stderr.length <= 5000 && stderr.length > 4000, String(stderr.length));
  assert.match(stderr, /^first red .*… left out ….*the last words\n$/s);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  assert.doesNotMatch(stderr, /[\u0000-\u0008\u000b-\u001f]/);
  assert.ok(!stderr.includes(token) && !stderr.includes('plain words of a key') && stderr.isWellFormed());
});

test('a commit that an agent delivers exists, is named by its id, and is no option', async () => {
  using place = stage();
  const head = place.git('rev-parse', 'HEAD');
  const blob = place.git('rev-parse', 'HEAD:a.txt');
  const deliver = async (artefact_payload: string) =>
    await startExecution(
      assignment(printing({ artefact_type: 'CodeCommit', artefact_payload })),
      place.places,
    ).delivered;
  for (const good of [head, head.slice(0, 10), ` ${head}\n`]) {
    const delivery = await deliver(good);
    assert.equal(delivery.ok && delivery.artefact_payload, head);
  }
  for (const bad of ['0'.repeat(40), blob, 'HEAD', 'main', '--all', '-h', '', `${head}^`, '; rm -rf .']) {
    const { reason } = failureIn(await deliver(bad));
    assert.equal(reason, 'The commit that it names does not exist.', bad);
  }
});

test('an agent has the environment of a user’s program, its own name, and nothing of ours', async () => {
  using place = stage();
  const env: Record<string, string | undefined> = {
    ...place.places.env,
    HTTPS_PROXY: 'http://proxy',
    COX_STORE: 'postgres://secret@here',
    COX_PERSON_KEY: 'k',
    COORDINATION_API_KEYS: 'k',
    AGENT_ID: 'orchestrator',
    SESSION_ID: 's',
    GIT_DIR: '/nowhere',
    GIT_INDEX_FILE: '/nowhere/index',
  };
  const out = join(place.root, 'env');
  const prompts = { 'claim-it': 'Look\nwell.' };
  const environment = { _cox_run: 'kept', run: 'kept', PATH: `/opt/own:${env.PATH}`, AGENT_ID: 'coder-2' };
  const given = assignment(`env -0 >'${out}'; ${printing()}`, {}, { prompts, environment });
  const delivery = await startExecution(given, { ...place.places, env }).delivered;
  assert.equal(delivery.ok, true);
  const seen = Object.fromEntries(
    readFileSync(out, 'utf8')
      .split('\0')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  for (const [name, value] of Object.entries({
    HTTPS_PROXY: 'http://proxy',
    HOME: place.root,
    PATH: `/opt/own:${env.PATH}`,
    run: 'kept',
    AGENT_ID: 'coder-2',
    AGENT_ROLE: 'Coder',
    SETT_AGENT_NAME: 'coder',
    HOLT_AGENT_NAME: 'coder',
    COX_PROMPT_CLAIM_IT: 'Look\nwell.',
    COX_CLAIM_ID: 'claim-1',
    COX_PHASE: 'exclusive',
    COX_RUN: given.run_id,
    COX_BOARD_FOLDER: place.places.folder,
  }))
    assert.equal(seen[name], value, name);
  for (const name of [
    'COX_STORE',
    'COX_PERSON_KEY',
    'COORDINATION_API_KEYS',
    'SESSION_ID',
    'GIT_DIR',
    'GIT_INDEX_FILE',
  ])
    assert.equal(seen[name], undefined, name);
});

test('a program with a path is the configuration’s, and Ctrl-C still reaches what an agent starts', async () => {
  using place = stage();
  // Not committed: its work tree has no such file.
  const script = `#!/bin/sh\nsh -c 'kill -INT $$; echo deaf'\n[ $? -eq 130 ] && ${printing()}\n`;
  writeFileSync(join(place.places.folder, 'own agent.sh'), script, { mode: 0o755 });
  const given = { ...assignment(''), agent: agent(['./own agent.sh'], { workspace: 'ro' }) };
  assert.equal((await startExecution(given, place.places).delivered).ok, true);
});

test('what can’t be started is a failure, and says why', async () => {
  using place = stage();
  const deliver = async (given = assignment(printing()), places = place.places) =>
    failureIn(await startExecution(given, places).delivered);
  const late = await deliver(assignment(printing(), { limit_ms: 0 }));
  assert.equal(late.reason, 'It was not done in time (0 s).');
  assert.match((await deliver({ ...assignment(''), agent: agent([]) })).error, /no command/);
  const gone = { ...place.places, folder: join(place.root, 'gone') };
  assert.equal((await deliver(assignment(printing()), gone)).reason, 'It could not be started.');
  writeFileSync(join(place.root, 'file'), '');
  const unwritable = { ...place.places, runs: join(place.root, 'file', 'runs') };
  assert.match((await deliver(assignment(printing()), unwritable)).error, /ENOTDIR/);
  const tree = assignment(printing(), {}, { workspace: 'rw' });
  const { repository, ...without } = place.places;
  assert.ok(repository);
  assert.match((await deliver(tree, without)).error, /no repository/);
});

test('a run’s name never leaves the folder of runs, and its folder is private', async () => {
  using place = stage();
  for (const run_id of ['../../escape', 'a/b', '.', '', '-rf', 'claim ; agent\nname', 'ü'.repeat(300)]) {
    assert.match(runName(run_id), /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/);
    const delivery = await startExecution(assignment(printing(), { run_id }), place.places).delivered;
    assert.equal(delivery.ok, true, run_id);
    const folder = join(place.places.runs, runName(run_id));
    assert.equal(statSync(folder).mode & 0o777, 0o700);
  }
  assert.notEqual(runName('a/b'), runName('a b'));
  assert.equal(existsSync(join(place.root, 'escape')), false);
});
