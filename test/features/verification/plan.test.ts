import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_POLICIES } from '../../../src/features/verification/defaults.ts';
import { commandFor } from '../../../src/features/verification/files/policy-commands.ts';
import { parsePolicies } from '../../../src/features/verification/files/policy-file.ts';
import { planFor } from '../../../src/features/verification/verification-plan.ts';
import type { VerificationPolicy } from '../../../src/features/verification/verification-policy.ts';
import { overall } from '../../../src/features/verification/verification-run.ts';
import type { TrustLevel } from '../../../src/runtime/access.ts';

const planned = (files: string[], trust: TrustLevel = 2, policies = DEFAULT_POLICIES) =>
  planFor({ files }, policies, trust).map(({ policy, status }) => `${policy.tier} ${policy.name} ${status}`);

const BOTH = ['0 static-analysis queued', '1 unit-tests queued'];

test('[VER-9] [VER-6] the shipped policies: migrations to tier 3, security-sensitive files to a person', () => {
  const cases: [file: string, further: string[]][] = [
    ['src/app.ts', []],
    ['src/api/users.ts', ['2 integration-tests queued']],
    ['db/migrations/0001_users.py', ['3 database-migrations queued']],
    ['schema.sql', ['3 database-migrations queued']],
    ['Schema.SQL', ['3 database-migrations queued']],
    ['src/auth/login.ts', ['4 security-sensitive waiting_for_person']],
    ['config/Secrets.yaml', ['4 security-sensitive waiting_for_person']],
    ['.env.production', ['4 security-sensitive waiting_for_person']],
    ['.github/workflows/ci.yml', ['4 security-sensitive waiting_for_person']],
    ['src/author.ts', []],
  ];
  for (const [file, further] of cases) assert.deepEqual(planned([file]), [...BOTH, ...further], file);
});

test('[VER-2] files that are excluded do not count, others beside them do', () => {
  assert.deepEqual(planned(['README.md', 'docs/a/b.ts']), []);
  assert.deepEqual(planned(['README.md', 'a.ts']), BOTH);
  const [first] = planFor({ files: ['README.md', 'a.ts'] }, DEFAULT_POLICIES, 2);
  assert.deepEqual(first?.files, ['a.ts']);
  assert.deepEqual(planned(['src/auth/README.md']), ['4 security-sensitive waiting_for_person']);
});

test('[VER-8] trust 3 and above skips tiers 0 and 1 and nothing else; without trust a person looks, always', () => {
  const files = ['db/migrations/1.sql', '.env'];
  for (const trust of [3, 4] as const)
    assert.deepEqual(planned(files, trust), [
      '0 static-analysis skipped',
      '1 unit-tests skipped',
      '3 database-migrations queued',
      '4 security-sensitive waiting_for_person',
    ]);
  assert.deepEqual(planned(['README.md'], 0), ['4 untrusted-change waiting_for_person']);
  assert.deepEqual(planned(['a.ts'], 0, []), ['4 untrusted-change waiting_for_person']);
  assert.deepEqual(planned(['a.ts'], 1), BOTH);
});

test('[VER-7] of a change whose files are not all known every policy applies', () => {
  const plan = planFor({ files: ['README.md'], truncated: true }, DEFAULT_POLICIES, 2);
  assert.deepEqual(
    plan.map(({ policy }) => policy.tier),
    [0, 1, 2, 3, 4],
  );
});

test('[VER-1] a policy that requires approval waits for a person before it runs', () => {
  const policy = { ...DEFAULT_POLICIES[0], requires_approval: true } as VerificationPolicy;
  assert.deepEqual(planned(['a.ts'], 2, [policy]), ['0 static-analysis waiting_for_person']);
  assert.deepEqual(planned(['a.ts'], 3, [policy]), ['0 static-analysis skipped']);
});

test('the worst status speaks for all, and nothing passes by not being run', () => {
  assert.equal(overall(['passed', 'failed', 'waiting_for_person']), 'failed');
  assert.equal(overall(['passed', 'skipped']), 'passed');
  assert.equal(overall(['skipped', 'skipped']), 'skipped');
  assert.equal(overall(['passed', 'queued']), 'queued');
  assert.equal(overall([]), 'nothing_to_verify');
});

test('[VER-3] the command of a tier is found from what the project has, by fixed names only', () => {
  const project = (files: Record<string, string>) => (tier: 0 | 1 | 2 | 3 | 4) =>
    commandFor(tier, (name) => files[name]);
  const node = project({
    'package.json': JSON.stringify({
      scripts: { lint: 'x', typecheck: 'y', test: 'z', 'test; rm -rf /': '' },
    }),
  });
  assert.equal(node(0), 'failed=0; npm run lint || failed=1; npm run typecheck || failed=1; exit $failed');
  assert.equal(node(1), 'npm run test');
  assert.equal(node(2), undefined);
  const make = project({ Makefile: 'test: build\n\tgo test\nlint := x\n' });
  assert.deepEqual([make(0), make(1)], [undefined, 'make test']);
  const python = project({ 'pyproject.toml': '[tool.ruff]\n[tool.pytest.ini_options]\n' });
  assert.deepEqual([python(0), python(1)], ['ruff check .', 'python3 -m pytest']);
  for (const hostile of ['{', 'null', '[]', '{"scripts":7}'])
    assert.equal(project({ 'package.json': hostile })(1), undefined);
});

const FILE = `version: 1
policies:
  - name: api-tests
    tier: 2
    executor: inline
    patterns: ["src/api/**"]
    exclude_patterns: ["**/*.md"]
    required_environment: [DATABASE_URL]
    timeout_seconds: 60
    requires_approval: true
    command: npm run test:api
`;

test('[VER-1] a file of policies is read whole, or every mistake is named with its line', () => {
  const read = parsePolicies(FILE);
  assert.ok(read.ok);
  assert.deepEqual(read.policies[0]?.required_environment, ['DATABASE_URL']);
  const wrong = parsePolicies(
    FILE.replace('tier: 2', 'tier: 9').replace('api-tests', 'Api Tests').replace('  command', '  comand'),
  );
  assert.ok(!wrong.ok);
  assert.deepEqual(
    wrong.problems.map(({ line, field }) => [line, field]),
    [
      [3, 'policies.0.name'],
      [4, 'policies.0.tier'],
      [11, 'policies.0.comand'],
    ],
  );
  const twice = parsePolicies(`${FILE}  - { name: api-tests, tier: 4, executor: inline, patterns: [a] }\n`);
  assert.ok(!twice.ok);
  assert.deepEqual(
    twice.problems.map(({ field }) => field),
    ['policies.1.executor', 'policies.1.name'],
  );
  for (const link of ['../x', '/etc', 'a/../b', '.', '..']) {
    const outside = parsePolicies(`${FILE}    link: [${JSON.stringify(link)}]\n`);
    assert.ok(!outside.ok, link);
  }
});
