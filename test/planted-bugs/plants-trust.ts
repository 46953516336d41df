import type { Plant } from './plants.ts';

const guardOperation = 'test/features/trust/guard-operation.test.ts';
const verdict = 'test/features/trust/verdict.test.ts';
const judge = 'test/features/network/judge.test.ts';
const decisions = 'test/features/verification/decisions.test.ts';
const memory = 'test/conformance/memory.test.ts';

const approvals: readonly Plant[] = [
  {
    name: 'trust: an approval is never used up',
    file: 'src/features/trust/guard-operation.ts',
    from: 'if (approval !== undefined) events.push(useEvent(want, guard.caller));',
    to: '',
    tests: [guardOperation],
  },
  {
    name: 'trust: an approval is good for what has another hash',
    file: 'src/features/trust/approvals/request-approval.ts',
    from: 'return state.shown_hash === shown_hash && state.hash === shown.hash;',
    to: 'return state.shown_hash === shown_hash || state.hash !== shown.hash;',
    tests: [guardOperation],
  },
  {
    name: 'trust: what was not shown is approved',
    file: 'src/features/trust/approvals/decide-approval.ts',
    from: 'if (shown_hash !== state.shown_hash)',
    to: "if (shown_hash === '')",
    tests: [guardOperation],
  },
  {
    name: 'trust: nothing ever runs out',
    file: 'src/features/trust/approvals/approval.ts',
    from: "return runsOut && now_ms >= expires_at_ms ? 'expired' : status;",
    to: "return runsOut && now_ms > expires_at_ms ? 'expired' : status;",
    tests: [guardOperation],
  },
  {
    name: 'trust: whoever has the store in hands approves',
    file: 'src/runtime/coordinator.ts',
    from: "if (operation.personal === true && this.authority !== 'person')",
    to: "if (operation.personal === true && this.authority === 'agent')",
    tests: ['test/runtime/guarded.test.ts'],
  },
  {
    name: 'trust: what follows from an approval is left out',
    file: 'src/features/trust/approvals/decide-approval.ts',
    from: 'const follows = consequence?.(record.state, decided);',
    to: 'const follows = decided.approval_id === undefined ? consequence?.(record.state, decided) : undefined;',
    tests: ['test/features/verification/verification-approval.test.ts'],
  },
];

const profiles: readonly Plant[] = [
  {
    name: 'trust: what a profile blocks is allowed all the same',
    file: 'src/features/trust/permit.ts',
    from: "if (index !== -1) return { rule: 'blocked'",
    to: "if (index < -1) return { rule: 'blocked'",
    tests: ['test/features/trust/engines.test.ts'],
  },
  {
    name: 'trust: a commit goes by the rules as they were',
    file: 'src/features/trust/governed.ts',
    from: 'keys: [...keys, rulebookKey],',
    to: 'keys: [...keys],',
    tests: ['test/runtime/profiles.test.ts'],
  },
  {
    name: 'trust: one more file than the profile allows',
    file: 'src/features/trust/usage.ts',
    from: 'before + more <= allowed',
    to: 'before + more <= allowed + 1',
    tests: [memory],
  },
  {
    name: 'trust: one more call than the profile allows',
    file: 'src/features/trust/calls.ts',
    from: 'if (calls >= allowed) {',
    to: 'if (calls > allowed) {',
    tests: [memory],
  },
  {
    name: 'trust: an agent hands on the highest trust',
    file: 'src/features/trust/change-rulebook.ts',
    from: 'if (by.person || profile.trust_level < 4) return undefined;',
    to: 'if (by.person || profile.trust_level <= 4) return undefined;',
    tests: [memory],
  },
  {
    name: 'trust: violations without end lower nothing',
    file: 'src/features/trust/guard-operation.ts',
    from: 'if (lowered !== undefined) events.push(trustLowered(',
    to: 'if (lowered === 4) events.push(trustLowered(',
    tests: [guardOperation],
  },
];

const guardrails: readonly Plant[] = [
  {
    name: 'guard: credentials are a matter of trust',
    file: 'src/features/trust/verdict.ts',
    from: "if (finding.category === 'credential_modification')",
    to: "if (finding.category === 'credential_modification' && finding.operation === '')",
    tests: [verdict],
  },
  {
    name: 'guard: .env.production is a file like any other',
    file: 'src/features/guardrails/edits/credentials.ts',
    from: '/^\\.env(?:\\..+)?$|',
    to: '/^\\.env$|',
    tests: ['test/features/guardrails/guard-secrets.test.ts'],
  },
  {
    name: 'guard: a secret in the parameters of a call is kept',
    file: 'src/runtime/audit-summary.ts',
    from: 'if (text.length <= TEXT_CHARS_MAX) return storable(maskSecrets(text));',
    to: 'if (text.length <= TEXT_CHARS_MAX) return text;',
    tests: ['test/features/changesets/secrets-kept.test.ts'],
  },
  {
    name: 'guard: git push -f is an ordinary push',
    file: 'src/features/guardrails/programs/git-push.ts',
    from: "options.has('-f', '--force') ||",
    to: "options.has('--force') ||",
    tests: ['test/features/guardrails/guard-git.test.ts'],
  },
  {
    name: 'guard: nobody looks into sh -c',
    file: 'src/command-analysis/shell/unwrap.ts',
    from: 'if (SHELLS.has(name)) return shell(words, input, name);',
    to: 'if (SHELLS.has(name)) return undefined;',
    tests: ['test/features/guardrails/guard-hidden.test.ts'],
  },
  {
    name: 'guard: a committed file with changes in it may go',
    file: 'src/features/guardrails/git-facts.ts',
    from: '      !changed.some((entry) => touches(path, entry)) &&\n',
    to: '',
    tests: ['test/features/guardrails/guard-excuse.test.ts'],
  },
  {
    name: 'guard: a check of danger that fails lets it pass',
    file: 'src/transports/hooks/answer-hook.ts',
    from: "if ((isUnread || known.isDangerous === true) && input.env.COX_GUARD_ON_FAILURE !== 'allow')",
    to: "if ((isUnread || known.isDangerous === true) && input.env.COX_GUARD_ON_FAILURE === 'deny')",
    tests: ['test/transports/hooks/guardrails.test.ts'],
  },
];

const network: readonly Plant[] = [
  {
    name: 'network: a wildcard means the name itself, too',
    file: 'src/features/network/rule.ts',
    from: 'return name.endsWith(rule.suffix) &&',
    to: "return '.'.concat(name).endsWith(rule.suffix) &&",
    tests: [judge],
  },
  {
    name: 'network: an address that nobody lists falls under the default',
    file: 'src/features/network/judge-network.ts',
    from: 'if (literal !== undefined && meant.length === 0) return judgeLiteral(place);',
    to: '',
    tests: [judge],
  },
  {
    name: 'network: who is allowed is allowed on every port',
    file: 'src/features/network/rule.ts',
    from: "WEB_PORTS.includes(port) : rule.port === 'any' || rule.port === port;",
    to: 'WEB_PORTS.length > 0 : port > 0;',
    tests: [judge],
  },
  {
    name: 'network: what is denied and allowed is allowed',
    file: 'src/features/network/judge-network.ts',
    from: 'forbidsPort(entry.rule, port));',
    to: 'forbidsPort(entry.rule, port) && allow.length === 0);',
    tests: [judge],
  },
  {
    name: 'network: the proxy goes where the name leads now',
    file: 'src/features/network/proxy/gate.ts',
    from: 'if (all === true) callback(null, found);',
    to: "if (all === true) callback(null, [{ address: '127.0.0.9', family: 4 }]);",
    tests: ['test/features/network/hostile.test.ts'],
  },
];

const verification: readonly Plant[] = [
  {
    name: 'verification: a push is believed without its signature',
    file: 'src/transports/http/github-webhook.ts',
    from: "return await verify(secret, bytes.toString('utf8'), signature);",
    to: "return (await verify(secret, bytes.toString('utf8'), signature)) || signature !== '';",
    tests: ['test/features/verification/webhook.test.ts'],
  },
  {
    name: 'verification: a run that somebody has is taken once more',
    file: 'src/features/verification/verification-run.ts',
    from: "(status === 'running' && (lease === undefined || isOver(lease, now_ms)))",
    to: "(status === 'running' && now_ms > 0)",
    tests: [decisions],
  },
  {
    name: 'verification: a commit with a result is verified again',
    file: 'src/features/verification/route-changeset.ts',
    from: 'if (FINAL.has(state.status)) return force;',
    to: 'if (FINAL.has(state.status)) return true;',
    tests: [decisions],
  },
  {
    name: 'verification: nobody looks at what nobody trusts',
    file: 'src/features/verification/verification-plan.ts',
    from: 'trust_level === 0 ? [...policies, UNTRUSTED_POLICY] : policies',
    to: 'trust_level < 0 ? [...policies, UNTRUSTED_POLICY] : policies',
    tests: ['test/features/verification/plan.test.ts'],
  },
];

/** Who may what, what is dangerous, who reaches what, what is verified. */
export const trusting: readonly Plant[] = [
  ...approvals,
  ...profiles,
  ...guardrails,
  ...network,
  ...verification,
];
