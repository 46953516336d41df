import type { Plant } from './plants.ts';

const sessions = 'test/domain/sessions.test.ts';
const onMemory = 'test/conformance/memory.test.ts';

/** Sessions, hand-offs, mail, teams, keys: an agent's daily operations. */
export const daily: readonly Plant[] = [
  {
    name: 'clean-up frees what its agent has taken again',
    file: 'src/domain/sessions/free-leases.ts',
    from: 'affirmedAt_ms(lease) < session.freeing_before_ms',
    to: 'affirmedAt_ms(lease) > 0',
    tests: [sessions, onMemory],
  },
  {
    name: 'extending a lock is no sign that it is wanted',
    file: 'src/domain/lease.ts',
    from: 'return lease.renewed_at_ms ?? lease.granted_at_ms;',
    to: 'return lease.granted_at_ms;',
    tests: [sessions, onMemory],
  },
  {
    name: 'clean-up goes by the agent, not by its session',
    file: 'src/domain/sessions/free-leases.ts',
    from: 'lease.session_id === session.session_id &&',
    to: '',
    tests: [sessions, onMemory],
  },
  {
    name: 'a session that came back is ended all the same',
    file: 'src/domain/sessions/change-session.ts',
    from: 'how.silent_since_ms !== undefined && state.last_heartbeat_ms !== how.silent_since_ms',
    to: 'how.silent_since_ms === -1',
    tests: [sessions],
  },
  {
    name: 'what an interrupted clean-up left is forgotten',
    file: 'src/operations/clean-up.ts',
    from: 'loaded.list<SessionState>(stillFreeing).flatMap((record) => endedSession(record) ?? [])',
    to: '[] as Ended[]',
    tests: [onMemory],
  },
  {
    name: 'a thread is read by whoever knows its id',
    file: 'src/domain/mail/message.ts',
    from: 'records.filter(({ state }) => state.to === agent_id || state.from === agent_id)',
    to: 'records.slice()',
    tests: [onMemory],
  },
  {
    name: 'a team limits nobody',
    file: 'src/domain/queue/terms.ts',
    from: 'if (held < terms.at_most)',
    to: 'if (held >= 0)',
    tests: ['test/doors/scenarios-sqlite.test.ts'],
  },
];
