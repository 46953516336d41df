import type { Fault } from './dynamodb-faults.ts';
import type { DynamoProxy } from './dynamodb-proxy.ts';

/** Each kind by its share of the requests that it can happen to: far more than AWS does to a user, so that a short run
 *  meets all of them, and few enough that hardly a request meets them many times in a row. */
const STORM: readonly (readonly [probability: number, fault: Fault])[] = [
  [0.05, { is: 'cancelled' }],
  [0.02, { is: 'cancelled', reasons: { 0: 'ThrottlingError' } }],
  [0.02, { is: 'throttled' }],
  [0.01, { is: 'throttled', as: 'ProvisionedThroughputExceededException' }],
  [0.01, { is: 'throttled', as: 'RequestLimitExceeded' }],
  [0.03, { is: 'in_progress' }],
  [0.01, { is: 'server_error', applied: false }],
  [0.02, { is: 'server_error', applied: true }],
  [0.01, { is: 'reset', applied: false }],
  [0.02, { is: 'reset', applied: true }],
  [0.1, { is: 'unprocessed' }],
  [1, { is: 'stale' }],
];

/** The same seed and the same requests, the same storm. */
export function injectStorm(proxy: DynamoProxy, seed = 1): void {
  for (const [index, [probability, fault]] of STORM.entries())
    proxy.inject(() => fault, { probability, seed: seed * STORM.length + index });
}
