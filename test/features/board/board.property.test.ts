import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type BoardClaimState,
  boardClaimDueAt_ms,
  isOpen,
  outstanding,
} from '../../../src/features/board/board-claim.ts';
import { BIDS, PHASES, type Phase } from '../../../src/features/board/board-settings.ts';
import { configureBoard, joinBoard, leaveBoard } from '../../../src/features/board/commands.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Decision } from '../../../src/ledger/decision.ts';
import { canonical } from '../../../src/ledger/replay.ts';
import { type Fact, folded, given, NOON_MS } from '../../support/decider-spec.ts';
import {
  bidder,
  bids,
  board,
  CLAIM,
  claimIn,
  delivers,
  fails,
  GOAL,
  grantsIn,
  happened,
  publish,
  settings,
  settles,
  takes,
} from './board-facts.ts';

const NAMES = ['a', 'B', 'c', 'd', 'ä', '10', '9'];
const word = fc.constantFrom(...BIDS);
const crews = fc.dictionary(fc.constantFrom(...NAMES), word, { minKeys: 1 });

/** Every agent delivers what it is granted until there is nothing left. */
function carriedOn(facts: Fact[]): Fact[] {
  let done = facts;
  for (;;) {
    const [next] = outstanding(claimIn(done));
    if (next === undefined) return done;
    done = happened(done, delivers(next, '{}', { structural_type: 'Terminal' }));
  }
}

test('[BID-2] the same bids give the same grants, in whatever order they come and however they are placed', () => {
  const situations = crews.chain((said) =>
    fc.record({
      said: fc.constant(said),
      order: fc.shuffledSubarray(Object.keys(said), { minLength: Object.keys(said).length }),
      /** These are configured to bid so always. */
      standing: fc.subarray(Object.keys(said)),
    }),
  );
  const expected = (said: Record<string, string>) => {
    const who = (bid: string) =>
      Object.keys(said)
        .filter((name) => said[name] === bid)
        .sort();
    const [review, claim, exclusive] = [who('review'), who('claim'), who('exclusive').slice(0, 1)];
    const phases = { review, parallel: claim, exclusive };
    return PHASES.filter((phase) => phases[phase].length > 0).map((phase) => [phase, ...phases[phase]]);
  };
  fc.assert(
    fc.property(situations, ({ said, order, standing }) => {
      const crew = Object.entries(said).map(([name, bid]) =>
        bidder(name, standing.includes(name) ? bid : undefined),
      );
      const asked = order.filter((name) => !standing.includes(name));
      const opened = board(crew);
      const all = happened(opened, ...asked.map((name) => bids(name, said[name] ?? '')));
      const done = carriedOn(all);
      const granted = grantsIn(done).map((line) => {
        const [phase = '', names = ''] = line.split(': ');
        return [phase, ...names.split(' ').sort()];
      });
      assert.deepEqual(granted, expected(said));
      assert.equal(claimIn(done).status, 'complete');
    }),
    { numRuns: 200 },
  );
});

const CREW = ['ann', 'bob', 'cat'];

type Move =
  | { readonly do: 'bid'; readonly who: string; readonly bid: string }
  | { readonly do: 'deliver'; readonly who: string; readonly payload: string }
  | { readonly do: 'fail' | 'take' | 'leave' | 'join'; readonly who: string }
  | { readonly do: 'settle' | 'configure' }
  | { readonly do: 'pass'; readonly seconds: number };

const who = fc.constantFrom(...CREW);
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('bid' as const), who, bid: fc.oneof(word, fc.constant('?')) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('deliver' as const),
      who,
      payload: fc.constantFrom('{}', '[]', 'no'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('fail', 'take', 'leave', 'join').map((each) => each as 'fail'),
      who,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('settle', 'configure').map((each) => each as 'settle') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      seconds: fc.constantFrom(1, 61, 300, 601, 1900),
    }),
  },
);

interface Rules {
  readonly retry: boolean;
  readonly deadline: boolean;
  readonly rounds: number;
}

const rules: fc.Arbitrary<Rules> = fc.record({
  retry: fc.boolean(),
  deadline: fc.boolean(),
  rounds: fc.constantFrom(0, 1, 3),
});

const settingsOf = ({ retry, deadline, rounds }: Rules) =>
  settings({
    on_failure: retry ? 'retry' : 'terminate',
    max_attempts: 2,
    bid_deadline_ms: deadline ? 60_000 : 0,
    max_review_iterations: rounds,
  });

/** One board on which these things happen, refused or not; every claim that opens is played on. */
class Game {
  facts: Fact[];
  now_ms = NOON_MS;
  readonly #configure: Decision<JsonObject>;
  #artefacts = 0;

  constructor(chosen: Rules) {
    this.#configure = configureBoard(
      settingsOf(chosen),
      CREW.map((name) => bidder(name)),
    );
    this.facts = happened([], this.#configure, publish(GOAL, { by: 'ann' }));
  }

  claims(): Map<string, BoardClaimState> {
    const records = [...folded(this.facts).values()].filter(({ kind }) => kind === 'board_claim');
    return new Map(records.map(({ id, state }) => [id, state as unknown as BoardClaimState]));
  }

  open(): [string, BoardClaimState][] {
    return [...this.claims()].filter(([, state]) => isOpen(state));
  }

  ask(decision: Decision<JsonObject>): void {
    const asked = given(...this.facts)
      .at(this.now_ms)
      .when(decision);
    if (asked.settled.verdict === 'commit') this.facts = asked.facts;
  }

  /** What an agent makes ends there; only reworked work is looked at again. */
  #delivers(agent_id: string, payload: string, claim_id: string): Decision<JsonObject> {
    this.#artefacts += 1;
    const isRework = this.claims().get(claim_id)?.status === 'pending_assignment';
    const structural_type = isRework ? 'Standard' : 'Terminal';
    return delivers(agent_id, payload, { id: `made ${this.#artefacts}`, claim_id, structural_type });
  }

  play(next: Move): void {
    const claim_id = this.open()[0]?.[0] ?? CLAIM;
    if (next.do === 'pass') this.now_ms += next.seconds * 1000;
    else if (next.do === 'configure') this.ask(this.#configure);
    else if (next.do === 'settle') this.ask(settles(...this.claims().keys()));
    else if (next.do === 'bid') this.ask(bids(next.who, next.bid, claim_id));
    else if (next.do === 'deliver') this.ask(this.#delivers(next.who, next.payload, claim_id));
    else if (next.do === 'take') this.ask(takes(next.who, undefined, claim_id));
    else if (next.do === 'leave') this.ask(leaveBoard(next.who));
    else if (next.do === 'join') this.ask(joinBoard(bidder(next.who)));
    else if (next.do === 'fail') {
      this.#artefacts += 1;
      this.ask(fails(next.who, { id: `failed ${this.#artefacts}`, claim_id }));
    }
  }

  /** Every agent does what is awaited of it, content or never content; or is silent until its time runs out. */
  finish(how: End): void {
    const [bid, review] = how === 'content' ? ['ignore', '{}'] : ['review', 'no'];
    for (let round = 0; round < 60 && this.open().length > 0; round += 1) {
      this.ask(this.#configure);
      this.ask(settles(...this.claims().keys()));
      for (const [id, state] of this.open()) {
        if (how === 'silent')
          this.now_ms = Math.max(this.now_ms, Math.min(boardClaimDueAt_ms(state), this.now_ms + 1e8));
        else for (const name of state.awaited) this.ask(bids(name, bid, id));
        if (how === 'silent') this.ask(settles(id));
        else for (const name of outstanding(state)) this.ask(this.#delivers(name, review, id));
      }
    }
  }
}

type End = 'content' | 'never_content' | 'silent';
const ends: fc.Arbitrary<End> = fc.constantFrom('content', 'never_content', 'silent');
const moves = fc.array(move, { minLength: 10, maxLength: 40, size: 'max' });

/** Each phase at most once, in order, and nothing after the end: read from the log alone. */
function checkLog(facts: readonly Fact[]): void {
  const started = new Map<string, Phase[]>();
  const ended = new Set<string>();
  const delivered = new Set<string>();
  for (const { kind, id, type, data } of facts.flatMap(({ events }) => events)) {
    if (kind !== 'board_claim') continue;
    assert.ok(!ended.has(id), `${type} after the end of ${id}`);
    if (type === 'phase_started') {
      const phases = [...(started.get(id) ?? []), data.phase as Phase];
      started.set(id, phases);
      const order = phases.map((phase) => PHASES.indexOf(phase));
      assert.deepEqual(order, [...new Set(order)].sort(), 'each once, in their order');
    }
    if (type === 'work_delivered') {
      const part = `${id} ${data.agent_id}`;
      assert.ok(!delivered.has(part), 'one part, delivered twice');
      delivered.add(part);
    }
    if (type === 'claim_completed' || type === 'claim_terminated') ended.add(id);
  }
}

/** Games in which one of these never happens prove nothing about it. */
const SITUATIONS = [
  ...['bid_placed', 'bids_closed', 'bidders_changed', 'phase_started', 'grant_taken', 'grant_repeated'],
  ...['work_assigned', 'work_delivered', 'claim_completed', 'claim_terminated', 'rework_started'],
  ...['thread_advanced', 'artefact_published', 'approval_requested'],
];

test('[PHASE-3] [PHASE-4] in any order of bids, deliveries, failures, time and roster: no phase twice, no claim stuck', () => {
  const met = new Set<string>();
  fc.assert(
    fc.property(rules, moves, ends, (chosen, played, wish) => {
      const game = new Game(chosen);
      for (const next of played) game.play(next);
      checkLog(game.facts);
      // Without a deadline silence is waited for, and without a limit there is always another round.
      const isEndless = wish === 'silent' ? !chosen.deadline : chosen.rounds === 0;
      game.finish(isEndless ? 'content' : wish);
      checkLog(game.facts);
      assert.deepEqual(game.open(), [], 'a claim is stuck');
      for (const { type } of game.facts.flatMap(({ events }) => events)) met.add(type);
    }),
    { numRuns: 1000 },
  );
  assert.deepEqual(
    SITUATIONS.filter((type) => !met.has(type)),
    [],
  );
});

test('[AUD-5] [BID-1] the state of a board is the fold of its events, at every moment, and JSON keeps it', () => {
  fc.assert(
    fc.property(rules, moves, (chosen, played) => {
      const game = new Game(chosen);
      for (const next of played) game.play(next);
      const kept = JSON.parse(JSON.stringify(game.facts)) as Fact[];
      const text = (facts: readonly Fact[]) =>
        canonical([...folded(facts).values()].map(({ state }) => state));
      assert.equal(text(kept), text(game.facts));
    }),
    { numRuns: 300 },
  );
});
