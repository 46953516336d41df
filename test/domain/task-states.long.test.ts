import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { entities } from '../../src/domain/entities.ts';
import { cancelWork, reprioritiseWork, retryWork } from '../../src/domain/queue/change-work.ts';
import { completeWork } from '../../src/domain/queue/complete-work.ts';
import { getWork } from '../../src/domain/queue/get-work.ts';
import { renewWork } from '../../src/domain/queue/renew-work.ts';
import { settleDue } from '../../src/domain/queue/settle-due.ts';
import { submitWork } from '../../src/domain/queue/submit-work.ts';
import type { FailurePolicy, TaskState } from '../../src/domain/queue/task.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Decision } from '../../src/ledger/decision.ts';
import type { EventBody } from '../../src/ledger/entity.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { deliberate, LoadedSet } from '../../src/ledger/proposal.ts';
import { apply, canonical, type State } from '../../src/ledger/replay.ts';
import { anna, newTask } from './facts.ts';
import { load, MINUTE_MS, NOON_MS } from './spec.ts';

const page = readFileSync(new URL('../../docs/task-states.md', import.meta.url), 'utf8');

/** `status --event--> status`, as drawn and as listed in the table below the drawing. */
function drawn(): string[] {
  const found: string[] = [];
  for (const [, from = '', to = '', event = ''] of page.matchAll(/^ +(\S+) --> (\w+): (\w+)$/gm))
    found.push(`${from === '[*]' ? 'nothing' : from} --${event}--> ${to}`);
  const [, table = ''] = page.split('## Events that leave the status as it is');
  for (const [, event = '', statuses = ''] of table.matchAll(/^\| `(\w+)` \| (.+) \|$/gm))
    for (const status of statuses.split(', ')) found.push(`${status} --${event}--> ${status}`);
  return found.sort();
}

/** So many steps reach everything; more find nothing new. */
const DEPTH = 10;

interface World {
  readonly state: State;
  readonly now_ms: number;
}

const POLICIES: readonly FailurePolicy[] = ['block', 'skip', 'run'];
const LATER = { not_before_ms: NOON_MS + 20 * MINUTE_MS };

/** Everything that can be asked for, of three tasks of which one waits for the two others. */
function moves(on_dependency_failure: FailurePolicy): Decision<JsonObject>[] {
  const child = { keyed: true, depends_on: ['parent', 'aunt'], on_dependency_failure };
  const of = (id: string) => [
    completeWork({ task_id: id, caller: anna, success: true }),
    completeWork({ task_id: id, caller: anna, success: false }),
    renewWork(id, anna, 10 * MINUTE_MS),
    cancelWork(id, 'anna', undefined),
    reprioritiseWork(id, 1),
    retryWork(id),
  ];
  return [
    submitWork(
      [newTask('parent', { keyed: true, max_attempts: 2 }), newTask('aunt', { keyed: true })],
      'anna',
    ),
    submitWork(
      [newTask('parent', { keyed: true, max_attempts: 1, ...LATER }), newTask('aunt', { keyed: true })],
      'anna',
    ),
    submitWork([newTask('child', child)], 'anna'),
    submitWork([newTask('child', { ...child, ...LATER })], 'anna'),
    submitWork(
      [newTask('grandchild', { keyed: true, depends_on: ['child'], on_dependency_failure })],
      'anna',
    ),
    getWork({ caller: anna, task_types: undefined, count: 1, lease_ms: 10 * MINUTE_MS, settled: true })
      .decision,
    settleDue(),
    completeWork({ task_id: 'aunt', caller: anna, success: true }),
    completeWork({ task_id: 'aunt', caller: anna, success: false }),
    ...of('parent'),
    ...of('child'),
  ];
}

function eventsOf(decision: Decision<JsonObject>, { state, now_ms }: World): readonly EventBody[] {
  const loaded = new LoadedSet();
  const rounds = deliberate(decision, loaded, () => now_ms);
  let step = rounds.next();
  while (!step.done) {
    load(state, step.value, loaded);
    step = rounds.next();
  }
  return step.value.verdict === 'commit' ? step.value.events : [];
}

/** Event by event, so that every status that is passed through is seen. */
function follow(world: World, events: readonly EventBody[], seen: Set<string>): World {
  const state = new Map(world.state);
  for (const event of events) {
    const status = () => (state.get(`task/${event.id}`)?.state as unknown as TaskState | undefined)?.status;
    const before = status() ?? 'nothing';
    apply(entities, state, {
      position: state.size,
      at_ms: world.now_ms,
      events: [event],
    } as unknown as LogEntry);
    seen.add(`${before} --${event.type}--> ${status()}`);
  }
  return { state, now_ms: world.now_ms };
}

/** Two worlds are the same to every decider if they differ in versions and past times only. */
function essence({ state, now_ms }: World): string {
  const tasks = [...state.values()].map(({ id, state: task }) => {
    const {
      status,
      attempt_count,
      releasing,
      has_dependents,
      unmet,
      failed_dependencies,
      not_before_ms,
      lease,
    } = task as unknown as TaskState;
    const due = [not_before_ms, lease?.expires_at_ms].map((time_ms) =>
      Math.sign((time_ms ?? now_ms) - now_ms),
    );
    return [id, status, attempt_count, releasing, has_dependents, unmet, failed_dependencies, due];
  });
  return canonical([tasks, now_ms > NOON_MS]);
}

function walk(policy: FailurePolicy, depth: number): Set<string> {
  const transitions = new Set<string>();
  const known = new Set<string>();
  let front: World[] = [{ state: new Map(), now_ms: NOON_MS }];
  for (let step = 0; step < depth && front.length > 0; step += 1) {
    const next: World[] = [];
    for (const world of front) {
      const later = { state: world.state, now_ms: world.now_ms + 11 * MINUTE_MS };
      const reached = moves(policy).map((decision) => follow(world, eventsOf(decision, world), transitions));
      for (const each of [later, ...reached]) {
        const text = essence(each);
        if (!known.has(text)) next.push(each);
        known.add(text);
      }
    }
    front = next;
  }
  return transitions;
}

test('[QUEUE-7] [QUEUE-9] the drawing in docs/task-states.md is what the deciders and evolve do, no more and no less', () => {
  const transitions = new Set(POLICIES.flatMap((policy) => [...walk(policy, DEPTH)]));
  assert.deepEqual([...transitions].sort(), drawn());
});
