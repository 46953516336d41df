import type { Plant } from './plants.ts';

const audit = (name: string) => `test/features/audit/${name}.test.ts`;
const trail = (name: string) => `src/ledger/audit/${name}.ts`;
const BASELINE = 'src/stores/postgres/schema/baseline.sql';

export const auditPlants: readonly Plant[] = [
  {
    name: 'audit: who was beaten to a seal goes on beside the winner',
    file: trail('sealing'),
    from: 'pause_ms = sealed === 0 ? undefined :',
    to: 'pause_ms = sealed < 0 ? undefined :',
    tests: [audit('seal')],
  },
  {
    name: 'audit: a seal is believed without counting again',
    file: trail('verify-log'),
    from: 'seal.hash === sealHash(seal, packed) &&',
    to: '',
    tests: [audit('tamper.long')],
  },
  {
    name: 'audit: the seals are no chain',
    file: trail('verify-log'),
    from: "seal.previous === (before?.hash ?? '') &&",
    to: '',
    tests: [audit('tamper.long')],
  },
  {
    name: 'audit: a head that was kept is not looked for',
    file: trail('verify-log'),
    from: 'let expected = options.expect === undefined;',
    to: 'let expected = true;',
    tests: [audit('tamper.long')],
  },
  {
    name: 'audit: rows in reverse are rows all the same',
    file: trail('seal'),
    from: 'digestOf({ position: _, born: _born,',
    to: 'digestOf({ position: _, at_ms: __, born: _born,',
    tests: [audit('tamper.long')],
  },
  {
    name: 'audit: a record of a removal is good for any rows',
    file: trail('tombstone'),
    from: 'digestOfLeaves(packed, positions) === digest ? positions : undefined',
    to: 'digest === undefined ? undefined : positions',
    tests: [audit('tamper.long')],
  },
  {
    name: 'audit: what happened is pruned like a read',
    file: trail('tombstone'),
    from: ' || taken.some((leaf) => leaf.kind !== kind)',
    to: '',
    tests: [audit('tamper.long')],
  },
  {
    name: 'audit: records of removals are pruned too',
    file: trail('seal'),
    from: "operation === PRUNE || operation === ARCHIVE ? 'record' : 'quiet'",
    to: "operation === '' ? 'record' : 'quiet'",
    tests: [audit('retention')],
  },
  {
    name: 'audit: a segment goes when its first row is old',
    file: trail('retention'),
    from: 'each.newest_at_ms < before_ms',
    to: 'each.oldest_at_ms < before_ms',
    tests: [audit('retention')],
  },
  {
    name: 'audit: a segment spans any time',
    file: trail('sealing'),
    from: 'at_ms - first_ms > SEGMENT_SPAN_MS',
    to: 'at_ms - first_ms > 1000 * SEGMENT_SPAN_MS',
    tests: [audit('seal')],
  },
  {
    name: 'audit: a search skips segments that hold what it looks for',
    file: trail('search-words'),
    from: 'newest_at_ms < filter.since_ms',
    to: 'oldest_at_ms < filter.since_ms',
    tests: [audit('query')],
  },
  {
    name: 'audit: a page begins with the last row of the one before',
    file: trail('search'),
    from: 'return { entries, below: oldest.position };',
    to: 'return { entries, below: oldest.position + 1 };',
    tests: [audit('query')],
  },
  {
    name: 'audit: an agent sees everybody',
    file: 'src/features/audit/query-audit.ts',
    from: "if (authority !== 'agent') return agent_id;",
    to: "if (authority !== 'agent' || caller.agent_id !== '') return agent_id;",
    tests: [audit('query')],
  },
  {
    name: 'audit: archived rows that are still in the log count twice',
    file: trail('merge'),
    from: 'if (lowest.next.position > position) yield lowest.next;',
    to: 'yield lowest.next;',
    tests: [audit('commands.long')],
  },
  {
    name: 'audit: an archive is believed without reading it',
    file: 'src/features/audit/cli/archive-file.ts',
    from: 'end.sha256 !== sha256 || end.rows !== rows',
    to: 'end.sha256 === undefined',
    tests: [audit('commands.long')],
  },
  {
    name: 'SQLite audit: any gap in the log is a known one',
    file: 'src/stores/sqlite/statements.ts',
    from: 'if (position !== expected) expected = this.#pastGaps(expected, position);',
    to: 'if (position !== expected) expected = Math.max(position, this.#pastGaps(expected, position));',
    tests: [audit('retention')],
  },
  {
    name: 'PostgreSQL audit: the setting of retention opens the log to everybody',
    file: BASELINE,
    from: `  IF TG_OP = 'DELETE' AND current_setting('coxswain.retention', true) = 'on'
    AND current_user = (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = TG_RELID) THEN`,
    to: "  IF TG_OP = 'DELETE' AND current_setting('coxswain.retention', true) = 'on' THEN",
    tests: [audit('retention')],
  },
  {
    name: 'PostgreSQL audit: retention takes new rows',
    file: BASELINE,
    from: 'AND l.at_ms < coxswain.now_ms() - 2 * 86400000::bigint',
    to: '',
    tests: [audit('retention')],
  },
];
