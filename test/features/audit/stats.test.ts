import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { metricsOf } from '../../../src/features/audit/log-metrics.ts';
import { Tally } from '../../../src/features/audit/tally.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { LogEntry } from '../../../src/ledger/log.ts';
import { DAY_MS, ENGINES, Place, work } from './support.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

function entry(position: number, more: Partial<LogEntry> = {}): LogEntry {
  return {
    position,
    schema: 2,
    project: 'p',
    at_ms: NOW_MS - 60_000,
    agent_id: 'a',
    agent_type: 'cli',
    session_id: 's',
    sequence: position,
    operation: 'check_locks',
    operation_id: '',
    parameters: {},
    result: { success: true },
    duration_ms: 1,
    events: [],
    ...more,
  };
}

function measure(...rows: LogEntry[]): Record<string, JsonObject> {
  const tally = new Tally();
  for (const row of rows) tally.add(row);
  return Object.fromEntries(metricsOf(tally, NOW_MS).map((metric) => [metric.name, metric]));
}

test('[METRIC-1] in a log in which every capability was used each metric has a value', () => {
  const file = new URL('../../golden/schema-7.json', import.meta.url);
  const { log } = JSON.parse(readFileSync(file, 'utf8')) as { log: LogEntry[] };
  const cloud = entry(log.length + 1, { agent_type: 'codex_cloud', session_id: 'cloud', sequence: 1 });
  const metrics = Object.values(measure(...log, cloud));
  // Nothing suggests memories yet.
  assert.deepEqual(
    metrics.filter(({ value }) => value === null).map(({ name }) => name),
    ['memory_relevance'],
  );
});

const task = (type: string) => ({ kind: 'task', id: 't', type, data: {} });

test('[METRIC-1] all nine metrics are reported, with their targets, and null where nothing tells', () => {
  const metrics = measure();
  assert.deepEqual(
    Object.values(metrics).map(({ name, target, value, samples, met }) => [
      name,
      target,
      value,
      samples,
      met,
    ]),
    [
      ['lock_conflicts', '= 0', null, 0, null],
      ['memory_relevance', '> 0.7', null, 0, null],
      ['task_completion_rate', '> 0.9', null, 0, null],
      ['verification_pass_rate', '> 0.8', null, 0, null],
      ['mean_time_to_verify', '< 5', null, 0, null],
      ['guardrail_block_rate', '> 0.99', null, 0, null],
      ['cloud_coordination_success', '> 0.95', null, 0, null],
      ['audit_completeness', '= 1', null, 0, null],
      ['trust_false_positives', '< 0.01', null, 0, null],
    ],
  );
});

const event = (kind: string, id: string, type: string, data: JsonObject = {}) => ({ kind, id, type, data });
const queued = (id: string, changeset_id: string) =>
  event('verification_result', id, 'verification_queued', { changeset_id, policy: { name: 'unit' } });
const finished = (id: string, status: string) =>
  event('verification_result', id, 'verification_finished', { status });

test('[METRIC-1] verification: first runs that passed, and the time from the change to the end', () => {
  const { verification_pass_rate, mean_time_to_verify } = measure(
    entry(1, {
      at_ms: NOW_MS,
      events: [event('changeset', 'c1', 'changeset_submitted'), queued('r1', 'c1')],
    }),
    entry(2, { at_ms: NOW_MS + 60_000, events: [finished('r1', 'failed'), queued('r2', 'c1')] }),
    // It passed, but not at the first attempt.
    entry(3, { at_ms: NOW_MS + 180_000, events: [finished('r2', 'passed')] }),
    // Its change was submitted before the window.
    entry(4, { at_ms: NOW_MS, events: [queued('r3', 'c2')] }),
    entry(5, { at_ms: NOW_MS + 120_000, events: [finished('r3', 'passed')] }),
    entry(6, { events: [queued('r4', 'c3'), finished('r4', 'skipped')] }),
    entry(7, { events: [finished('begun-before', 'passed')] }),
  );
  assert.deepEqual([verification_pass_rate?.value, verification_pass_rate?.samples], [0.5, 2]);
  assert.deepEqual([mean_time_to_verify?.value, mean_time_to_verify?.samples], [2, 3]);
  assert.deepEqual([verification_pass_rate?.met, mean_time_to_verify?.met], [false, true]);
});

test('[METRIC-1] guardrails: what was found before it was done, and what a person permitted after all', () => {
  const violation = (kind: string) =>
    event('violation', kind, 'violation_recorded', { context: { kind }, blocked: true });
  const requested = (id: string, findings: number) =>
    event('approval', id, 'approval_requested', { findings: Array(findings).fill({}) });
  const { guardrail_block_rate, trust_false_positives } = measure(
    entry(1, { events: [violation('command'), requested('p1', 1)], result: { success: false } }),
    entry(2, { events: [violation('file'), requested('p2', 1)], result: { success: false } }),
    entry(3, { events: [violation('task')], result: { success: false } }),
    entry(4, { events: [violation('change')] }),
    entry(5, { events: [event('approval', 'p1', 'approval_approved')] }),
    entry(6, { events: [event('approval', 'p2', 'approval_denied')] }),
    // A person who lets a convergence pass has corrected no guardrail.
    entry(7, { events: [requested('p3', 0), event('approval', 'p3', 'approval_approved')] }),
  );
  assert.deepEqual([guardrail_block_rate?.value, guardrail_block_rate?.samples], [0.75, 4]);
  assert.deepEqual([trust_false_positives?.value, trust_false_positives?.samples], [0.2, 5]);
});

test('[METRIC-1] task completion: claims that ended, and how', () => {
  const ends = ['task_completed', 'task_completed', 'task_completed', 'task_lease_expired'];
  const { task_completion_rate } = measure(
    entry(1, { events: [task('task_submitted'), task('task_claimed')] }),
    ...ends.map((type, index) => entry(index + 2, { events: [task(type)] })),
    entry(6, { events: [task('task_cancelled'), task('task_skipped')] }),
  );
  assert.deepEqual([task_completion_rate?.value, task_completion_rate?.samples], [0.75, 4]);
  assert.equal(task_completion_rate?.met, false);
});

test('[METRIC-1] lock conflicts: a holder that came back after its lock had gone to another', () => {
  const refused = (error: string) => ({ success: false, error });
  const { lock_conflicts } = measure(
    entry(1, { result: refused('superseded') }),
    entry(2, { result: refused('not_held') }),
    entry(3, { result: { success: false, action: 'blocked' } }),
  );
  assert.deepEqual([lock_conflicts?.value, lock_conflicts?.met], [1, false]);
});

test('[METRIC-1] cloud agents: a refusal is an answer, an unreachable store is none', () => {
  const cloud = { agent_type: 'claude_code_web' };
  const { cloud_coordination_success } = measure(
    entry(1, cloud),
    entry(2, { ...cloud, result: { success: false, action: 'blocked' } }),
    entry(3, { agent_type: 'codex_cloud' }),
    entry(4, { ...cloud, result: { success: false, error: 'database_unavailable' } }),
    entry(5, { agent_type: 'webster' }),
  );
  assert.deepEqual([cloud_coordination_success?.value, cloud_coordination_success?.samples], [0.75, 4]);
});

test('[METRIC-1] audit completeness: dropped rows and missing numbers count, restarts and rows on their way do not', () => {
  const complete = (...rows: LogEntry[]) => measure(...rows).audit_completeness?.value;
  assert.equal(complete(entry(7), entry(8), entry(9)), 1, 'a window may begin amid a session');
  assert.equal(complete(entry(1), entry(2), entry(4)), 0.75);
  assert.equal(complete(entry(1), entry(2, { sequence: 1 }), entry(3, { sequence: 1 })), 1);
  assert.equal(complete(entry(1), entry(3, { at_ms: NOW_MS - 1000 })), 1, 'number 2 may still be on its way');
  const dropped = { operation: 'audit_rows_dropped', sequence: 0, result: { success: true, dropped: 2 } };
  assert.equal(complete(entry(1), entry(2, dropped)), 0.5);
});

for (const engine of ENGINES) {
  test(`[METRIC-1] ${engine}: counted from the log of a day, or since a moment; what is older and sealed is not read`, async () => {
    await using place = await Place.open(engine);
    place.ago_ms = 3 * DAY_MS;
    await work(place, 3, 'old');
    await place.age(3);
    await place.seal();
    place.ago_ms = 0;
    await work(place, 2, 'new');
    const { task_id } = await place.agent('new')('submit_work', { task_type: 'x', task_description: 'x' });
    await place.agent('new')('get_work', {});
    await place.agent('new')('complete_work', { task_id: task_id as string, success: true });
    const read = place.coxswain.store.read.bind(place.coxswain.store);
    const asked: number[] = [];
    place.coxswain.store.read = (project, after, limit) => {
      asked.push(after);
      return read(project, after, limit);
    };
    const stats = await place.agent('operator')('get_stats', {});
    assert.equal(stats.rows, 7);
    assert.ok(Math.min(...asked) >= 6, 'the sealed past was read');
    const metrics = stats.metrics as JsonObject[];
    assert.equal(metrics.length, 9);
    assert.equal(metrics.find(({ name }) => name === 'task_completion_rate')?.value, 1);
    const operations = stats.operations as JsonObject[];
    assert.equal(operations.find(({ operation }) => operation === 'acquire_lock')?.calls, 2);
    const since = new Date(Date.now() - 4 * DAY_MS).toISOString();
    const all = await place.agent('operator')('get_stats', { since });
    assert.ok((all.rows as number) >= 13);
  });
}
