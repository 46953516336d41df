import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimCommand } from '../../../src/features/claims/acting.ts';
import { claimModeKey } from '../../../src/features/claims/claim-mode.ts';
import { DEFAULT_RULES } from '../../../src/features/claims/claim-rules.ts';
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

/** Without `agent_roles.yml`. */
const plain = (more: Partial<ClaimCommand> = {}) => ({ ...more, rules: DEFAULT_RULES });
const alone = (agent_id?: string, more: Partial<ClaimCommand> = {}) => unnamed(agent_id, plain(more));

test('[CLAIM-6] while nothing is configured, a lone agent without a name is primary and full_stack, and converges', () => {
  const converged = given().at(NOON_MS).when(convergeEdge(alone()));
  const agent = { agent_id: 'primary', caller_id: 'agent-7f' };
  converged.thenCommits(
    mode('claim_mode_changed', { mode: 'single', second_agent: 'switch', agent, cause: 'unconfigured' }),
    told('edge_started', { granted_to: 'primary', agent_role: 'full_stack' }),
    told('edge_converged', { agent_id: 'primary', agent_role: 'full_stack' }),
  );
  given(...converged.facts)
    .at(NOON_MS + 1)
    .when(convergeEdge(alone('agent-7f', { edge: 'code_unit_tests' })))
    .answering({ agent_id: 'primary', action: 'edge_converged' });
});

test('[CLAIM-6] it is not alone beside another session, or another agent’s claim', () => {
  const others: Fact[][] = [
    [session('bob', NOON_MS - MINUTE_MS)],
    given()
      .at(NOON_MS)
      .when(claimEdge(by('bob', undefined, plain({ edge: 'x' })))).facts,
  ];
  for (const facts of others)
    given(...facts)
      .at(NOON_MS + 1)
      .when(convergeEdge(alone()))
      .thenRefuses('edge_not_started');
  // Its own session is no other agent's, and one that has been silent for long is over.
  given(session('agent-7f', NOON_MS), session('bob', NOON_MS - 60 * MINUTE_MS))
    .at(NOON_MS + 1)
    .when(convergeEdge(alone()))
    .answering({ agent_id: 'primary' });
});

test('[CLAIM-6] a second live agent makes it a project of many, with an event; the first ends what it began', () => {
  const begun = given().at(NOON_MS).when(claimEdge(alone())).facts;
  for (const second of [by('bob', undefined, plain({ edge: 'x' })), alone('agent-8a', { edge: 'x' })]) {
    const switched = given(...begun)
      .at(NOON_MS + 1)
      .when(claimEdge(second))
      .answering({ agent_id: second.caller.agent_id });
    assert.partialDeepStrictEqual(switched.facts.at(-1)?.events[0], {
      type: 'claim_mode_changed',
      data: { mode: 'many', cause: 'second_agent' },
    });
    given(...switched.facts)
      .at(NOON_MS + 2)
      .when(convergeEdge(under(NOON_MS, alone())))
      .thenCommits(told('edge_converged', { agent_id: 'primary' }));
    given(...switched.facts)
      .at(NOON_MS + 2)
      .when(convergeEdge(alone('agent-9b', { edge: 'y' })))
      .thenRefuses('edge_not_started');
  }
});

test('[CLAIM-6] an agent with a name was configured: it claims first, also where an unnamed one was alone before', () => {
  const named = by('bob', undefined, plain());
  given().at(NOON_MS).when(convergeEdge(named)).thenRefuses('edge_not_started');
  const before = given().at(NOON_MS).when(convergeEdge(alone())).facts;
  const later_ms = NOON_MS + RULES.stale_ms;
  given(...before)
    .at(later_ms)
    .when(convergeEdge(named))
    .thenRefuses('edge_not_started');
  given(...before)
    .at(later_ms)
    .when(convergeEdge(alone('agent-8a')))
    .answering({ agent_id: 'primary' });
});

test('[CLAIM-6] what a lone agent holds under the name of its process stays its own', () => {
  const older = given()
    .at(NOON_MS)
    .when(claimEdge(by('cli-root', undefined, plain()))).facts;
  given(...older)
    .at(NOON_MS + 1)
    .when(convergeEdge({ ...alone('cli-root'), agent_role: 'full_stack' }))
    .answering({ agent_id: 'cli-root', action: 'edge_converged' });
});

test('[CLAIM-6] where roles or the mode are configured, nobody is primary and nothing starts by itself', () => {
  const many = given().at(NOON_MS).when(set('many')).facts;
  given(...many)
    .at(NOON_MS)
    .when(convergeEdge(alone()))
    .thenRefuses('edge_not_started');
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
