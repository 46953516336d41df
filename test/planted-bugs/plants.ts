import { auditPlants } from './audit-plants.ts';
import { boarding } from './plants-board.ts';
import { claiming } from './plants-claims.ts';
import { daily } from './plants-daily.ts';
import { tabling } from './plants-dynamodb.ts';
import { enforcing } from './plants-enforcing.ts';
import { filing } from './plants-files.ts';
import { queueing } from './plants-queue.ts';
import { trusting } from './plants-trust.ts';
import { coordinating } from './plants-workdir.ts';

// Bugs to plant. `from` must stand in the file exactly once, so that a plant cannot rot away unseen.
export interface Plant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The tests that should catch it, quickest first. */
  readonly tests: readonly string[];
}

const domain = (name: string) => `test/features/${name}.test.ts`;
const stores = (name: string) => `test/stores/${name}.test.ts`;
const conformance = (name: string) => `test/conformance/${name}.test.ts`;

const lease: Plant[] = [
  {
    name: 'an old token is as good as the current one',
    file: 'src/ledger/lease.ts',
    from: 'caller.token !== undefined && caller.token !== lease.token',
    to: 'caller.token === -1',
    tests: [domain('locks/locks')],
  },
  {
    name: 'a lease holds one millisecond past its expiry',
    file: 'src/ledger/lease.ts',
    from: 'now_ms >= lease.expires_at_ms',
    to: 'now_ms > lease.expires_at_ms',
    tests: [domain('locks/locks')],
  },
  {
    name: 'everybody is the holder',
    file: 'src/ledger/lease.ts',
    from: "lease.agent_id === caller.agent_id ? 'mine' : 'taken'",
    to: "lease.agent_id === '' ? 'taken' : 'mine'",
    tests: [domain('locks/locks')],
  },
  {
    name: 'a new session of an agent keeps the old token',
    file: 'src/ledger/lease.ts',
    from: 'if (lease.session_id !== caller.session_id) return grant(record, caller, ttl_ms, now_ms);',
    to: '',
    tests: [domain('locks/locks')],
  },
  {
    name: 'tokens follow the clock alone',
    file: 'src/ledger/entity.ts',
    from: 'Math.max((record?.version ?? 0) + 1, Math.floor(now_ms))',
    to: 'Math.floor(now_ms) + (record === undefined ? 0 : 0)',
    tests: ['test/chaos/clock.test.ts'],
  },
  {
    name: 'a release does not say until when the grant must live',
    file: 'src/features/locks/release-lock.ts',
    from: 'return commit(events, ended.answer, ended.not_after_ms);',
    to: 'return commit(events, ended.answer);',
    tests: [domain('locks/locks')],
  },
];

const waiting: Plant[] = [
  {
    name: 'a newcomer overtakes who waits for work',
    file: 'src/features/queue/work-line.ts',
    from: 'const before = own === -1 ? waiters : waiters.slice(0, own);',
    to: 'const before = own === -1 ? [] : waiters.slice(0, own);',
    tests: [conformance('memory')],
  },
  {
    name: 'who died in the line for work counts for ever',
    file: 'src/features/queue/work-line.ts',
    from: 'return before.filter(({ alive_until_ms }) => alive_until_ms > now_ms);',
    to: 'return before.filter(() => now_ms > 0);',
    tests: [conformance('memory')],
  },
  {
    name: 'PostgreSQL: get_work in SQL knows nothing of the line',
    file: 'src/stores/postgres/schema/baseline.sql',
    from: "r.kind = 'work_line' AND r.sort_key >= 'waiting/'",
    to: "r.kind = 'work_line' AND r.sort_key < 'a'",
    tests: [conformance('postgres')],
  },
  {
    name: 'PostgreSQL: a lost answer is not looked up in the log',
    file: 'src/stores/postgres/schema/baseline.sql',
    from: 'WHERE q.s IS NOT NULL;',
    to: 'WHERE q.s < 0;',
    tests: [stores('postgres-outage.long')],
  },
  {
    name: 'SQLite: what is known outlives the commit of another process',
    file: 'src/stores/sqlite/records.ts',
    from: '      this.#clear();\n      this.#position = folded;',
    to: '      this.#position = folded;',
    tests: [stores('sqlite-records')],
  },
];

const seat: Plant[] = [
  {
    name: 'a follower that got no answer does not look whether it was done',
    file: 'src/stores/sqlite/store.ts',
    from: 'this.#direct(request, decision, outcome.after)',
    to: 'this.#direct(request, decision)',
    tests: [stores('seat.long')],
  },
  {
    name: 'a woken seat commits what its caller has given up',
    file: 'src/stores/sqlite/seat/seat-server.ts',
    from: 'if (machineTime_ms() >= not_after_ms) return',
    to: 'if (not_after_ms < 0) return',
    tests: [stores('seat.long')],
  },
  {
    name: 'a seat serves another version',
    file: 'src/stores/sqlite/seat/seat-server.ts',
    from: 'if (theirs !== build()) return',
    to: "if (theirs === '') return",
    tests: [stores('seat.long')],
  },
  {
    name: 'whoever can not reach the seat takes it',
    file: 'src/stores/sqlite/seat/seat.ts',
    from: 'if (row.expires_at_ms <= clock.now_ms()) await this.#sit(row);',
    to: 'await this.#sit(row);',
    tests: [stores('seat.long')],
  },
  {
    name: 'the agent that sits stops without giving the seat up',
    file: 'src/stores/sqlite/seat/seat.ts',
    from: 'void this.leave().finally(',
    to: 'void Promise.resolve().finally(',
    tests: [stores('seat.long')],
  },
];

const areas: Plant[] = [
  {
    name: 'a newcomer overtakes who waits',
    file: 'src/features/locks/reach.ts',
    from: 'if (line !== undefined && !isBefore(',
    to: 'if (line === undefined || !isBefore(',
    tests: [domain('locks/lock-line'), 'test/simulation/simulation.test.ts'],
  },
  {
    name: 'a reader stands a writer',
    file: 'src/ledger/lease.ts',
    from: 'a.shared === true && b.shared === true',
    to: 'a.shared === true || b.shared === true',
    tests: [domain('locks/lock-line'), 'test/simulation/simulation.test.ts'],
  },
  {
    name: 'the list of locked folders is looked at, not expected',
    file: 'src/ledger/proposal.ts',
    from: 'if (written.entry(key) === undefined)',
    to: "if (written.entry(key) === undefined && key.kind !== 'lock_folders')",
    tests: ['test/simulation/simulation.test.ts'],
  },
  {
    name: 'a folder is granted without an announcement',
    file: 'src/features/locks/acquire-lock.ts',
    from: 'if (hasFolder(fresh) && findings.line === undefined)',
    to: 'if (hasFolder(fresh) && findings.line === null)',
    tests: [domain('locks/lock-areas'), 'test/simulation/simulation.test.ts'],
  },
  {
    name: 'what ran out above and below is left standing',
    file: 'src/features/locks/reach.ts',
    from: 'if (wanted.has(place) || hit.length > 0) over.push(expired(place, lease));',
    to: 'if (wanted.has(place)) over.push(expired(place, lease));',
    tests: [domain('locks/lock-areas'), 'test/simulation/simulation.test.ts'],
  },
  {
    name: 'a place in line holds without saying until when',
    file: 'src/features/locks/acquire-lock.ts',
    from: 'let not_after_ms = line?.alive_until_ms ?? Number.POSITIVE_INFINITY;',
    to: 'let not_after_ms = Number.POSITIVE_INFINITY;',
    tests: [domain('locks/lock-line')],
  },
  {
    name: 'PostgreSQL: get_work does not ask whether a folder is locked',
    file: 'src/stores/postgres/schema/baseline.sql',
    from: 'IF NOT coxswain.no_folder_is_locked(p_project) THEN',
    to: 'IF false THEN',
    tests: ['test/stores/postgres-take.long.test.ts'],
  },
];

const memory: Plant[] = [
  {
    name: 'memory: what is only read is not expected',
    file: 'src/stores/memory/store.ts',
    from: 'if (version(records, expectation) !== expectation.version)',
    to: 'if (version(records, expectation) === -1)',
    tests: [conformance('memory')],
  },
  {
    name: 'memory: the version of what is written is not checked',
    file: 'src/stores/memory/store.ts',
    from: 'if (version(records, write) !== write.expected)',
    to: 'if (version(records, write) === -1)',
    tests: [conformance('memory')],
  },
  {
    name: 'memory: not_after is ignored',
    file: 'src/stores/memory/store.ts',
    from: 'this.#context.clock.now_ms() >= proposal.not_after_ms',
    to: 'this.#context.clock.now_ms() < 0',
    tests: [conformance('memory')],
  },
  {
    name: 'an operation id may be used for something else',
    file: 'src/ledger/optimistic.ts',
    from: 'if (seen.input_digest !== request.input_digest) {',
    to: "if (seen.input_digest === 'never') {",
    tests: [conformance('memory')],
  },
  {
    name: 'rows of a session are not numbered',
    file: 'src/runtime/coordinator.ts',
    from: 'this.#sequence += 1;',
    to: 'this.#sequence += 0;',
    tests: [conformance('memory')],
  },
  {
    name: '.. in a path stays where it is',
    file: 'src/kernel/workspace.ts',
    from: "if (name === '..')",
    to: "if (name === '...')",
    tests: ['test/kernel/path.test.ts'],
  },
];

const sqlite: Plant[] = [
  {
    name: 'room in the -wal is made where commits stand already',
    file: 'src/stores/sqlite/wal.ts',
    from: 'for (let at = length;',
    to: 'for (let at = 0;',
    tests: [stores('sqlite-wal')],
  },
  {
    name: 'a folder is taken for a folder for ever',
    file: 'src/kernel/file-system.ts',
    from: 'const KNOWN_MS = 3;',
    to: 'const KNOWN_MS = 3e9;',
    tests: ['test/kernel/workspace.test.ts'],
  },
  {
    name: 'SQLite: transactions begin as readers',
    file: 'src/stores/sqlite/statements.ts',
    from: "prepare('BEGIN IMMEDIATE')",
    to: "prepare('BEGIN')",
    tests: [conformance('sqlite'), 'test/chaos/race.long.test.ts'],
  },
  {
    name: 'SQLite: answered before the commit',
    file: 'src/stores/sqlite/writer.ts',
    from: 'done.push(job.execute());',
    to: 'job.execute().answer();',
    tests: ['test/chaos/full-disk.test.ts'],
  },
  {
    name: 'SQLite: the operation id is not looked up',
    file: 'src/stores/sqlite/deciding.ts',
    from: 'if (seen !== undefined) return recall<A>(request, seen);',
    to: 'void recall;\n    void seen;',
    tests: ['test/stores/sqlite.test.ts'],
  },
  {
    name: 'SQLite: last in, first out',
    file: 'src/stores/sqlite/record-rows.ts',
    from: 'return `ORDER BY ',
    to: 'return `ORDER BY r.born DESC, ',
    // A queue of a few tasks is in memory, in the order of another place.
    tests: [stores('sqlite-records')],
  },
  {
    name: 'PostgreSQL: refused from memory',
    file: 'src/ledger/optimistic.ts',
    from: "if (unsure) return 'again';",
    to: '',
    tests: [conformance('postgres')],
  },
  {
    name: 'SQLite: other processes’ rows are not noticed',
    file: 'src/stores/sqlite/records.ts',
    from: 'if (version === this.#seenVersion) return false;',
    to: 'if (this.#seenVersion !== undefined) return false;',
    tests: [conformance('sqlite')],
  },
  {
    name: 'SQLite: the table is folded without saying how far',
    file: 'src/stores/sqlite/records.ts',
    from: 'this.#statements.setFolded(this.#position);',
    to: '',
    tests: [stores('sqlite-records')],
  },
  {
    name: 'SQLite: a range finds in the table what has changed since',
    file: 'src/stores/sqlite/records.ts',
    from: 'if (this.#records.has(row.record.id)) {',
    to: 'if (at < 0) {',
    tests: [stores('sqlite-records'), conformance('sqlite')],
  },
  {
    name: 'SQLite: a window into the table leaves out what is changed in its middle and what comes before it',
    file: 'src/stores/sqlite/records.ts',
    from: 'if (at === 0) table.drop();',
    to: 'if (at >= 0) table.drop();',
    tests: [stores('sqlite-records')],
  },
  {
    name: 'SQLite: what was folded after the ids were gone through counts as not there',
    file: 'src/stores/sqlite/records.ts',
    from: 'if (stored === undefined) kind.filter?.add(record.id);',
    to: '',
    tests: [stores('sqlite-records')],
  },
  {
    name: 'SQLite: retention removes rows that no record shows yet',
    file: 'src/stores/sqlite/audit-trail.ts',
    from: 'this.#writer.records.fold();',
    to: '',
    tests: [stores('sqlite-records')],
  },
  {
    name: 'SQLite: nobody looks whether the file is still there',
    file: 'src/stores/sqlite/writer.ts',
    from: 'this.#guard.check();',
    to: '',
    tests: ['test/chaos/sqlite-files.long.test.ts'],
  },
  {
    name: 'SQLite: a -wal that was cut is as good as a whole one',
    file: 'src/stores/sqlite/wal.ts',
    from: 'if (state.frames === 0) return true;',
    to: 'if (state.frames >= 0) return true;',
    tests: ['test/chaos/sqlite-files.long.test.ts'],
  },
  {
    name: 'SQLite: a log that ends before what was answered is opened in silence',
    file: 'src/stores/sqlite/file-guard.ts',
    from: 'if (answered <= last) return;',
    to: 'if (answered >= last) return;',
    tests: ['test/stores/sqlite-wal.test.ts'],
  },
  {
    name: 'SQLite: a commit is built on what a wrong table of pages has shown',
    file: 'src/stores/sqlite/file-guard.ts',
    from: "if (table === 'damaged') throw this.#rebuild(now);",
    to: '',
    tests: [stores('sqlite-index')],
  },
  {
    name: 'SQLite: frames are copied by a wrong table of pages',
    file: 'src/stores/sqlite/file-guard.ts',
    from: "if (table !== 'damaged') return;",
    to: 'if (table) return;',
    tests: [stores('sqlite-index')],
  },
  {
    name: 'SQLite: slots that lead nowhere are as good as right ones',
    file: 'src/stores/sqlite/page-table.ts',
    from: 'const isExact = expectedBytes.compare(bytes, BLOCK_BYTES / 2) === 0;',
    to: 'const isExact = true;',
    tests: [stores('sqlite-index')],
  },
  {
    name: 'SQLite: damaged frames are copied once the process ends by itself',
    file: 'src/stores/sqlite/file.ts',
    from: "process.once('exit', (code) => process.exit(code));",
    to: '{}',
    tests: [stores('sqlite-wal')],
  },
  {
    name: 'SQLite: a transaction whose -shm lost its beginning is committed',
    file: 'src/stores/sqlite/file-guard.ts',
    from: 'if (now === undefined) throw this.#rebuild(now);',
    to: 'if (now === undefined) return;',
    tests: [stores('sqlite-index')],
  },
  {
    name: 'SQLite: the row of a commit is written later',
    file: 'src/stores/sqlite/deciding.ts',
    from: 'statements.append(position, row, ',
    to: 'writer.note(row);\n    void (',
    tests: [conformance('sqlite')],
  },
  {
    name: 'SQLite: rows of the log can be deleted',
    file: 'src/stores/sqlite/schema.ts',
    from: 'WHEN NOT coalesce((SELECT last >= OLD.position FROM gaps',
    to: 'WHEN NOT coalesce((SELECT 1 FROM gaps), 1) AND NOT coalesce((SELECT last >= OLD.position FROM gaps',
    tests: ['test/stores/sqlite.test.ts'],
  },
  {
    name: 'SQLite: a foreign database is taken for ours',
    file: 'src/stores/sqlite/file.ts',
    from: '(application_id !== 0 || objects > 0)',
    to: '(application_id === -1 && objects > 0)',
    tests: ['test/chaos/sqlite-files.long.test.ts'],
  },
];

const postgres: Plant[] = [
  {
    name: 'PostgreSQL: what is only read is not expected',
    file: 'src/stores/postgres/schema/baseline.sql',
    from: 'FILTER (WHERE coalesce(r.version, 0) <> t.e)',
    to: 'FILTER (WHERE t.v IS NOT NULL AND coalesce(r.version, 0) <> t.e)',
    tests: [conformance('postgres')],
  },
  {
    name: 'PostgreSQL: expectations take no lock',
    file: 'src/stores/postgres/schema/baseline.sql',
    from: 'ELSE pg_advisory_xact_lock_shared((o.key >> 32)::integer, ((o.key << 32) >> 32)::integer)::text',
    to: "ELSE ''",
    tests: [conformance('postgres')],
  },
  {
    name: 'PostgreSQL: a taken task is taken again',
    file: 'src/stores/postgres/schema/baseline.sql',
    from: 'AND (p_types IS NULL OR coxswain.still_ready(p_project, p_ids[at]))',
    to: '',
    tests: ['test/chaos/follow.long.test.ts', conformance('postgres')],
  },
  {
    name: 'PostgreSQL: readers overtake commits under way',
    file: 'src/stores/postgres/schema/baseline.sql',
    from: 'RETURN least(last, lowest);',
    to: 'RETURN last;',
    tests: ['test/chaos/follow.long.test.ts', conformance('postgres')],
  },
];

export const plants: readonly Plant[] = [
  ...auditPlants,
  ...lease,
  ...areas,
  ...queueing,
  ...memory,
  ...sqlite,
  ...waiting,
  ...seat,
  ...postgres,
  ...daily,
  ...enforcing,
  ...trusting,
  ...claiming,
  ...boarding,
  ...filing,
  ...tabling,
  ...coordinating,
];
