import type { Plant } from './plants.ts';

const story = 'test/scenarios/claims.test.ts';
const faults = 'test/scenarios/claims-faults.test.ts';
const simulated = 'test/simulation/claims.test.ts';
const claims = (name: string) => `src/features/claims/${name}.ts`;

/** Who holds a feature on an edge, and what ends that. */
export const claiming: readonly Plant[] = [
  {
    name: 'claims: design→code and design_code are two',
    file: claims('edge'),
    from: '|[→↔⇒⇔]/gu',
    to: '|[↔⇒⇔]/gu',
    tests: [faults],
  },
  {
    name: 'claims: whoever comes along goes on with another’s grant',
    file: claims('claim-context'),
    from: 'return { refusal: notHolder(scene, current.lease) };',
    to: 'return { lease: current.lease, events: [], state: record?.state };',
    tests: [faults],
  },
  {
    name: 'claims: anybody’s release frees',
    file: claims('release-edge'),
    from: "      case 'taken':\n        return refused(notHolder(scene, current.lease));\n",
    to: '',
    tests: [faults],
  },
  {
    name: 'claims: a foreign convergence in another’s name frees',
    file: claims('edge-claim'),
    from: 'if (isByAnother(state, event)) return state;',
    to: 'if (isByAnother(state, event) && at_ms < 0) return state;',
    tests: [faults],
  },
  {
    name: 'claims: a convergence leaves the claim held',
    file: claims('edge-claim'),
    from: '        ...freed(state),\n        iteration: data.iteration ?? state.iteration,',
    to: '        ...state,\n        iteration: data.iteration ?? state.iteration,',
    tests: [story],
  },
  {
    name: 'claims: our own signal counts as the holder’s sign',
    file: claims('edge-claim'),
    from: 'return { ...state, stale_since_ms: at_ms };',
    to: 'return { ...state, stale_since_ms: at_ms, last_active_ms: at_ms };',
    tests: [faults],
  },
  {
    name: 'claims: a sweep ends what has given a sign since it was seen',
    file: claims('stale-claims'),
    from: 'return state.last_active_ms === each.last_active_ms ? [said(state, lease, rules, now_ms)] : [];',
    to: 'return [said({ ...state, ...each }, lease, rules, now_ms)];',
    tests: [faults],
  },
  {
    name: 'claims: stale is said at every look',
    file: claims('stale-claims'),
    from: 'const signalled = state.stale_since_ms === undefined;',
    to: 'const signalled = state.feature !== undefined;',
    tests: [faults],
  },
  {
    name: 'claims: every role converges everything',
    file: claims('claim-rules'),
    from: "return edges.includes('all') || edges.includes(normEdge(edge));",
    to: "return edges.includes('all') || normEdge(edge).length > 0;",
    tests: [story],
  },
  {
    name: 'claims: a role is changed on the way',
    file: claims('acting'),
    from: 'const fixed = bound ?? granted;',
    to: 'const fixed = bound ?? (agent_role === undefined ? granted : undefined);',
    tests: ['test/conformance/memory.test.ts'],
  },
  {
    name: 'claims: a person’s yes converges whatever grant is there now',
    file: claims('review-convergence'),
    from: 'if (record?.state.escalation?.approval_id !== decided.approval_id) {',
    to: 'if (record === undefined) {',
    tests: ['test/conformance/memory.test.ts'],
  },
  {
    name: 'claims: what one session asked is answered to the next',
    file: claims('edge-claim'),
    from: 'escalation: isSame ? state.escalation : undefined',
    to: 'escalation: isSame || at_ms > 0 ? state.escalation : undefined',
    tests: ['test/conformance/memory.test.ts'],
  },
  {
    name: 'claims: a hard end that passes while a commit is under way is overlooked',
    file: claims('claim-context'),
    from: 'return commit([...own.events, ...events], answer, deadline_ms(own.lease));',
    to: 'return commit([...own.events, ...events], answer);',
    tests: [simulated],
  },
  {
    name: 'claims: an answer that comes again forgets the newer grant',
    file: 'src/features/claims/operations/keep-claim-operations.ts',
    from: 'step.grants.forget(grantOf(input), fencing_token as number);',
    to: 'step.grants.forget(grantOf(input), fencing_token === undefined ? 0 : undefined);',
    tests: [faults],
  },
];
