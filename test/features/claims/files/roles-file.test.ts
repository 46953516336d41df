import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClaimRules, DEFAULT_RULES, mayConverge } from '../../../../src/features/claims/claim-rules.ts';
import { parseRoles } from '../../../../src/features/claims/files/roles-file.ts';

function rules(text: string): ClaimRules {
  const parsed = parseRoles(text, 'agent_roles.yml');
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.rules;
}

function problems(text: string): string[] {
  const parsed = parseRoles(text, 'agent_roles.yml');
  assert.ok(!parsed.ok, 'it was taken');
  return parsed.problems.map(({ line, field, reason }) => `${line} ${field}: ${reason}`);
}

/** The keys that the other implementations' files have, as they have them. */
const FOREIGN = `# with a comment before the document

---
version: "1.0.0"
roles:
  architect:
    description: "designs"
    converge_edges:
      - intent_requirements
      - design→code
    human_review_bypass: false
  cicd_agent:
    converge_edges: [uat_tests, cicd]
  full_stack:
    converge_edges: [all]
authority:
  human_authority: universal
  outside_authority_action: reject
  spec_mutation_requires_human: true
single_agent_defaults:
  agent_id: "primary"
  agent_role: "full_stack"
claim_protocol:
  stale_claim_timeout: 1h
  stale_claim_action: emit_signal
  inbox:
    path_template: "events/inbox/{agent_id}/"
  serialiser:
    ingestion_order: lexicographic_agent_id
    fallback: filesystem_mtime
work_isolation:
  drafts_path_template: "agents/{agent_id}/drafts/"
  scratch_path_template: "agents/{agent_id}/scratch/"
  ephemeral: true
  promotion_requires:
    - all_evaluators_pass
parallelism:
  routing_strategy: inner_product
  zero_inner_product: assign_freely
  nonzero_inner_product: warn_and_suggest_sequential
  skip_claimed_features: true
`;

test('[CLAIM-5] a file of the other implementations is read whole, without a warning', () => {
  const parsed = parseRoles(FOREIGN, 'config/agent_roles.yml');
  assert.ok(parsed.ok);
  assert.deepEqual(parsed.warnings, []);
  const read = parsed.rules;
  assert.equal(read.file, 'config/agent_roles.yml');
  assert.equal(read.outside_authority_action, 'reject');
  assert.equal(read.stale_ms, 3_600_000);
  assert.equal(read.isolation.drafts_path_template, 'agents/{agent_id}/drafts');
  assert.deepEqual(read.isolation.promotion_requires, ['all_evaluators_pass']);
  assert.deepEqual(read.routing, { nonzero_inner_product: 'warn', skip_claimed_features: true });
  for (const [role, edge, may] of [
    ['architect', 'design_code', true],
    ['architect', 'Design -> Code', true],
    ['architect', 'code_unit_tests', false],
    ['cicd_agent', 'design→uat_tests', true],
    ['cicd_agent', 'code→cicd', true],
    ['cicd_agent', 'design→code', false],
    ['full_stack', 'anything', true],
    ['observer', 'design_code', false],
    ['constructor', 'design_code', false],
  ] as const)
    assert.equal(mayConverge(read, role, edge), may, `${role} ${edge}`);
});

test('[CLAIM-5] what the file leaves out stays as it is without one; an empty file changes nothing', () => {
  assert.deepEqual(rules(''), { ...DEFAULT_RULES, file: 'agent_roles.yml' });
  const read = rules(
    'authority: { outside_authority_action: warn }\nclaim_protocol: { claim_ttl_seconds: 3600 }',
  );
  assert.deepEqual(read, {
    ...DEFAULT_RULES,
    file: 'agent_roles.yml',
    outside_authority_action: 'warn',
    ttl_ms: 3_600_000,
  });
  assert.deepEqual(rules('roles: { qa: { converge_edges: all } }').roles, {
    qa: { converge_edges: ['all'] },
  });
});

test('[CLAIM-5] ours: agents bound to roles, terms of edges; two spellings of an edge are one', () => {
  const read = rules(`roles: { qa: { converge_edges: [design->code, "design→code", design_code] } }
agents: { alice: qa }
edges:
  Design → Code: { human_required: true, evaluators: [lint, tests] }
work_isolation: { assets_path: assets/, spec_globs: ["spec/**"], adr_globs: [] }
`);
  assert.deepEqual(read.roles.qa?.converge_edges, ['design_code']);
  assert.deepEqual(read.agents, { alice: 'qa' });
  assert.deepEqual(read.edges, { design_code: { human_required: true, evaluators: ['lint', 'tests'] } });
  assert.equal(read.isolation.assets_path, 'assets');
  assert.deepEqual(problems('edges:\n  design→code: {}\n  design_code: {}'), [
    '3 edges.design_code: the same edge as "design→code"',
  ]);
});

test('[CLAIM-5] every mistake at once, each with its line', () => {
  const text = `roles:
  qa: { converge_edges: 7 }
authority:
  outside_authority_action: ignore
  outside_authority_acton: warn
claim_protocol:
  stale_claim_timeout: soon
  claim_ttl_seconds: 0
work_isolation:
  drafts_path_template: ../{agent_id}
  scratch_path_template: scratch
parallelism: { nonzero_inner_product: perhaps }
`;
  assert.deepEqual(
    problems(text).map((problem) => problem.split(':')[0]),
    [
      '2 roles.qa.converge_edges',
      '4 authority.outside_authority_action',
      '5 authority.outside_authority_acton',
      '7 claim_protocol.stale_claim_timeout',
      '8 claim_protocol.claim_ttl_seconds',
      '10 work_isolation.drafts_path_template',
      '11 work_isolation.scratch_path_template',
      '12 parallelism.nonzero_inner_product',
    ],
  );
  assert.deepEqual(
    problems('roles: { qa: { converge_edges: [] } }\nagents:\n  bob: boss\n  "a\\u202Eb": qa'),
    [
      '3 agents.bob: no role is called "boss"',
      '4 agents.a\u202Eb: not a name: expected printable characters only',
    ],
  );
  assert.deepEqual(problems('claim_protocol:\n  stale_claim_timeout: 30m\n  stale_threshold_seconds: 60'), [
    '3 claim_protocol.stale_threshold_seconds: says something else than stale_claim_timeout',
  ]);
});

test('[CLAIM-5] unknown keys at the top and in roles are warnings; where one would change who may what, mistakes', () => {
  const parsed = parseRoles('tools: [a]\nroles:\n  qa:\n    converge_edges: []\n    model: x\n', 'f');
  assert.ok(parsed.ok);
  assert.deepEqual(
    parsed.warnings.map(({ line, field }) => `${line} ${field}`),
    ['1 tools', '5 roles.qa.model'],
  );
  assert.deepEqual(problems('edges:\n  design_code: { human_requird: true }'), [
    '2 edges.design_code.human_requird: unknown field',
  ]);
});

test('[CLAIM-5] times are seconds or texts', () => {
  for (const [given, expected] of [
    ['1800', 1_800_000],
    ['"90"', 90_000],
    ['30m', 1_800_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
  ] as const) {
    assert.equal(rules(`claim_protocol: { stale_claim_timeout: ${given} }`).stale_ms, expected, given);
    assert.equal(rules(`claim_protocol: { stale_threshold_seconds: ${given} }`).stale_ms, expected, given);
  }
  for (const given of ['-1', '.nan', '.inf', '31d', '""', '[]', '1e99', 'true'])
    assert.match(
      problems(`claim_protocol: { claim_ttl_seconds: ${given} }`).join(),
      /^1 claim_protocol/,
      given,
    );
});

test('[CLAIM-5] no path leads out of its folder', () => {
  for (const path of [
    '/x/{agent_id}',
    '../{agent_id}',
    'a/../../{agent_id}',
    'C:/{agent_id}',
    's3://b/{agent_id}',
  ])
    assert.equal(problems(`work_isolation: { drafts_path_template: "${path}" }`).length, 1, path);
  assert.equal(problems('work_isolation: { assets_path: "a\\\\..\\\\b" }').length, 1);
});

test('[CLAIM-5] hostile YAML is refused clearly and soon', () => {
  const started_ms = performance.now();
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
    .split('')
    .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}]`)
    .join('\n')}`;
  assert.deepEqual(problems(bomb), ['1 file: too many aliases']);
  for (const deep of ['['.repeat(100_000), '{a: '.repeat(50_000), '[\n'.repeat(50_000), '- '.repeat(100_000)])
    assert.match(problems(deep).join(), /nested too deeply/);
  assert.match(problems('roles: [').join('\n'), /^1 file: /m);
  assert.match(problems('- a\n- b').join(), /expected object/);
  assert.match(problems('roles: {}\nroles: {}').join(), /^2 file: .*unique/);
  const odd = rules('roles: { __proto__: { converge_edges: [all] }, toString: { converge_edges: [all] } }');
  assert.equal(mayConverge(odd, 'valueOf', 'design_code'), false);
  assert.ok(performance.now() - started_ms < 5000);
});
