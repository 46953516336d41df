import type { Plant } from './plants.ts';

const board = (name: string) => `src/features/board/${name}.ts`;
const domain = (name: string) => `test/features/board/board-${name}.test.ts`;
const simulated = 'test/simulation/board.test.ts';
const properties = 'test/features/board/board.property.test.ts';

/** Artefacts, bids and phases: faults that others had, and those that were found here. */
export const boarding: readonly Plant[] = [
  {
    name: 'board: consensus by counting: a stray bidder completes it',
    file: board('place-bid'),
    from: 'if (memberOf(board, agent_id) === undefined) return refused(notABidder(agent_id, claim_id));',
    to: '',
    tests: [domain('bids')],
  },
  {
    name: 'board: of several exclusive bids the first to come wins',
    file: board('board-phases'),
    from: '    .filter((name) => bidBy({ bids }, name)?.bid === word)\n    .sort(byName);\n  return phase',
    to: '    .filter((name) => bidBy({ bids }, name)?.bid === word);\n  return phase',
    tests: [properties],
  },
  {
    name: 'board: silence is not written down, only skipped',
    file: board('board-phases'),
    from: "draft.add('bids_closed', { silent: [...state.awaited] });",
    to: "draft.add('bids_closed', { silent: state.awaited.slice(0, 1) });",
    tests: [domain('bids')],
  },
  {
    name: 'board: the first rejection ends a claim, other reviews are not awaited',
    file: board('board-phases'),
    from: "  if (outstanding(draft.state).length > 0) return 'waiting';",
    to: "  if (outstanding(draft.state).length > 0 && feedbackIn(draft.state).length === 0) return 'waiting';",
    tests: [domain('phases')],
  },
  {
    name: 'board: null approves',
    file: board('artefact'),
    from: "typeof value === 'object' && value !== null && Object.keys(value)",
    to: "typeof value === 'object' && Object.keys(value ?? {})",
    tests: [domain('phases')],
  },
  {
    name: 'board: a failed agent is ignored: the claim is pending for ever',
    file: board('board-phases'),
    from: "  draft.add('claim_terminated', { reason, agent_id });",
    to: "  if (reason === 'timeout') draft.add('claim_terminated', { reason, agent_id });",
    tests: [simulated],
  },
  {
    name: 'board: what comes late still counts',
    file: board('deliver-artefact'),
    from: 'isOutstanding(record.state, agent_id) && (command.attempt ?? grant.attempt) === grant.attempt;',
    to: 'isOutstanding(record.state, agent_id);',
    tests: [domain('failures')],
  },
  {
    name: 'board: two orchestrators run one grant',
    file: board('take-grant'),
    from: 'taken.session_id !== session_id &&\n      now_ms < taken.until_ms;',
    to: 'taken.session_id !== session_id &&\n      now_ms < 0;',
    tests: [simulated],
  },
  {
    name: 'board: a roster that changed is not told to claims that wait for bids',
    file: board('board-phases'),
    from: 'if (!isBidding(state) || state.generation >= board.generation) return;',
    to: 'if (!isBidding(state) || state.awaited.length > 0) return;',
    tests: [domain('bids')],
  },
  {
    name: 'board: rounds of rework have no end',
    file: board('rework'),
    from: 'if (most > 0 && thread.reworks >= most + thread.granted)',
    to: 'if (most > 0 && thread.reworks > most + thread.granted + 1000)',
    tests: [domain('rework')],
  },
  {
    name: 'board: after many rounds the goal is out of reach',
    file: board('context'),
    from: 'return version > 1 ? [...source_artefacts, logical_id] : source_artefacts;',
    to: 'return version > 1 && logical_id === state.type ? [logical_id] : source_artefacts;',
    tests: [domain('context')],
  },
  {
    name: 'board: a replay brings an old deadline back',
    file: board('board-claim'),
    from: 'return { ...state, bids_due_ms: undefined, ...data.roster };',
    to: 'return { ...state, ...data.roster };',
    tests: [properties],
  },
];
