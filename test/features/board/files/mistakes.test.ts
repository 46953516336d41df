import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SETTINGS } from '../../../../src/features/board/board-settings.ts';
import { agent, board, problems, warnings } from './support.ts';

test('[BID-3] two agents of one role: refused in the words of the seed, which name both, with the line', () => {
  const text = `version: "1.0"
agents:
  A:
    role: X
    command: [run]
    bidding_strategy: claim
  B:
    command: [run]
    bidding_strategy: claim
    role: X
`;
  assert.deepEqual(problems(text), [
    "10 agents.B.role: duplicate agent role 'X' found (agents 'A' and 'B'): all agents must have unique roles in Phase 3",
  ]);
});

test('[BID-3] a third one is refused, too; a name that stands in for a role is one', () => {
  const found = problems('agents:\n  A: { role: X }\n  X:\n  C: { role: X }\n');
  assert.deepEqual(
    found.map((problem) => problem.replace(/: all.*/, '')),
    [
      "3 agents.X.role: duplicate agent role 'X' found (agents 'A' and 'X')",
      "4 agents.C.role: duplicate agent role 'X' found (agents 'A' and 'C')",
    ],
  );
});

test('[BID-3] replicas of an agent are one role; duplicates can be allowed', () => {
  assert.equal(agent('role: X, command: [run], replicas: 4, bidding_strategy: claim').workers, true);
  const twice = 'agents: { A: { role: X }, B: { role: X } }\n';
  for (const word of ['true', 'True', '"true"'])
    assert.equal(
      board(`${twice}orchestrator: { allow_duplicate_roles: ${word} }`).settings.allow_duplicate_roles,
      true,
    );
  assert.equal(problems(`${twice}orchestrator: { allow_duplicate_roles: false }`).length, 1);
  assert.deepEqual(problems(`${twice}orchestrator: { allow_duplicate_roles: perhaps }`), [
    '2 orchestrator.allow_duplicate_roles: expected true or false',
  ]);
});

const WRONG = `version: "2.0"
orchestrator:
  max_review_iterations: -1
  bid_deadline: soon
  timeouts:
    review: 0
    parallel: 8d
  on_failure: panic
  max_attempts: 0
  runtime: vm
agents:
  planner:
    role: dev
    bidding_strategy: exclusiv
    command: []
    environment: [1X=2, OK=1, "\${UNSET}"]
  coder:
    role: dev
    bidding_strategy:
      type: parallel
      target_types: all
    command: run.sh
    workspace: { mode: wr }
    replicas: 0
    resources: { cpus: many, limits: { memory: 12 } }
    timeout: -5s
  box:
    runtime: container
    command: [run]
    environment: { KEY: "\${UNSET}" }
  nothing: { runtime: process }
  lead: { mode: controller, files: [../x, src/] }
  "a\\u202Eb": text
  coxswain: {}
  other: { mode: leader, strategy: keep, max_concurrent: 1.5, prompts: { "a b": x }, bid_script: [""] }
`;

test('every mistake at once, each with its line, in the order of the lines', () => {
  assert.deepEqual(
    problems(WRONG).map((problem) => problem.split(': ')[0]),
    [
      '1 version',
      '3 orchestrator.max_review_iterations',
      '4 orchestrator.bid_deadline',
      '6 orchestrator.timeouts.review',
      '7 orchestrator.timeouts.parallel',
      '8 orchestrator.on_failure',
      '9 orchestrator.max_attempts',
      '10 orchestrator.runtime',
      '14 agents.planner.bidding_strategy.type',
      '15 agents.planner.command',
      '16 agents.planner.environment.0',
      '16 agents.planner.environment.2',
      '18 agents.coder.role',
      '20 agents.coder.bidding_strategy.type',
      '21 agents.coder.bidding_strategy.target_types',
      '22 agents.coder.command',
      '23 agents.coder.workspace.mode',
      '24 agents.coder.replicas',
      '25 agents.coder.resources.cpus',
      '25 agents.coder.resources.limits.memory',
      '26 agents.coder.timeout',
      '27 agents.box',
      '30 agents.box.environment.KEY',
      '31 agents.nothing',
      '32 agents.lead',
      '32 agents.lead.files.0',
      '33 agents.a\u202Eb',
      '33 agents.a\u202Eb',
      '34 agents.coxswain',
      '35 agents.other.bid_script',
      '35 agents.other.prompts.a b',
      '35 agents.other.max_concurrent',
      '35 agents.other.mode',
      '35 agents.other.strategy',
    ],
  );
});

test('unknown keys are warnings, wherever they stand; x-… at the top is for references', () => {
  const text = `agents:
  a:
    colour: red
    worker: { size: 3 }
    bidding_strategy: { type: claim, weight: 2 }
    resources: { gpus: 1 }
orchestrator:
  timeouts: { rework: 3 }
  speed: 9
telemetry: {}
x-common: {}
`;
  assert.deepEqual(
    warnings(text).map((warning) => warning.split(': ')[0]),
    [
      '3 agents.a.colour',
      '4 agents.a.worker.size',
      '4 agents.a.worker',
      '5 agents.a.bidding_strategy.weight',
      '6 agents.a.resources.gpus',
      '8 orchestrator.timeouts.rework',
      '9 orchestrator.speed',
      '10 telemetry',
    ],
  );
});

test('settings: what is there counts, the rest stays as it is without a file', () => {
  const settings = (text: string) => board(`agents: { a: }\norchestrator: ${text}`).settings;
  assert.deepEqual(settings(''), DEFAULT_SETTINGS);
  assert.deepEqual(settings('{ bid_deadline: , timeouts: , max_attempts: "" }'), DEFAULT_SETTINGS);
  assert.deepEqual(
    settings(
      '{ max_review_iterations: 0, bid_deadline: 0, timeouts: { review: 90, exclusive: 2h }, on_failure: retry, max_attempts: 7, stuck_after: "1d" }',
    ),
    {
      bid_deadline_ms: 0,
      timeouts_ms: { review: 90_000, parallel: 600_000, exclusive: 7_200_000 },
      max_review_iterations: 0,
      on_failure: 'retry',
      max_attempts: 7,
      stuck_ms: 86_400_000,
      allow_duplicate_roles: false,
    },
  );
});

test('times are seconds or texts', () => {
  for (const [given, expected_ms] of [
    ['90', 90_000],
    ['"90"', 90_000],
    ['0.25', 250],
    ['2m', 120_000],
    ['7d', 604_800_000],
  ] as const)
    assert.equal(agent(`timeout: ${given}`).timeout_ms, expected_ms, given);
  for (const given of ['0', '-1', '.nan', '.inf', '1e3', '0x10', '8d', '[]', 'true', '1m30s', '0.0001', '{}'])
    assert.match(problems(`agents: { a: { timeout: ${given} } }`).join(), /^1 agents\.a\.timeout: /, given);
});
