import { isoTime } from '../../kernel/clock.ts';
import type { Operation } from '../../runtime/operation.ts';
import { metricsOf } from './log-metrics.ts';
import { Tally } from './tally.ts';

const WINDOW_MS = 24 * 3600 * 1000;
/** A few seconds of work; a busier day is judged by its last rows, and the answer says so. */
const ROWS_MAX = 200_000;

export const getStats = {
  name: 'get_stats',
  group: 'audit',
  verb: 'stats',
  summary: 'How well coordination goes: the success metrics with their targets, counted from the log.',
  route: { method: 'GET', path: '/stats' },
  mutates: false,
  standard: false,
  examples: ['cox stats', 'cox stats --since 2026-03-01T00:00:00Z --json'],
  input: async () => (await import('./schemas.ts')).getStats,
  async handle(input, step) {
    const now_ms = step.now_ms();
    const since_ms = input.since === undefined ? now_ms - WINDOW_MS : Date.parse(input.since);
    const { cut, rows } = await step.rowsSince(since_ms, ROWS_MAX);
    const tally = new Tally();
    let first_ms: number | undefined;
    for await (const entry of rows) {
      first_ms ??= entry.at_ms;
      tally.add(entry);
    }
    return {
      success: true,
      since: isoTime(cut ? (first_ms ?? since_ms) : since_ms),
      until: isoTime(now_ms),
      rows: tally.rows,
      ...(cut ? { newest_rows_only: ROWS_MAX } : {}),
      metrics: metricsOf(tally, now_ms),
      operations: [...tally.operations].map(([operation, { calls, refused, duration_ms }]) => ({
        operation,
        calls,
        refused,
        mean_ms: Math.round((duration_ms / calls) * 1000) / 1000,
      })),
    };
  },
} satisfies Operation<{ since?: string }>;
