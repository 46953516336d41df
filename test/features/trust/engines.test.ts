import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCedarEngine } from '../../../src/features/trust/cedar/cedar-engine.ts';
import {
  nativeEngine,
  type PermitQuestion,
  type PolicyEngine,
  permit,
} from '../../../src/features/trust/permit.ts';
import { GUARDRAILS, type Profile, type Standing } from '../../../src/features/trust/profile.ts';
import { everyProfile, profileNamed } from '../../../src/features/trust/rulebook.ts';
import type { DoorName, Permission, TrustLevel } from '../../../src/runtime/access.ts';
import { PERMISSIONS } from '../../../src/runtime/access.ts';
import { operations } from '../../../src/runtime/operation-list.ts';

const cedar = await createCedarEngine();
const engines: readonly PolicyEngine[] = [nativeEngine, cedar];
const DOORS: readonly (DoorName | undefined)[] = [
  'mcp',
  'mcp_http',
  'http',
  'cli',
  'hook',
  'library',
  undefined,
];

function standingWith(name: string, trust_level?: TrustLevel): Standing {
  const profile = profileNamed(undefined, name);
  if (profile === undefined) throw new Error(`no profile ${name}`);
  return { profile, source: 'agent', trust_level: trust_level ?? profile.trust_level };
}

const asks = (permission: Permission): PermitQuestion => ({ operation: `hook_${permission}`, permission });

/** Every permission a profile has, in the order of the vocabulary. */
const MAY: Record<string, string> = {
  'claude-code-cli': 'read write execute network git_push git_push_branch git_push_main git_push_force',
  'claude-code-web-reviewer': 'read analyze comment create_review network',
  'claude-code-web-implementer': 'read write execute network git_push_branch',
  'codex-cloud-worker': 'read write execute network',
  'strands-orchestrator': 'read write execute network spawn_agent manage_swarm',
  'codex-cli': 'read write execute network git_push git_push_branch git_push_main git_push_force',
  'gemini-cli': 'read write execute network git_push git_push_branch git_push_main git_push_force',
  aider: 'read write execute network git_push git_push_branch git_push_main git_push_force',
  reviewer: 'read analyze comment create_review network',
  untrusted: 'read analyze comment network',
  'cloud-default': 'read write execute network git_push_branch',
  default:
    'read analyze comment create_review write execute network git_push git_push_branch git_push_main git_push_force',
};

for (const engine of engines) {
  const at = engine.name;

  test(`[PROF-2] [PROF-5] ${at}: what each profile may, from one vocabulary`, () => {
    for (const { name } of everyProfile(undefined)) {
      const may = PERMISSIONS.filter((each) => permit(standingWith(name), asks(each), engine) === undefined);
      assert.equal(may.join(' '), MAY[name], name);
    }
  });

  test(`[PROF-2] ${at}: who may not write is told so in the seed’s words`, () => {
    const refusal = permit(
      standingWith('reviewer'),
      { operation: 'submit_changeset', permission: 'write' },
      engine,
    );
    assert.deepEqual(
      [refusal?.success, refusal?.error, refusal?.permission, refusal?.profile],
      [false, 'operation_not_permitted', 'write', 'reviewer'],
    );
  });

  test(`[PROF-5] ${at}: coordination needs nothing, unless a profile blocks it by name or by group`, () => {
    const lock = { operation: 'acquire_lock', group: 'lock' };
    assert.equal(permit(standingWith('untrusted'), lock, engine), undefined);
    for (const word of ['acquire_lock', 'lock', 'Acquire-Lock']) {
      const { profile, ...rest } = standingWith('default');
      const blocked = { ...profile, blocked_operations: [word] };
      assert.equal(
        permit({ ...rest, profile: blocked }, lock, engine)?.error,
        'operation_not_permitted',
        word,
      );
      assert.equal(
        permit({ ...rest, profile: blocked }, { operation: 'get_work', group: 'work' }, engine),
        undefined,
      );
    }
  });

  test(`[PROF-5] ${at}: blocked beats allowed, and write_file is write`, () => {
    const { profile, ...rest } = standingWith('default');
    const both = {
      ...profile,
      allowed_operations: ['write', 'submit_changeset'],
      blocked_operations: ['write_file'],
    };
    assert.equal(permit({ ...rest, profile: both }, asks('write'), engine)?.blocked_by, 'write_file');
    const byAlias = { ...profile, allowed_operations: ['write_file'], blocked_operations: [] };
    assert.equal(permit({ ...rest, profile: byAlias }, asks('write'), engine), undefined);
  });

  test(`[PROF-4] [PROF-7] ${at}: what each level of trust has, whatever the profile lists`, () => {
    const { profile } = standingWith('default');
    const generous: Profile = { ...profile, allowed_operations: [...PERMISSIONS], blocked_operations: [] };
    const levels = ([0, 1, 2, 3, 4] as const).map((trust_level) => {
      const standing: Standing = { profile: generous, source: 'agent', trust_level };
      const missing = PERMISSIONS.filter((each) => permit(standing, asks(each), engine) !== undefined);
      for (const each of missing)
        assert.equal(permit(standing, asks(each), engine)?.error, 'insufficient_trust_level', each);
      const edits = permit(standing, { operation: 'set_profile', trust: 4 }, engine) === undefined;
      return `${missing.join(' ')}${edits ? ' (edits rules)' : ''}`;
    });
    assert.deepEqual(levels, [
      'write execute git_push git_push_branch git_push_main git_push_force git_push_force_main credential_modify spawn_agent manage_swarm',
      'git_push_main git_push_force git_push_force_main credential_modify spawn_agent manage_swarm',
      'git_push_force_main credential_modify manage_swarm',
      '',
      ' (edits rules)',
    ]);
  });

  test(`[PROF-6] ${at}: a profile’s connection is the way its agents come in`, () => {
    const ways = (name: string) =>
      DOORS.filter(
        (door) => permit(standingWith(name), { operation: 'get_work', door }, engine) === undefined,
      );
    assert.deepEqual(ways('claude-code-cli'), ['mcp', 'mcp_http', 'cli', 'hook', 'library', undefined]);
    assert.deepEqual(ways('codex-cloud-worker'), ['mcp_http', 'http', undefined]);
    assert.deepEqual(ways('strands-orchestrator'), ['mcp_http', 'http', 'library', undefined]);
    assert.deepEqual(ways('default'), [...DOORS]);
  });
}

test('every operation asks for what the vocabulary has', () => {
  for (const { name, permission } of operations)
    assert.ok(permission === undefined || PERMISSIONS.includes(permission), name);
});

const word = fc.constantFrom(
  ...PERMISSIONS,
  'write_file',
  'acquire_lock',
  'lock',
  'work',
  'Get-Work',
  'deploy',
);

const anyProfile: fc.Arbitrary<Profile> = fc.record({
  name: fc.constant('generated'),
  agent_types: fc.constant([]),
  trust_level: fc.constant(2 as const),
  connection: fc.constantFrom(undefined, 'mcp', 'http_api', 'agentcore_gateway'),
  network_policy: fc.constant('configurable'),
  required_domains: fc.constant([]),
  allowed_operations: fc.array(word, { maxLength: 6 }),
  blocked_operations: fc.array(word, { maxLength: 4 }),
  resource_limits: fc.constant({}),
  guardrails: fc.subarray([...GUARDRAILS]),
  elevated_operations: fc.constant([]),
});

const anyQuestion: fc.Arbitrary<PermitQuestion> = fc.record({
  operation: fc.constantFrom('acquire_lock', 'get_work', 'submit_changeset', 'deploy'),
  group: fc.constantFrom(undefined, 'lock', 'work', 'changeset'),
  permission: fc.constantFrom(undefined, ...PERMISSIONS),
  trust: fc.constantFrom(undefined, 0 as const, 3 as const, 4 as const),
  door: fc.constantFrom(...DOORS),
});

test('[PROF-5] Cedar and the native rules rule alike, on any profile and any question', () => {
  const anyTrust = fc.constantFrom<TrustLevel>(0, 1, 2, 3, 4);
  fc.assert(
    fc.property(anyProfile, anyTrust, anyQuestion, (profile, trust_level, question) => {
      const standing: Standing = { profile, source: 'agent', trust_level };
      assert.deepEqual(cedar.rule(standing, question), nativeEngine.rule(standing, question));
    }),
    { numRuns: 500 },
  );
});

test('[PROF-5] Cedar names the policies by which it decided', () => {
  const { profile } = standingWith('reviewer');
  const standing: Standing = { profile, source: 'agent', trust_level: 2 };
  assert.deepEqual(cedar.explain?.(standing, asks('write')), ['blocked/0', 'guardrail/read_only_filesystem']);
  assert.deepEqual(cedar.explain?.(standing, asks('read')), ['allowed/read']);
});
