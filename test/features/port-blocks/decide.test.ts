import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decideAllocation, overlap, type PortLease } from '../../../src/features/port-blocks/decide-ports.ts';
import { BLOCK_PORTS } from '../../../src/features/port-blocks/port-block.ts';

const NOW_MS = 1_000_000;
const TTL_MS = 60_000;
const LAYOUT = { base: 20_000, range: 50, sessions_max: 3 };

/** "a@20000" has that block, "a@20000-7" had it until seven milliseconds ago. */
function leases(...texts: string[]): PortLease[] {
  return texts.map((text) => {
    const [, session_id = '', port, over] = /^(\w+)@(\d+)(?:-(\d+))?$/.exec(text) ?? [];
    const expires_at_ms = over === undefined ? NOW_MS + 1 : NOW_MS - Number(over);
    return { session_id, db_port: Number(port), expires_at_ms };
  });
}

function decided(held: string[], session_id: string, avoid: number[] = [], layout = LAYOUT): string {
  const request = { session_id, ttl_ms: TTL_MS, avoid: new Set(avoid) };
  const verdict = decideAllocation(leases(...held), request, NOW_MS, layout);
  if (verdict.verdict === 'full') return 'full';
  assert.equal(verdict.lease.session_id, session_id);
  assert.equal(verdict.lease.expires_at_ms, NOW_MS + TTL_MS);
  return `${verdict.lease.db_port}${verdict.kept ? ' kept' : ''}`;
}

const table: [title: string, held: string[], asks: string, expected: string, avoid?: number[]][] = [
  ['[PORT-1] the first session gets the first block', [], 'a', '20000'],
  ['[PORT-1] the next one gets the next', ['a@20000'], 'b', '20050'],
  ['[PORT-1] a gap is filled', ['a@20000', 'c@20100'], 'b', '20050'],
  ['[PORT-2] who has a block keeps it', ['a@20000', 'b@20050'], 'b', '20050 kept'],
  ['[PORT-2] also when all are taken', ['a@20000', 'b@20050', 'c@20100'], 'c', '20100 kept'],
  ['[PORT-2] the fourth of three is refused', ['a@20000', 'b@20050', 'c@20100'], 'd', 'full'],
  ['[PORT-2] also one outside the layout is kept', ['a@30000'], 'a', '30000 kept'],
  ['[PORT-2] sessions of another layout count', ['a@30000', 'b@31000', 'c@32000'], 'd', 'full'],
  ['[PORT-3] a block past its time is free', ['a@20000-0', 'b@20050', 'c@20100'], 'd', '20000'],
  ['[PORT-3] an unused one is better than one past its time', ['a@20000-5'], 'b', '20050'],
  [
    '[PORT-3] of those past their time the one longest over',
    ['a@20000-5', 'b@20050-7', 'c@20100-6'],
    'd',
    '20050',
  ],
  ['[PORT-3] who comes back late finds its block', ['a@20000-5', 'b@20050-9'], 'b', '20050 kept'],
  ['[PORT-3] unless it is none any more', ['a@30000-5'], 'a', '20000'],
  ['[PORT-3] or too many have one now', ['a@20000-5', 'b@20050', 'c@20100', 'd@30000'], 'a', 'full'],
  ['[PORT-1] a block of another layout is not overlapped', ['a@20003'], 'b', '20050'],
  ['[PORT-1] on neither side', ['a@20047'], 'b', '20000'],
  ['[PORT-1] its neighbour may come close', ['a@20004'], 'b', '20000'],
  ['[PORT-1] an occupied block is passed over', [], 'a', '20100', [20_000, 20_050]],
  ['[PORT-1] also when it was given a moment ago', ['a@20000'], 'a', '20050', [20_000]],
  ['[PORT-2] with all of them occupied none is left', [], 'a', 'full', [20_000, 20_050, 20_100]],
];

for (const [title, held, asks, expected, avoid] of table)
  test(title, () => assert.equal(decided(held, asks, avoid), expected));

test('[PORT-1] [PORT-2] whatever was asked for in whatever layouts: live blocks never overlap, never outside', () => {
  const layout = fc.record({
    base: fc.integer({ min: 20_000, max: 20_030 }),
    range: fc.integer({ min: BLOCK_PORTS, max: 12 }),
    sessions_max: fc.integer({ min: 1, max: 6 }),
  });
  const ask = fc.record({
    session: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
    later_ms: fc.integer({ min: 0, max: TTL_MS }),
    layout,
  });
  fc.assert(
    fc.property(fc.array(ask, { maxLength: 60 }), (asks) => {
      let held: PortLease[] = [];
      let now_ms = NOW_MS;
      for (const { session, later_ms, layout } of asks) {
        now_ms += later_ms;
        const request = { session_id: session, ttl_ms: TTL_MS, avoid: new Set<number>() };
        const before = held.find(({ session_id }) => session_id === session);
        const verdict = decideAllocation(held, request, now_ms, layout);
        if (verdict.verdict === 'full') {
          assert.ok(
            before === undefined || before.expires_at_ms <= now_ms,
            'who has a block is never refused',
          );
          continue;
        }
        const { lease } = verdict;
        for (const other of held)
          if (other.session_id !== session && other.expires_at_ms > now_ms)
            assert.ok(!overlap(other.db_port, lease.db_port));
        const place = (lease.db_port - layout.base) / layout.range;
        const within = Number.isInteger(place) && place >= 0 && place < layout.sessions_max;
        assert.ok(within || (verdict.kept && (before?.expires_at_ms ?? 0) > now_ms));
        held = held.filter(
          ({ session_id, db_port }) => session_id !== session && !overlap(db_port, lease.db_port),
        );
        held.push(lease);
      }
    }),
    { numRuns: 2000 },
  );
});
