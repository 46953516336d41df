import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { tableUrl, testTable } from '../support/dynamodb.ts';
import type { Fault } from '../support/dynamodb-faults.ts';
import { type DynamoProxy, startProxy } from '../support/dynamodb-proxy.ts';
import { injectStorm } from '../support/dynamodb-storm.ts';
import type { Engine } from './engine.ts';
import { conformance } from './suite.ts';

const proxies: DynamoProxy[] = [];

/** Everything that DynamoDB does to its clients and DynamoDB Local does not, all the time. */
const stormy: Engine = {
  name: 'dynamodb in a storm',
  at_once: 2,
  // Where a conflict, a lost answer or an unfinished batch can matter.
  only: ['locks', 'queue', 'line', 'mail', 'ledger', 'claims', 'board', 'watch', 'races'],
  async fresh() {
    const table = await testTable();
    const proxy = await startProxy(table.endpoint);
    proxies.push(proxy);
    const url = tableUrl(table.table, proxy.endpoint);
    const opened: Coxswain[] = [];
    injectStorm(proxy, proxies.length);
    return {
      url,
      async open(options) {
        const coxswain = await open({ ...options, store: url });
        opened.push(coxswain);
        return coxswain;
      },
      async drop() {
        for (const coxswain of opened) await coxswain.close();
        await proxy.close();
        await table.drop();
      },
    };
  },
};

conformance(stormy);

const KINDS: readonly Fault['is'][] = [
  ...(['cancelled', 'throttled', 'in_progress', 'server_error'] as const),
  ...(['reset', 'unprocessed'] as const),
];

test('[STORE-1] dynamodb in a storm: every kind of fault was met, and nothing was ever read that could be out of date', (t) => {
  const counts: Record<string, number> = {};
  const requests = proxies.flatMap((proxy) => proxy.requests);
  for (const { faults } of requests) for (const is of faults) counts[is] = (counts[is] ?? 0) + 1;
  t.diagnostic(`${requests.length} requests, faults ${JSON.stringify(counts)}`);
  for (const is of KINDS) assert.ok((counts[is] ?? 0) >= 10, `${is}: ${counts[is]} times`);
  assert.equal(counts.stale, undefined);
});
