import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimCommand } from '../../../src/features/claims/acting.ts';
import { claimModeKey } from '../../../src/features/claims/claim-mode.ts';
import {
  claimEdge,
  convergeEdge,
  heartbeatClaim,
  releaseEdge,
  setClaimMode,
} from '../../../src/features/claims/commands.ts';
import { sessionEvent } from '../../../src/features/sessions/state.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { type Fact, fact, given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { agent, by, RULES, told, under } from './claim-facts.ts';

const mode = (type: string, data: JsonObject = {}) => ({ ...claimModeKey, type, data });
const set = (to: 'single' | 'many', second_agent: 'refuse' | 'switch' = 'switch') =>
  setClaimMode({ mode: to, second_agent, changed_by: 'cli-root' });
const single = (second_agent?: 'refuse' | 'switch') =>
  given().at(NOON_MS).when(set('single', second_agent)).facts;
/** A process without a name. */
const unnamed = (agent_id = 'agent-7f', more: Partial<ClaimCommand> = {}) =>
  by(agent_id, undefined, { unnamed: true, ...more });
const session = (agent_id: string, at_ms: number): Fact => {
  const { token: _, ...name } = agent(agent_id);
  return fact(at_ms, sessionEvent(name, 'session_started', { ...name, capabilities: [] }));
};

test('[CLAIM-6] alone, an unconfigured agent is primary and full_stack, claims nothing first, and the log is the same', () => {
  const converged = given(...single())
    .at(NOON_MS)
    .when(convergeEdge({ ...unnamed(), evaluators: '1/1' }));
  converged.thenCommits(
    mode('single_agent_changed', { agent_id: 'primary', caller_id: 'agent-7f' }),
    told('edge_started', { granted_to: 'primary', agent_role: 'full_stack', source: 'serialiser' }),
    told('edge_converged', { agent_id: 'primary', agent_role: 'full_stack', evaluators: '1/1' }),
  );
  const started = given(...single())
    .at(NOON_MS)
    .when(heartbeatClaim({ ...unnamed(), iteration: 1 }));
  started.answering({ agent_id: 'primary', iteration: 1 });
  given(...started.facts)
    .at(NOON_MS + 1)
    .when(convergeEdge(under(NOON_MS, unnamed())))
    .thenCommits(told('edge_converged', { agent_id: 'primary', agent_role: 'full_stack' }));
});

test('[CLAIM-6] it is explicit: without it nobody is primary and nothing starts by itself', () => {
  given().at(NOON_MS).when(convergeEdge(unnamed())).thenRefuses('edge_not_started');
  given()
    .at(NOON_MS)
    .when(claimEdge(unnamed()))
    .thenCommits(told('edge_started', { granted_to: 'agent-7f' }));
});

test('[CLAIM-6] a configured agent keeps its name', () => {
  given(...single())
    .at(NOON_MS)
    .when(convergeEdge(by('alice')))
    .answering({ agent_id: 'alice', agent_role: 'full_stack' });
});

test('[CLAIM-6] a grant that somebody has ended does not begin again by itself', () => {
  const mine = given(...single())
    .at(NOON_MS)
    .when(claimEdge(unnamed())).facts;
  const released = given(...mine)
    .at(NOON_MS + 1)
    .when(releaseEdge(unnamed())).facts;
  given(...released)
    .at(NOON_MS + 2)
    .when(convergeEdge(under(NOON_MS, unnamed())))
    .thenRefuses('edge_not_started');
});

/** What says that the first one is there: a session, or what it has claimed. */
const SIGNS: Record<string, (facts: Fact[]) => Fact[]> = {
  session: (facts) => [
    ...given(...facts)
      .at(NOON_MS)
      .when(convergeEdge(unnamed())).facts,
    session('agent-7f', NOON_MS),
  ],
  claim: (facts) =>
    given(...facts)
      .at(NOON_MS)
      .when(claimEdge(unnamed())).facts,
};

for (const [sign, first] of Object.entries(SIGNS)) {
  test(`[CLAIM-6] a second live agent is refused, or switches the project to many (${sign})`, () => {
    const elsewhere = { edge: 'code_unit_tests' };
    for (const second of [by('bob', 'tdd_engineer', elsewhere), unnamed('agent-8a', elsewhere)]) {
      given(...first(single('refuse')))
        .at(NOON_MS + 1)
        .when(claimEdge(second))
        .thenRefuses('single_agent_mode', { agent_id: 'primary' });
      const switched = given(...first(single('switch')))
        .at(NOON_MS + 1)
        .when(claimEdge(second))
        .answering({ action: 'edge_started', agent_id: second.caller.agent_id });
      assert.partialDeepStrictEqual(switched.facts.at(-1)?.events[0], {
        type: 'claim_mode_changed',
        data: { mode: 'many', cause: 'second_agent', changed_by: second.caller.agent_id },
      });
    }
  });
}

test('[CLAIM-6] an agent that is there is found however many of its sessions have ended', () => {
  const ended = Array.from({ length: 60 }, (_, n) => ({ agent_id: 'agent-7f', session_id: `${n + 10}` }));
  const before = ended.map((name) =>
    fact(
      NOON_MS - 1,
      sessionEvent(name, 'session_started', { ...name, agent_type: 'test', capabilities: [] }),
      sessionEvent(name, 'session_ended', { end_reason: 'ended' }),
    ),
  );
  given(...before, ...(SIGNS.session?.(single('refuse')) ?? []))
    .at(NOON_MS + 1)
    .when(claimEdge(by('bob')))
    .thenRefuses('single_agent_mode', { agent_id: 'primary' });
});

test('[CLAIM-6] once the first one has gone, the next one goes on in its place', () => {
  const begun = SIGNS.claim?.(single('refuse')) ?? [];
  const later_ms = NOON_MS + RULES.stale_ms;
  given(...begun)
    .at(later_ms)
    .when(convergeEdge(unnamed('agent-8a')))
    .thenCommits(
      mode('single_agent_changed', { agent_id: 'primary', caller_id: 'agent-8a' }),
      told('edge_converged', { agent_id: 'primary' }),
    );
  const silent = SIGNS.session?.(single('refuse')) ?? [];
  given(...silent)
    .at(NOON_MS + 15 * MINUTE_MS)
    .when(claimEdge(by('bob')))
    .answering({ action: 'edge_started' });
});

test('[CLAIM-6] what the first one began alone it ends among many', () => {
  const begun = SIGNS.claim?.(single('switch')) ?? [];
  const many = given(...begun)
    .at(NOON_MS + 1)
    .when(claimEdge(by('bob', 'tdd_engineer', { edge: 'code_unit_tests' }))).facts;
  given(...many)
    .at(NOON_MS + 2)
    .when(convergeEdge(under(NOON_MS, unnamed())))
    .thenCommits(told('edge_converged', { agent_id: 'primary', agent_role: 'full_stack' }));
  given(...many)
    .at(NOON_MS + 2)
    .when(convergeEdge(unnamed('agent-8a')))
    .thenRefuses('not_holder');
});

test('[CLAIM-6] alone is only who is alone', () => {
  const alices = given()
    .at(NOON_MS)
    .when(claimEdge(by('alice'))).facts;
  const both = given(...alices)
    .at(NOON_MS)
    .when(claimEdge(by('bob', undefined, { edge: 'x' }))).facts;
  given(...both)
    .at(NOON_MS)
    .when(set('single'))
    .thenRefuses('wrong_status', { holders: ['alice', 'bob'] });
  const alone = given(...alices)
    .at(NOON_MS)
    .when(set('single'))
    .answering({ changed: true }).facts;
  given(...alone)
    .at(NOON_MS + 1)
    .when(convergeEdge(unnamed('alice')))
    .answering({ agent_id: 'alice' });
  given(...single())
    .at(NOON_MS)
    .when(set('single'))
    .answering({ changed: false });
});
