import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { acquireLock } from '../../src/features/locks/operations/acquire-lock-operation.ts';
import { open } from '../../src/index.ts';
import { sha256 } from '../../src/kernel/hash.ts';
import { type Way, waysToChange } from '../transports/enforcement/ways-to-change.ts';
import { makePlace, type Place, programs, root } from './place.ts';
import { kill, workingIn } from './processes.ts';
import { Turn } from './turn.ts';
import { installed } from './vendors/all.ts';
import type { Client } from './vendors/client.ts';
import { wireUp } from './wire-up.ts';

/** A tenth of the ways to change a file; `COX_SEED` repeats a choice. With one seed `COX_TENTH` 1 to 10 are all of them. */
const seed = process.env.COX_SEED ?? String(randomInt(1_000_000));
const tenth = Number(process.env.COX_TENTH ?? 1);
const TENTHS = 10;
/** Codex answers after ten seconds, whether the command has ended or not. */
const AT_ONCE = 8;
/** The clients whose shell commands the kernel protects. */
const guarded = installed.filter(({ name }) => name !== 'gemini-cli');
const FILES = { 'held.txt': 'first\n', 'free.txt': 'first\n' };

function sample(): Way[] {
  const ways = waysToChange();
  const order = new Map(ways.map((way) => [way, sha256(`${seed} ${way.name}`)]));
  const mixed = ways.toSorted((a, b) => ((order.get(a) ?? '') < (order.get(b) ?? '') ? -1 : 1));
  const size = Math.ceil(ways.length / TENTHS);
  return mixed.slice((tenth - 1) * size, tenth * size);
}

/** Each way has a folder of its own, and a script that no hook reads. */
function filesFor(ways: readonly Way[]): Record<string, string> {
  const each = ways.map((_, index) => `(cd w${index} && bash way.sh) </dev/null >/dev/null 2>&1\n`);
  const parts = Array.from({ length: Math.ceil(each.length / AT_ONCE) }, (_, at) =>
    each.slice(at * AT_ONCE, (at + 1) * AT_ONCE).join(''),
  );
  const scripts = parts.map((part, at) => [`try-${at}.sh`, `${part}echo tried\n`]);
  return { ...Object.fromEntries(scripts), 'try-all.sh': each.join('') };
}

function prepare(repo: string, ways: readonly Way[]): void {
  for (const [index, { script }] of ways.entries()) {
    const folder = join(repo, `w${index}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'held.txt'), 'first line\nsecond line\n');
    writeFileSync(join(folder, 'other.txt'), 'something else\n');
    writeFileSync(join(folder, 'way.sh'), script);
  }
  const git = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  for (const words of [
    ['add', '-A'],
    [...git, 'commit', '-qm', 'ways'],
  ])
    assert.equal(spawnSync('git', words, { cwd: repo }).status, 0);
  for (const [index] of ways.entries()) {
    const folder = join(repo, `w${index}`);
    writeFileSync(join(folder, 'held.txt'), 'first line, changed\nsecond line\n');
    linkSync(join(folder, 'held.txt'), join(folder, 'linked.txt'));
  }
}

function statesOf(repo: string, ways: readonly Way[]): string[] {
  return ways.map((_, index) => {
    const path = join(repo, `w${index}`, 'held.txt');
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'gone';
    return found.isSymbolicLink() ? `to ${readlinkSync(path)}` : readFileSync(path, 'utf8');
  });
}

function changedSince(before: readonly string[], repo: string, ways: readonly Way[]): string[] {
  const after = statesOf(repo, ways);
  return ways.filter((_, index) => before[index] !== after[index]).map(({ name }) => name);
}

async function held(place: Place, file_paths: readonly string[]): Promise<void> {
  const coxswain = await open({ cwd: place.repo, env: place.env });
  try {
    const holder = coxswain.connect({ agent_id: 'the-holder' });
    for (const file_path of file_paths)
      assert.equal((await holder.perform(acquireLock, { file_path })).success, true);
  } finally {
    await coxswain.close();
  }
}

/** `start`: how the client is started, when the locks are there. */
async function tried(
  say: (text: string) => void,
  start: (place: Place) => Promise<Client>,
  extra = async (_turn: Turn, _client: Client, _place: Place): Promise<void> => {},
): Promise<void> {
  const ways = sample();
  const files = filesFor(ways);
  await using place = await makePlace(files);
  prepare(place.repo, ways);
  const before = statesOf(place.repo, ways);
  const outside = join(place.home, 'outside');
  cpSync(place.repo, outside, { recursive: true });
  spawnSync('bash', ['try-all.sh'], { cwd: outside, env: place.env });
  const working = changedSince(before, outside, ways).length;
  say(`seed ${seed}, tenth ${tenth}: ${working} of ${ways.length} ways change a file outside`);
  assert.ok(working >= ways.length * 0.7, `only ${working} of ${ways.length} work`);
  const names = ways.map((_, index) => `w${index}/held.txt`);
  const client = await start(place);
  await held(place, names);
  await using turn = await Turn.start(client, place);
  for (const [name] of Object.entries(files).filter(([script]) => script !== 'try-all.sh')) {
    const { result } = await turn.call(client.shell(`bash ${name}`));
    assert.match(result, /tried/);
  }
  await extra(turn, client, place);
  assert.deepEqual(changedSince(before, place.repo, ways), []);
  assert.equal((await turn.end()).code, 0);
  // Some ways leave a program behind that still waits to write.
  kill(workingIn(place.repo));
}

/** What a client's model is told of a command, without what differs each time. */
async function told(client: Client, isWired: boolean): Promise<string[]> {
  await using place = await makePlace(FILES);
  if (isWired) {
    await wireUp(place, [client]);
    await held(place, ['held.txt']);
  } else await client.settle(place);
  await using turn = await Turn.start(client, place);
  const results: string[] = [];
  for (const command of ORDINARY) results.push((await turn.call(client.shell(command))).result);
  assert.equal((await turn.end()).code, 0);
  const changing = /^(Chunk ID|Wall time): .*$/gm;
  return results.map((result) => result.replaceAll(place.repo, 'REPO').replace(changing, '$1'));
}

const ORDINARY = [
  `printf 'a  b\\n\\t$HOME "q" \\\\ %s\\n' "it's"; exit 3`,
  'echo wrong >&2; exit 1',
  'cat held.txt free.txt; pwd; echo "$0 $#"; git status --short; ulimit -n; umask',
  'cat <<END | tr a-z A-Z\nlines $((1 + 2))\n\nEND',
  'node -e "process.exit(process.stdin.isTTY ? 1 : 5)"; echo $?; kill -TERM $$',
];

for (const client of guarded) {
  test(`[LOCK-12] ${client.name}: no way to change a held file works in its shell commands`, (t) =>
    tried(
      (text) => t.diagnostic(text),
      async (place) => {
        await wireUp(place, [client]);
        return client;
      },
    ));

  test(`[HOOK-4] ${client.name}: ordinary commands answer as without us`, async () => {
    assert.deepEqual(await told(client, true), await told(client, false));
  });
}

/** The client as `cox run` starts it, without a hook of ours. */
function inRun(client: Client): Client {
  const program = relative(programs, join(root, 'bin', 'cox'));
  const run = ['run', '--protect', 'require', '--agent', 'runner', '--', join(programs, client.program)];
  return {
    ...client,
    program,
    words: (url) => [...run, ...client.words(url)],
    // Gemini CLI starts in no folder that a person has not trusted.
    environment: (url) => ({ ...client.environment(url), GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  };
}

for (const client of installed)
  test(`[LOCK-12] ${client.name}: in cox run neither its commands nor its edits change a held file`, (t) =>
    tried(
      (text) => t.diagnostic(text),
      async (place) => {
        await client.settle(place);
        return inRun(client);
      },
      async (turn, running, place) => {
        const edit = { path: 'w0/held.txt', before: 'first line, changed', after: 'edited' };
        const { result } = await turn.call(...running.edit(edit, place));
        t.diagnostic(`its edit: ${result.slice(0, 120)}`);
      },
    ));

for (const client of guarded.filter(({ name }) => name === 'codex'))
  test('[LOCK-12] codex: in cox run its own sandbox works, and holds what is held besides', async () => {
    await using place = await makePlace({ ...FILES, 'src/held.txt': 'first\n' });
    await client.settle(place);
    await held(place, ['held.txt', 'src/held.txt']);
    await using turn = await Turn.start(inSandbox(inRun(client), 'workspace-write'), place);
    // Codex keeps that folder read-only itself.
    const outside = '.git/new';
    const command = `cp free.txt new.txt; cp free.txt held.txt; mv src src2; cp free.txt src/held.txt; touch ${outside}; echo ended`;
    const { result } = await turn.call(client.shell(command));
    assert.match(result, /Read-only file system[\s\S]*ended/);
    for (const path of ['held.txt', 'free.txt'])
      await turn.call(...client.edit({ path, before: 'first', after: 'edited' }, place));
    const read = (name: string) => readFileSync(place.file(name), 'utf8');
    assert.deepEqual(['new.txt', 'free.txt', 'held.txt', 'src/held.txt'].map(read), [
      'first\n',
      'edited\n',
      'first\n',
      'first\n',
    ]);
    assert.equal(existsSync(place.file(outside)), false);
    assert.equal((await turn.end()).code, 0);
  });

/** With Codex's own sandbox instead of none. */
function inSandbox(client: Client, sandbox: 'read-only' | 'workspace-write'): Client {
  const words = (url: string) =>
    client.words(url).map((word) => (word === 'danger-full-access' ? sandbox : word));
  return { ...client, words };
}

for (const client of guarded.filter(({ name }) => name === 'claude-code'))
  test('[HOOK-4] claude-code: what its rules deny is denied, and what it asks a person about is asked', async () => {
    await using place = await makePlace(FILES);
    const rules = { permissions: { deny: ['Bash(touch denied.txt)'], allow: ['Bash(touch allowed.txt)'] } };
    // Rules of a repository's own that allow something count once a person trusts the folder.
    mkdirSync(join(place.home, '.claude'));
    writeFileSync(join(place.home, '.claude', 'settings.json'), JSON.stringify(rules));
    await wireUp(place, [client]);
    const asking: Client = { ...client, words: () => ['--permission-mode=default', '-p', 'Go on.'] };
    await using turn = await Turn.start(asking, place);
    for (const name of ['denied', 'asked', 'allowed']) await turn.call(client.shell(`touch ${name}.txt`));
    assert.deepEqual(
      ['denied', 'asked', 'allowed'].map((name) => existsSync(place.file(`${name}.txt`))),
      [false, false, true],
    );
    assert.equal((await turn.end()).code, 0);
  });

for (const client of guarded.filter(({ name }) => name === 'codex'))
  test('[HOOK-4] codex: what its rules forbid is forbidden, and its sandbox holds', async () => {
    await using place = await makePlace(FILES);
    const rules = join(place.home, '.codex', 'rules');
    mkdirSync(rules, { recursive: true });
    writeFileSync(join(rules, 'default.rules'), 'prefix_rule(pattern=["touch"], decision="forbidden")\n');
    await wireUp(place, [client]);
    await using open = await Turn.start(client, place);
    await open.call(client.shell('touch forbidden.txt'));
    await open.call(client.shell('cp free.txt copied.txt'));
    assert.deepEqual(
      [existsSync(place.file('forbidden.txt')), existsSync(place.file('copied.txt'))],
      [false, true],
    );
    assert.equal((await open.end()).code, 0);
    await using closed = await Turn.start(inSandbox(client, 'read-only'), place);
    const { result } = await closed.call(client.shell('cp free.txt again.txt; echo ended'));
    assert.match(result, /Read-only file system[\s\S]*ended/);
    assert.equal(existsSync(place.file('again.txt')), false);
    assert.equal((await closed.end()).code, 0);
  });
