import type { Plant } from './plants.ts';

const domain = (name: string) => `test/features/${name}.test.ts`;
const conformance = (name: string) => `test/conformance/${name}.test.ts`;

/** Which task is handed out to whom, and what its end means to others. */
export const queueing: readonly Plant[] = [
  {
    name: 'an unknown dependency counts as met',
    file: 'src/features/queue/submit-work.ts',
    from: "    return refuse('unknown_dependency',",
    to: "    return undefined;\n  if (parent === '')\n    return refuse('unknown_dependency',",
    tests: [domain('queue/submit-work')],
  },
  {
    name: 'the end of a task is not passed on',
    file: 'src/features/queue/state.ts',
    from: 'releasing: state.has_dependents,',
    to: 'releasing: false,',
    tests: [domain('queue/end-work')],
  },
  {
    name: 'priority 10 sorts before 2',
    file: 'src/features/queue/state.ts',
    from: "String(state.priority).padStart(2, '0')",
    to: 'String(state.priority)',
    tests: [domain('queue/get-work'), conformance('memory')],
  },
  {
    name: 'files that others have locked do not matter',
    file: 'src/features/queue/task-files.ts',
    from: 'lease.agent_id === agent_id || isOver(lease, now_ms)',
    to: 'lease.agent_id !== agent_id || isOver(lease, now_ms)',
    tests: [domain('queue/get-work')],
  },
  {
    name: 'every release of a lock makes all who wait read the whole queue',
    file: 'src/features/queue/operations/get-work-operation.ts',
    from: 'const LOOK_FAR_EVERY_MS = 4000;',
    to: 'const LOOK_FAR_EVERY_MS = 0;',
    tests: ['test/runtime/get-work.test.ts'],
  },
  {
    name: 'what stands behind tasks that can’t be handed out is not looked for',
    file: 'src/features/queue/get-work.ts',
    from: 'open.length === 0 && !(isAll',
    to: 'open.length < 0 && !(isAll',
    tests: [domain('queue/get-work')],
  },
  {
    name: 'a task is kept for somebody in line who can’t have it',
    file: 'src/features/queue/work-line.ts',
    from: ' && canTake(agent_id, task)',
    to: '',
    tests: [domain('queue/get-work')],
  },
  {
    name: 'only what ran out below a folder is cleared away',
    file: 'src/features/locks/operations/acquire-lock-operation.ts',
    from: 'await tidyPlaces(first.places, step);',
    to: 'await tidyPlaces([], step);',
    tests: ['test/runtime/run-out.test.ts'],
  },
  {
    name: 'a claim that ran out is handed out again at once',
    file: 'src/features/queue/settle-due.ts',
    from: 'const retry_at_ms = now_ms + retryDelay_ms(state.attempt_count);',
    to: 'const retry_at_ms = now_ms;',
    tests: [domain('queue/get-work'), domain('queue/end-work'), domain('queue/task-states.long')],
  },
  {
    name: 'what should skip waits instead',
    file: 'src/features/queue/state.ts',
    from: "state.status === 'skipped' || state.on_dependency_failure !== 'skip'",
    to: "state.status !== 'failed'",
    tests: [domain('queue/dependency-failure')],
  },
  {
    name: 'to run anyway is to wait for the failed one',
    file: 'src/features/queue/state.ts',
    from: "if (state.on_dependency_failure !== 'run') return { ...state, failed_dependencies };",
    to: "if (state.on_dependency_failure !== 'skip') return { ...state, failed_dependencies };",
    tests: [domain('queue/dependency-failure')],
  },
  {
    name: 'a skip is not passed on',
    file: 'src/features/queue/state.ts',
    from: "return { ...ended, status: 'skipped', failed",
    to: "return { ...ended, releasing: false, status: 'skipped', failed",
    tests: ['test/features/queue/dependency-failure.property.test.ts'],
  },
  {
    name: 'what skipped is lost to the parent that is made good',
    file: 'src/features/queue/state.ts',
    from: "if (state.status !== 'blocked' && state.status !== 'skipped') return { sort };",
    to: "if (state.status !== 'blocked') return { sort };",
    tests: ['test/features/queue/dependency-failure.property.test.ts'],
  },
  {
    name: 'a fan-out is over after its first round',
    file: 'src/features/queue/settle-due.ts',
    from: 'loaded.list(range).length < range.limit',
    to: 'loaded.list(range).length <= range.limit',
    tests: [conformance('memory'), 'test/chaos/fan-out.long.test.ts'],
  },
  {
    name: 'PostgreSQL: the agent is not told which dependencies failed',
    file: 'src/stores/postgres/schema/baseline.sql',
    from: "CASE WHEN c.state -> 'failed_dependencies' <> '[]'",
    to: "CASE WHEN c.state -> 'failed_dependencies' = '[0]'",
    tests: ['test/stores/postgres-take.long.test.ts'],
  },
];
