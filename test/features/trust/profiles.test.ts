import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { applyProfiles } from '../../../src/features/trust/change-rulebook.ts';
import type { Profile } from '../../../src/features/trust/profile.ts';
import { readDuration, showDuration } from '../../../src/features/trust/profiles/duration.ts';
import { parseProfiles, profileEdit } from '../../../src/features/trust/profiles/profile-file.ts';
import { describeProfile } from '../../../src/features/trust/profiles/show-profile.ts';
import {
  EMPTY_RULEBOOK,
  everyProfile,
  profileNamed,
  type RulebookState,
  rulebookEntity,
  rulebookEvent,
  rulebookKey,
  standingOf,
} from '../../../src/features/trust/rulebook.ts';
import { LoadedSet } from '../../../src/ledger/proposal.ts';

const SEED = readFileSync(new URL('./seed-profiles.md', import.meta.url), 'utf8');

function seedBlocks(): [name: string, yaml: string][] {
  return [...SEED.matchAll(/^### (\S+)\n```yaml\n([\s\S]*?)```/gm)].map(([, name = '', yaml = '']) => [
    name,
    yaml,
  ]);
}

test('[PROF-1] [PROF-6] the seed’s five profiles ship, field by field, as a plain YAML parser reads them', () => {
  const blocks = seedBlocks();
  assert.equal(blocks.length, 5);
  for (const [name, yaml] of blocks) {
    const shipped = profileNamed(undefined, name);
    assert.ok(shipped !== undefined, name);
    const { resource_limits: limits, ...said } = parse(yaml);
    const { resource_limits: shownLimits, ...shown } = describeProfile(shipped);
    for (const [field, value] of Object.entries(said))
      assert.deepEqual(shown[field], value, `${name}.${field}`);
    // A limit that the seed does not name is none.
    const unnamed = { ...(shownLimits as Record<string, unknown>), ...limits };
    assert.deepEqual(shownLimits, unnamed, name);
    for (const [limit, value] of Object.entries(unnamed))
      if (!(limit in limits)) assert.equal(value, 'unlimited', `${name}.${limit}`);
    // And nothing that the seed does not say.
    assert.deepEqual(
      [shown.agent_types, shown.elevated_operations, shown.network_default, shown.required_domains],
      [[said.agent_type], [], undefined, said.required_domains ?? []],
      name,
    );
  }
});

test('[PROF-6] the seed’s text is itself a file that sets the same profiles', () => {
  for (const [name, yaml] of seedBlocks()) {
    const parsed = parseProfiles(`profiles:\n  ${name}:\n${yaml.replaceAll(/^/gm, '    ')}`);
    assert.ok(parsed.ok, name);
    const [given] = parsed.document.profiles;
    const shipped = profileNamed(undefined, name);
    for (const [field, value] of Object.entries(given ?? {}))
      if (value !== undefined) assert.deepEqual(shipped?.[field as keyof Profile], value, `${name}.${field}`);
  }
});

test('[PROF-1] a default for each type of agents, under the names clients have for themselves', () => {
  const named = (agent_type: string) => standingOf(undefined, { agent_id: 'a', agent_type });
  const profiles = Object.fromEntries(
    ['claude-code', 'claude_code_cli', 'Claude Code', 'codex', 'codex-mcp-client', 'gemini-cli', 'aider']
      .concat(['claude_code_web', 'codex_cloud', 'CODEX-CLOUD', 'strands_agent', 'gemini_cloud', 'my_bot'])
      .map((type) => [type, `${named(type).profile.name} ${named(type).trust_level} ${named(type).source}`]),
  );
  assert.deepEqual(profiles, {
    'claude-code': 'claude-code-cli 3 agent_type',
    claude_code_cli: 'claude-code-cli 3 agent_type',
    'Claude Code': 'claude-code-cli 3 agent_type',
    codex: 'codex-cli 3 agent_type',
    'codex-mcp-client': 'codex-cli 3 agent_type',
    'gemini-cli': 'gemini-cli 3 agent_type',
    aider: 'aider 3 agent_type',
    // Of the seed's two for this type the one with less trust; the other is assigned.
    claude_code_web: 'claude-code-web-reviewer 2 agent_type',
    codex_cloud: 'codex-cloud-worker 2 agent_type',
    'CODEX-CLOUD': 'codex-cloud-worker 2 agent_type',
    // Level 4 is given by a person: an agent that names its type does not get it.
    strands_agent: 'strands-orchestrator 3 agent_type',
    gemini_cloud: 'cloud-default 1 default',
    my_bot: 'default 2 default',
  });
});

function fold(...events: [type: string, data: object][]): RulebookState {
  return events.reduce<RulebookState>(
    (state, [type, data]) => rulebookEntity.evolve(state, rulebookEvent(type, data as never), 0),
    EMPTY_RULEBOOK,
  );
}

test('[PROF-1] assigned to an agent beats assigned to its type beats what ships', () => {
  const who = { agent_id: '__proto__', agent_type: 'codex' };
  const ofType = fold(['profile_assigned', { agent_type: 'codex-cli', profile: 'reviewer' }]);
  assert.equal(standingOf(ofType, who).profile.name, 'reviewer');
  const own = rulebookEntity.evolve(
    ofType,
    rulebookEvent('profile_assigned', { agent_id: '__proto__', profile: 'strands-orchestrator' }),
    0,
  );
  assert.deepEqual(
    [standingOf(own, who).profile.name, standingOf(own, who).trust_level, standingOf(own, who).source],
    ['strands-orchestrator', 4, 'agent'],
  );
  // An agent that lost its profile does not get more than the default for it.
  const dangling = fold(['profile_assigned', { agent_id: '__proto__', profile: 'gone' }]);
  assert.deepEqual(
    [standingOf(dangling, who).profile.name, standingOf(dangling, who).source],
    ['default', 'default'],
  );
});

test('[PROF-7] lowered trust holds under every profile until it is restored', () => {
  const who = { agent_id: 'alice', agent_type: 'claude-code' };
  const lowered = fold(['trust_lowered', { agent_id: 'alice', to: 1, reason: 'five violations' }]);
  assert.equal(standingOf(lowered, who).trust_level, 1);
  assert.equal(standingOf(lowered, { ...who, agent_id: 'bob' }).trust_level, 3);
  const restored = rulebookEntity.evolve(lowered, rulebookEvent('trust_restored', { agent_id: 'alice' }), 0);
  assert.equal(standingOf(restored, who).trust_level, 3);
});

test('PROFILES_DEFAULT_TRUST is for those without a profile of their type, and the rulebook beats it', () => {
  const unknown = { agent_id: 'a', agent_type: 'my_bot' };
  assert.equal(standingOf(undefined, unknown, 1).trust_level, 1);
  assert.equal(standingOf(undefined, { ...unknown, agent_type: 'codex' }, 1).trust_level, 3);
  assert.equal(standingOf(fold(['rulebook_settings_set', { default_trust: 0 }]), unknown, 3).trust_level, 0);
});

test('[PROF-6] limits are numbers, times or unlimited', () => {
  const parsed = parseProfiles(`profiles:
  p:
    resource_limits: { max_file_modifications: unlimited, max_execution_time: 90m, max_file_reads: 7 }
`);
  assert.ok(parsed.ok);
  assert.deepEqual(parsed.document.profiles[0]?.resource_limits, {
    max_file_reads: 7,
    max_execution_seconds: 5400,
  });
  assert.deepEqual(['45s', '30m', '2h', '1d', '', '2 h', '-1h', '1w', '9999999s'].map(readDuration), [
    45,
    1800,
    7200,
    86_400,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  for (const seconds of [1, 45, 1800, 5400, 7200, 86_400])
    assert.equal(readDuration(showDuration(seconds)), seconds);
});

test('a file with mistakes yields every one of them with its line, and changes nothing', () => {
  const parsed = parseProfiles(`profiles:
  p:
    trust_level: 5
    connection: telnet
    guardrails: [no_such_rail]
    colour: red
  ../q:
    trust_level: 1
assignments:
  - { agent_id: alice, agent_type: codex, profile: p }
settings: { default_trust: 4 }
`);
  assert.ok(!parsed.ok);
  assert.deepEqual(parsed.problems.map(({ line, field }) => `${line} ${field}`).sort(), [
    '10 assignments.0',
    '11 settings.default_trust',
    '3 profiles.p.trust_level',
    '4 profiles.p.connection',
    '5 profiles.p.guardrails.0',
    '6 profiles.p.colour',
    '8 profiles.../q',
  ]);
});

test('every profile, written out and applied again, is the same', () => {
  const by = { agent_id: 'person:bob', person: true };
  for (const profile of everyProfile(undefined)) {
    const { name, ...fields } = describeProfile(profile);
    const edit = profileEdit(String(name), { connection: 'any', ...fields } as never);
    const loaded = new LoadedSet();
    loaded.put(rulebookKey, undefined);
    const verdict = applyProfiles({ profiles: [edit], assignments: [] }, by).decide(loaded, 0);
    assert.ok(verdict.verdict === 'commit');
    assert.deepEqual(verdict.events[0]?.data.profile, profile, profile.name);
  }
});
