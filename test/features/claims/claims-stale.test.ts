import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClaimRules, DEFAULT_RULES } from '../../../src/features/claims/claim-rules.ts';
import {
  claimsNeeds,
  claimsStatus,
  describeRules,
  resolveCommand,
} from '../../../src/features/claims/claim-status.ts';
import {
  claimEdge,
  convergeEdge,
  heartbeatClaim,
  resolveStaleClaim,
  signalStaleClaims,
} from '../../../src/features/claims/commands.ts';
import { type ClaimState, claimEntity, idleSince } from '../../../src/features/claims/edge-claim.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { EntityRecord } from '../../../src/ledger/entity.ts';
import { LoadedSet } from '../../../src/ledger/proposal.ts';
import { type Fact, folded, given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { ABOUT, by, RULES, told } from './claim-facts.ts';

const STALE_MS = NOON_MS + RULES.stale_ms;
const AUTO: ClaimRules = { ...RULES, stale_action: 'auto_release' };
const CLAIM = 'claim/REQ-F-1#design_code';

const claimed = (rules = RULES) =>
  given()
    .at(NOON_MS)
    .when(claimEdge(by('alice', 'architect', { rules }))).facts;
const claimIn = (facts: readonly Fact[]) => folded(facts).get(CLAIM)?.state as unknown as ClaimState;
const signal = (last_active_ms = NOON_MS, rules: ClaimRules = RULES) =>
  signalStaleClaims({ seen: [{ ...ABOUT, last_active_ms }], rules });

test('[CLAIM-4] without a sign for too long it is said to be stale, once, and stays with its holder', () => {
  given(...claimed())
    .at(STALE_MS - 1)
    .when(signal())
    .thenRefuses('claim_not_stale');
  const said = given(...claimed())
    .at(STALE_MS)
    .when(signal());
  const [expired, notice, ...rest] = said.facts.at(-1)?.events ?? [];
  assert.partialDeepStrictEqual(expired, {
    type: 'claim_expired',
    data: { ...ABOUT, held_by: 'alice', seconds_idle: 1800, source: 'coordinator' },
  });
  assert.partialDeepStrictEqual(notice, {
    type: 'notice_raised',
    data: { about: 'stale', agent_id: 'coxswain' },
  });
  assert.deepEqual(rest, []);
  const { lease, last_active_ms } = claimIn(said.facts);
  assert.deepEqual(
    [lease?.agent_id, last_active_ms],
    ['alice', NOON_MS],
    'our signal is no sign of the holder',
  );
  given(...said.facts)
    .at(STALE_MS + 1)
    .when(signal())
    .thenRefuses('claim_not_stale');
});

test('[CLAIM-4] a new idle period is said again, with a notice of its own', () => {
  const first = given(...claimed())
    .at(STALE_MS)
    .when(signal()).facts;
  const awake = given(...first)
    .at(STALE_MS + 1)
    .when(heartbeatClaim(by('alice'))).facts;
  assert.equal(claimIn(awake).stale_since_ms, undefined);
  const second = given(...awake)
    .at(STALE_MS + 1 + RULES.stale_ms)
    .when(signal(STALE_MS + 1));
  const notices = second.facts.flatMap(({ events }) => events).filter(({ kind }) => kind === 'notice');
  assert.equal(new Set(notices.map(({ id }) => id)).size, 2);
});

test('[CLAIM-4] who gave a sign since it was looked at is left alone', () => {
  const awake = given(...claimed())
    .at(NOON_MS + 1)
    .when(heartbeatClaim(by('alice'))).facts;
  given(...awake)
    .at(STALE_MS + MINUTE_MS)
    .when(signal(NOON_MS))
    .thenRefuses('claim_not_stale');
});

test('[CLAIM-4] an agent that works elsewhere does not keep this claim alive', () => {
  const other = by('alice', 'architect', { edge: 'requirements_design' });
  const busy = given(...claimed())
    .at(STALE_MS - 1)
    .when(claimEdge(other)).facts;
  assert.equal(
    given(...busy)
      .at(STALE_MS)
      .when(signal()).answer.signalled,
    1,
  );
});

test('[CLAIM-4] a clock that was set back makes nothing stale; one that leapt ahead frees nothing', () => {
  given(...claimed())
    .at(NOON_MS - 60 * MINUTE_MS)
    .when(signal())
    .thenRefuses('claim_not_stale');
  const leapt = given(...claimed())
    .at(NOON_MS + 1e12)
    .when(signal());
  assert.equal(claimIn(leapt.facts).lease?.agent_id, 'alice');
});

test('[CLAIM-4] auto_release frees in the same commit, but not what a person thinks about', () => {
  const freed = given(...claimed(AUTO))
    .at(STALE_MS)
    .when(signal(NOON_MS, AUTO))
    .answering({ freed: 1 });
  assert.partialDeepStrictEqual(freed.facts.at(-1)?.events.at(-1)?.data, {
    agent_id: 'alice',
    released_by: 'coxswain',
    cause: 'stale',
  });
  assert.equal(claimIn(freed.facts).lease, undefined);
  const mine = by('bob', 'tdd_engineer', { rules: AUTO });
  const started = given().at(NOON_MS).when(claimEdge(mine)).facts;
  const asked = given(...started)
    .at(NOON_MS)
    .when(convergeEdge(mine)).facts;
  const kept = given(...asked)
    .at(STALE_MS)
    .when(signal(NOON_MS, AUTO))
    .answering({ signalled: 1, freed: 0 });
  assert.equal(claimIn(kept.facts).lease?.agent_id, 'bob');
  // A question without an answer for a month keeps no agent waiting any longer; nothing is said twice.
  const asked_until_ms = claimIn(asked).escalation?.asked_until_ms ?? 0;
  given(...kept.facts)
    .at(asked_until_ms - 1)
    .when(signal(NOON_MS, AUTO))
    .thenRefuses('claim_not_stale');
  given(...kept.facts)
    .at(asked_until_ms)
    .when(signal(NOON_MS, AUTO))
    .thenCommits(told('edge_released', { agent_id: 'bob', cause: 'stale' }))
    .answering({ signalled: 0, freed: 1 });
});

test('[CLAIM-4] what is over by its hard end is ended, not called stale', () => {
  const TTL = { ...RULES, ttl_ms: MINUTE_MS };
  given(...claimed(TTL))
    .at(STALE_MS)
    .when(signal(NOON_MS, TTL))
    .thenCommits(told('edge_released', { agent_id: 'alice', cause: 'ttl' }))
    .answering({ signalled: 0, freed: 1 });
});

const resolving = (decision: 'release' | 'keep', more: { even_if_active?: boolean } = {}) =>
  resolveStaleClaim({ ...ABOUT, decision, decided_by: 'person:eve', rules: RULES, ...more });

test('[CLAIM-4] a person releases what is stale, or leaves it; one that came back is not taken from it', () => {
  const stale = given(...claimed())
    .at(STALE_MS)
    .when(signal()).facts;
  given(...stale)
    .at(STALE_MS + 1)
    .when(resolving('release'))
    .thenCommits(told('edge_released', { agent_id: 'alice', released_by: 'person:eve', cause: 'person' }))
    .answering({ action: 'edge_released', held_by: 'alice' });
  const kept = given(...stale)
    .at(STALE_MS + 1)
    .when(resolving('keep'));
  kept.thenCommits(told('claim_kept', { kept_by: 'person:eve' }));
  assert.deepEqual(
    [claimIn(kept.facts).lease?.agent_id, claimIn(kept.facts).last_active_ms],
    ['alice', NOON_MS],
    'a person’s word is no sign of the holder',
  );
  const back = given(...stale)
    .at(STALE_MS + 1)
    .when(heartbeatClaim(by('alice'))).facts;
  given(...back)
    .at(STALE_MS + 2)
    .when(resolving('release'))
    .thenRefuses('claim_not_stale', { held_by: 'alice' });
  given(...back)
    .at(STALE_MS + 2)
    .when(resolving('release', { even_if_active: true }))
    .answering({ action: 'edge_released' });
  given().at(NOON_MS).when(resolving('release')).thenRefuses('not_held');
});

function statusOf(facts: readonly Fact[], now_ms: number, rules: ClaimRules = RULES): JsonObject {
  const loaded = new LoadedSet();
  const { keys = [], ranges = [] } = claimsNeeds({});
  const state = folded(facts);
  const records = [...state.values()].filter(
    ({ kind }) => kind === 'claim',
  ) as unknown as EntityRecord<ClaimState>[];
  for (const key of keys) loaded.put(key, state.get(`${key.kind}/${key.id}`));
  for (const range of ranges) {
    const within = records.filter(({ state: claim, id }) => {
      const { sort = '' } = claimEntity.index(claim, id);
      return sort >= range.from && sort < range.before;
    });
    loaded.putList(range, within as unknown as EntityRecord[]);
  }
  return claimsStatus({}, rules, loaded, now_ms);
}

test('[CLAIM-12] the status shows what is stale also before anybody said so, and not what a person keeps', () => {
  assert.partialDeepStrictEqual(statusOf(claimed(), NOON_MS), {
    mode: 'many',
    stale: [],
    health: { status: 'ok', held: 1 },
  });
  const shown = statusOf(claimed(), STALE_MS);
  assert.partialDeepStrictEqual(shown, {
    claims: [{ agent_id: 'alice', stale: true, expires_at: null }],
    stale: [
      { held_by: 'alice', seconds_idle: 1800, command: 'cox claim resolve REQ-F-1 design_code release' },
    ],
    health: { status: 'needs_attention', stale: 1 },
  });
  const said = given(...claimed())
    .at(STALE_MS)
    .when(signal()).facts;
  const kept = given(...said)
    .at(STALE_MS)
    .when(resolving('keep')).facts;
  assert.partialDeepStrictEqual(statusOf(kept, STALE_MS + 1), {
    stale: [],
    claims: [{ kept_by: 'person:eve' }],
  });
});

test('[CLAIM-12] what waits for a person is shown, and so is what the file allows beyond the default', () => {
  const mine = by('bob', 'tdd_engineer');
  const started = given().at(NOON_MS).when(claimEdge(mine)).facts;
  const asked = given(...started)
    .at(NOON_MS)
    .when(convergeEdge(mine));
  assert.partialDeepStrictEqual(statusOf(asked.facts, NOON_MS), {
    escalations: [{ approval_id: asked.answer.approval_id as string, agent_id: 'bob', ...ABOUT }],
    health: { status: 'needs_attention', escalations: 1 },
  });
  assert.deepEqual(describeRules(DEFAULT_RULES).weaker_than_default, []);
  const weak: ClaimRules = {
    ...AUTO,
    outside_authority_action: 'warn',
    spec_mutation_requires_human: false,
    roles: { fast: { converge_edges: [], human_review_bypass: true } },
  };
  assert.deepEqual(describeRules(weak).weaker_than_default, [
    'outside_authority_action: warn',
    'stale_claim_action: auto_release',
    'spec_mutation_requires_human: false (a person decides all the same)',
    'roles.fast.human_review_bypass: true',
  ]);
});

test('a command that is shown can be pasted, whatever a feature is called', () => {
  assert.equal(
    resolveCommand({ feature: "it's; rm", edge: 'a→b' }),
    `cox claim resolve 'it'\\''s; rm' 'a→b' release`,
  );
  assert.equal(
    resolveCommand({ feature: '--json', edge: '$(x)' }),
    "cox claim resolve '--json' '$(x)' release",
  );
});

test('the index finds the longest silent first, and none that was told already', () => {
  const held = claimIn(claimed());
  const range = idleSince(NOON_MS + 1);
  const within = (state: ClaimState) => {
    const { sort = '' } = claimEntity.index(state, '');
    return sort >= range.from && sort < range.before;
  };
  assert.equal(within(held), true);
  assert.equal(within({ ...held, last_active_ms: NOON_MS + 1 }), false);
  assert.equal(within({ ...held, stale_since_ms: NOON_MS }), false);
});
