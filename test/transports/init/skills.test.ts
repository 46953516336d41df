import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { operations } from '../../../src/runtime/operation-list.ts';
import { readProject } from '../../tidy/files.ts';
import { bench } from './support.ts';

const shipped = (name: string) =>
  readFileSync(new URL(`../../../src/transports/cli/init/skills/${name}.md`, import.meta.url), 'utf8');

/** Words and every other sign count; English has fewer tokens than that. */
const tokensAtMost = (text: string) => text.match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)?.length ?? 0;

const TOOLS = [
  'register_session',
  'acquire_lock',
  'release_lock',
  'check_locks',
  'get_work',
  'complete_work',
  'write_handoff',
  'send_message',
];

test('[HOOK-3] the coordination skill and the AGENTS.md paragraph teach the tools by their real names, in under 400 tokens', () => {
  const names = new Set(operations.map(({ name }) => name as string));
  for (const name of TOOLS) assert.ok(names.has(name), name);
  for (const file of ['coordination', 'agents']) {
    const text = shipped(file);
    for (const name of TOOLS) assert.ok(text.includes(`\`${name}\``), `${file} does not teach ${name}`);
    assert.ok(tokensAtMost(text) < 400, `${file}: ${tokensAtMost(text)}`);
  }
});

test('[HOOK-3] whatever looks like a tool or a field in the skills is one', async () => {
  const known = new Set<string>(['env_snippet', 'expires_at', 'locked_by', 'no_ports_available']);
  for (const { name, input } of operations) {
    known.add(name);
    for (const field of Object.keys((await input()).json.properties as object)) known.add(field);
  }
  for (const file of ['coordination', 'agents', 'validate-feature'])
    for (const [, word = ''] of shipped(file).matchAll(/`([a-z]+(?:_[a-z]+)+)`/g))
      assert.ok(known.has(word), `${file}: ${word}`);
});

test('[PORT-6] the validate-feature skill names no port but as the default of its variable', () => {
  const text = shipped('validate-feature');
  const variables = [
    'AGENT_COORDINATOR_DB_PORT',
    'AGENT_COORDINATOR_REST_PORT',
    'AGENT_COORDINATOR_REALTIME_PORT',
    'API_PORT',
  ];
  const bare = variables.reduce(
    (rest, name) => rest.replaceAll(new RegExp(`\\$\\{${name}:-\\d+\\}`, 'g'), ''),
    text,
  );
  assert.doesNotMatch(bare, /\d{4,}/);
  assert.ok(text.includes(`http://localhost:\${AGENT_COORDINATOR_REST_PORT:-3000}/`));
  const start = text.slice(text.indexOf('2. '), text.indexOf('3. '));
  for (const name of variables.slice(0, 3))
    assert.match(start, new RegExp(`${name}="`), 'compose is given each of them');
  assert.match(text, /^---\nname: validate-feature\ndescription: .+\n---\n/);
});

test('[PORT-6] no test of ours counts on a port of that stack', () => {
  const fixed = readProject()
    .filter(({ path }) => path.startsWith('test/') && !path.startsWith('test/transports/init/'))
    // Commands that are read there, and never run.
    .filter(({ path }) => !path.startsWith('test/features/guardrails/'))
    .filter(({ text }) => /localhost:(3000|54322|4000)\b/.test(text));
  assert.deepEqual(
    fixed.map(({ path }) => path),
    [],
  );
});

test('[HOOK-3] skills are meant for the repository: nothing of this machine in them, and not kept out of commits', async () => {
  using place = bench();
  assert.equal((await place.cox(['init', '--yes', '--skills', '--client', 'codex'])).code, 0);
  const paths = [
    '.claude/skills/coordination/SKILL.md',
    '.claude/skills/validate-feature/SKILL.md',
    'AGENTS.md',
  ];
  for (const path of paths)
    assert.doesNotMatch(place.read(path), new RegExp(`${place.home}|${process.execPath}`));
  assert.doesNotMatch(place.read('.git/info/exclude'), /SKILL|AGENTS/);
});
