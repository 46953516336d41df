/** What other slices, the runtime and the transports may use of audit. */
export { getStats } from './get-stats.ts';
export { metricsOf } from './log-metrics.ts';
export { queryAudit } from './query-audit.ts';
export { Tally } from './tally.ts';
