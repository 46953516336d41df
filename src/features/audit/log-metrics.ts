import type { JsonObject } from '../../kernel/json.ts';
import type { Tally } from './tally.ts';

export interface Metric extends JsonObject {
  name: string;
  unit: 'count' | 'ratio' | 'minutes';
  /** Null when there is nothing to measure, never a guess. */
  value: number | null;
  /** How many observations the value rests on. */
  samples: number;
  /** Such as `> 0.9`. */
  target: string;
  /** Null without a value. */
  met: boolean | null;
}

const MINUTE_MS = 60_000;

interface Target {
  readonly name: string;
  readonly unit: Metric['unit'];
  readonly is: '=' | '>' | '<';
  readonly bound: number;
}

const TARGETS = {
  lock_conflicts: { name: 'lock_conflicts', unit: 'count', is: '=', bound: 0 },
  memory_relevance: { name: 'memory_relevance', unit: 'ratio', is: '>', bound: 0.7 },
  task_completion_rate: { name: 'task_completion_rate', unit: 'ratio', is: '>', bound: 0.9 },
  verification_pass_rate: { name: 'verification_pass_rate', unit: 'ratio', is: '>', bound: 0.8 },
  mean_time_to_verify: { name: 'mean_time_to_verify', unit: 'minutes', is: '<', bound: 5 },
  guardrail_block_rate: { name: 'guardrail_block_rate', unit: 'ratio', is: '>', bound: 0.99 },
  cloud_coordination_success: { name: 'cloud_coordination_success', unit: 'ratio', is: '>', bound: 0.95 },
  audit_completeness: { name: 'audit_completeness', unit: 'ratio', is: '=', bound: 1 },
  trust_false_positives: { name: 'trust_false_positives', unit: 'ratio', is: '<', bound: 0.01 },
} as const satisfies Record<string, Target>;

/**
 * The nine success metrics, each defined in docs/metrics.md. A metric that the log can't provide yet says so.
 */
export function metricsOf(tally: Tally, now_ms: number): Metric[] {
  const { safety } = tally;
  const numbered = tally.rows + tally.rows_dropped + tally.missing(now_ms);
  return [
    measured(TARGETS.lock_conflicts, tally.superseded, tally.rows),
    measured(TARGETS.memory_relevance, 0, 0),
    share(TARGETS.task_completion_rate, tally.tasks_completed, tally.claims_ended),
    share(TARGETS.verification_pass_rate, safety.first_passes, safety.first_attempts),
    measured(TARGETS.mean_time_to_verify, safety.verified_ms / MINUTE_MS / safety.verified, safety.verified),
    share(TARGETS.guardrail_block_rate, safety.caught_before, safety.caught_before + safety.found_after),
    share(TARGETS.cloud_coordination_success, tally.cloud_served, tally.cloud_calls),
    share(TARGETS.audit_completeness, tally.rows, numbered),
    share(TARGETS.trust_false_positives, safety.stopped_wrongly, tally.served + safety.stopped_wrongly),
  ];
}

function share(target: Target, part: number, whole: number): Metric {
  return measured(target, whole === 0 ? 0 : part / whole, whole);
}

function measured({ name, unit, is, bound }: Target, value: number, samples: number): Metric {
  const target = `${is} ${bound}`;
  if (samples === 0) return { name, unit, value: null, samples, target, met: null };
  const met = is === '=' ? value === bound : is === '>' ? value > bound : value < bound;
  return { name, unit, value, samples, target, met };
}
