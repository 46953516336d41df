import type { Plant } from './plants.ts';

const sessions = 'test/features/sessions/sessions.test.ts';
const onMemory = 'test/conformance/memory.test.ts';

/** Sessions, hand-offs, mail, teams, keys: an agent's daily operations. */
export const daily: readonly Plant[] = [
  {
    name: 'a release means what its name leads to by now',
    file: 'src/features/locks/operations/release-lock-operation.ts',
    from: 'grants.lockNamed(path) ?? step.area(path, field)',
    to: 'step.area(path, field)',
    tests: ['test/runtime/release-by-name.test.ts'],
  },
  {
    name: 'clean-up goes on although its agent is back',
    file: 'src/features/sessions/change-session.ts',
    from: 'if (stateOf(name, loaded)?.freeing === true) return undefined;',
    to: 'if (stateOf(name, loaded) !== undefined) return undefined;',
    tests: [sessions, onMemory],
  },
  {
    name: 'who comes back says so only after it has asked',
    file: 'src/runtime/coordinator.ts',
    from: 'const away = touching && (await touching);',
    to: 'const away = undefined; void touching;',
    tests: ['test/runtime/presence.test.ts', onMemory],
  },
  {
    name: 'a process that was stopped amid a call believes what it was told',
    file: 'src/runtime/coordinator.ts',
    from: "if ((await this.#sign(true)) !== 'resumed') return;",
    to: 'return;',
    tests: ['test/runtime/presence.test.ts'],
  },
  {
    name: 'a store that is away is waited for twice',
    file: 'src/runtime/coordinator.ts',
    from: 'operation.mutates && signed instanceof StoreFailure ? signed.refusal : undefined',
    to: 'signed instanceof Date ? undefined : undefined',
    tests: ['test/runtime/presence.test.ts'],
  },
  {
    name: 'clean-up goes by the agent, not by its session',
    file: 'src/ledger/lease.ts',
    from: 'lease.agent_id === agent_id && lease.session_id === session_id',
    to: 'lease.agent_id === agent_id && session_id !== undefined',
    tests: [sessions, onMemory],
  },
  {
    name: 'a session that came back is ended all the same',
    file: 'src/features/sessions/change-session.ts',
    from: 'how.silent_since_ms !== undefined && state.last_heartbeat_ms !== how.silent_since_ms',
    to: 'how.silent_since_ms === -1',
    tests: [sessions],
  },
  {
    name: 'what an interrupted clean-up left is forgotten',
    file: 'src/features/sessions/reclaim.ts',
    from: 'loaded.list<SessionState>(stillFreeing).map(({ state }) => nameOf(state))',
    to: '[] as SessionName[]',
    tests: [onMemory],
  },
  {
    name: 'a thread is read by whoever knows its id',
    file: 'src/features/mail/state.ts',
    from: 'records.filter(({ state }) => state.to === agent_id || state.from === agent_id)',
    to: 'records.slice()',
    tests: [onMemory],
  },
  {
    name: 'a team limits nobody',
    file: 'src/features/queue/terms.ts',
    from: 'if (held < terms.at_most)',
    to: 'if (held >= 0)',
    tests: ['test/transports/scenarios-sqlite.test.ts'],
  },
];
