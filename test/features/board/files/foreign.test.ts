import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DEFAULT_SETTINGS } from '../../../../src/features/board/board-settings.ts';
import { agentSchema } from '../../../../src/features/board/files/agent-schema.ts';
import { schemaKit } from '../../../../src/features/board/files/schema-kit.ts';
import { board, parse, problems, warnings } from './support.ts';

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
const sett = read('test/fixtures/board/sett.yml');
const holt = read('test/fixtures/board/holt.yml');

test('a sett.yml with all that Sett knows is read as it is', () => {
  const { agents, settings, file, folder } = board(sett, { env: { API_KEY: 'k' } });
  assert.deepEqual([file, folder], ['cox.yml', '/project']);
  assert.deepEqual(settings, { ...DEFAULT_SETTINGS, max_review_iterations: 5 });
  const nothing = { environment: {}, prompts: {} };
  assert.deepEqual(agents, [
    {
      agent_id: 'planner',
      role: 'Planner',
      standing_bid: { bid: 'exclusive' },
      bid_script: ['./agents/bid.sh'],
      program: {
        ...nothing,
        command: ['./agents/plan.sh', '--steps', '7'],
        runtime: 'process',
        workspace: 'ro',
        prompts: {
          claim: 'Bid when a goal has no plan yet.',
          execution: 'Write a plan in short steps.\nSay what each of them changes.\n',
        },
      },
      max_concurrent: 1,
      workers: false,
    },
    {
      agent_id: 'coder',
      role: 'Coder',
      standing_bid: { bid: 'claim' },
      program: {
        ...nothing,
        command: ['./agents/code-worker.sh'],
        runtime: 'process',
        workspace: 'rw',
        environment: { MODEL: 'large', API_KEY: 'k' },
        cpus: 1.5,
        memory_bytes: 2 * 1024 ** 3,
      },
      max_concurrent: 3,
      workers: true,
    },
    {
      agent_id: 'reviewer',
      role: 'Reviewer',
      standing_bid: { bid: 'review' },
      // Sett mounts the repository read-only where nothing is said.
      program: { ...nothing, command: ['./agents/review.sh'], runtime: 'process', workspace: 'ro' },
      max_concurrent: 1,
      workers: false,
    },
    {
      agent_id: 'tester',
      role: 'Tester',
      standing_bid: { bid: 'claim' },
      program: { ...nothing, command: ['./agents/test.sh'], runtime: 'process', workspace: 'ro' },
      max_concurrent: 2,
      workers: true,
    },
  ]);
});

test('what Sett uses and we do not is said, by line, and nothing else is', () => {
  assert.deepEqual(
    warnings(sett).map((warning) => warning.split(': ')[0]),
    [
      '10 agents.planner.image',
      '25 agents.coder.build',
      '33 agents.coder.worker.image',
      '40 agents.coder.environment.1',
      '45 agents.coder.resources.reservations',
      '51 agents.reviewer.image',
      '55 agents.reviewer.health_check',
      '62 agents.tester.image',
      '66 agents.tester.strategy',
      '69 services.redis',
      '71 services.orchestrator',
    ],
  );
});

test('a sett.yml under `runtime: container` runs in its images', () => {
  const { agents } = board(sett.replace('orchestrator:\n', 'orchestrator:\n  runtime: container\n'));
  assert.deepEqual(
    agents.map(({ program }) => [program?.runtime, program?.image, program?.command[0]]),
    [
      ['container', 'acme/planner:2.1', './agents/plan.sh'],
      ['container', 'acme/coder-worker:latest', './agents/code-worker.sh'],
      ['container', 'acme/reviewer:latest', './agents/review.sh'],
      ['container', 'acme/tester:latest', './agents/test.sh'],
    ],
  );
});

test('a holt.yml: the key is the role, strategies are maps, `<<` merges, variables are replaced', () => {
  const { agents } = board(holt, { env: { ACME_TOKEN: 'a: b # "c"' } });
  assert.deepEqual(
    agents.map(({ agent_id, role, standing_bid }) => [agent_id, role, standing_bid]),
    [
      ['Designer', 'Designer', { bid: 'exclusive', target_types: ['GoalDefined', 'Design*'] }],
      ['Builder', 'Builder', { bid: 'exclusive' }],
      ['Collector', 'Collector', undefined],
    ],
  );
  assert.deepEqual(
    agents.map(({ program }) => [program?.workspace, program?.environment]),
    [
      ['ro', { MOCK_MODE: 'true', TOKEN: 'a: b # "c"' }],
      ['rw', {}],
      ['ro', { BATCH: '10' }],
    ],
  );
  assert.deepEqual(
    agents.map(({ workers, max_concurrent }) => [workers, max_concurrent]),
    [
      [false, 1],
      [false, 1],
      [true, 1],
    ],
  );
});

test('a holt.yml: what is not used is said; a variable that is not set is a mistake', () => {
  const found = warnings(holt, { env: { ACME_TOKEN: 't' } });
  for (const field of [
    '9 orchestrator.image',
    '10 orchestrator.timestamp_drift_tolerance_ms',
    '32 agents.Builder.volumes',
    '37 agents.Collector: never bids',
    '45 agents.Collector.worker.keep_containers',
    '46 agents.Collector.synchronize',
    '52 services.redis',
  ])
    assert.ok(
      found.some((warning) => warning.startsWith(field)),
      `${field} in\n${found.join('\n')}`,
    );
  assert.deepEqual(
    found.filter((warning) => warning.includes('unknown')),
    [],
  );
  assert.deepEqual(problems(holt), ['22 agents.Designer.environment.1: the variable ACME_TOKEN is not set']);
});

test('the example of docs/board-file.md is sound, and the page names every key of an agent', () => {
  const text = read('docs/board-file.md');
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(text) ?? [];
  const parsed = parse(example, { env: { USER: 'anna' } });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  assert.deepEqual(parsed.warnings, []);
  const shown = { ...DEFAULT_SETTINGS, bid_deadline_ms: 60_000 };
  assert.deepEqual(parsed.config.settings, shown, 'it shows the defaults, and a deadline');
  for (const key of Object.keys(agentSchema(schemaKit(true)).shape))
    assert.match(text, new RegExp(`\`${key}\\b`), key);
  const [writer, reviewer, tester, anna] = parsed.config.agents;
  assert.deepEqual(writer?.files, ['src/', 'docs/*.md']);
  assert.equal(writer?.program?.environment.GREETING, 'hello anna');
  assert.deepEqual(
    [reviewer?.timeout_ms, reviewer?.on_failure, reviewer?.max_attempts],
    [120_000, 'retry', 2],
  );
  assert.deepEqual(
    [tester?.program?.image, tester?.workers, tester?.max_concurrent, tester?.program?.memory_bytes],
    ['example/tester:1', true, 4, 512 * 1024 ** 2],
  );
  assert.deepEqual(anna, { agent_id: 'anna', role: 'Editor', max_concurrent: 1, workers: false });
});
