import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Seeded } from '../simulation/random.ts';
import {
  type LockAnswer,
  type LockCall,
  lockModel,
  type QueueAnswer,
  type QueueCall,
  queueModel,
} from './models.ts';
import { type Invocation, linearizable, type Sequential } from './wgl.ts';

/** `call` and `return` as whole numbers; no return: no answer ever came. */
function did<I, O>(
  process: string,
  input: I,
  output: O | undefined,
  called: number,
  returned?: number,
): Invocation<I, O> {
  return {
    process,
    input,
    output,
    called: BigInt(called),
    returned: returned === undefined ? undefined : BigInt(returned),
  };
}

const lock = (
  agent_id: string,
  verb: LockCall['verb'],
  said: string | undefined,
  called: number,
  returned?: number,
  rest: Partial<LockAnswer> = {},
) =>
  did<LockCall, LockAnswer>(
    agent_id,
    { verb, agent_id },
    said === undefined ? undefined : { said, ...rest },
    called,
    returned,
  );

test('[LOCK-5] two holders at once are not linearizable, one after the other are', () => {
  const first = lock('a', 'acquire', 'acquired', 1, 4, { token: 1 });
  assert.equal(
    linearizable(lockModel, [first, lock('b', 'acquire', 'acquired', 2, 5, { token: 2 })]).ok,
    false,
  );
  const blocked = lock('b', 'acquire', 'blocked', 2, 5, { holder: 'a' });
  assert.equal(linearizable(lockModel, [first, blocked]).ok, true);
  const released = lock('a', 'release', 'released', 6, 7);
  const second = lock('b', 'acquire', 'acquired', 6, 9, { token: 2 });
  assert.equal(linearizable(lockModel, [first, blocked, released, second]).ok, true);
});

test('[LOCK-5] a stale read after the answer of a write is found', () => {
  const acquired = lock('a', 'acquire', 'acquired', 1, 2, { token: 1 });
  assert.equal(linearizable(lockModel, [acquired, lock('b', 'check', 'checked', 3, 4)]).ok, false);
  assert.equal(linearizable(lockModel, [acquired, lock('b', 'check', 'checked', 1, 4)]).ok, true);
  assert.equal(
    linearizable(lockModel, [acquired, lock('b', 'check', 'checked', 3, 4, { holder: 'a' })]).ok,
    true,
  );
});

test('[LOCK-5] two readers cannot see a change in opposite orders', () => {
  const history = [
    lock('a', 'acquire', 'acquired', 1, 100, { token: 1 }),
    lock('b', 'check', 'checked', 10, 20, { holder: 'a' }),
    lock('c', 'check', 'checked', 30, 40),
  ];
  const judgement = linearizable(lockModel, history);
  assert.equal(judgement.ok, false);
  assert.ok(
    !judgement.ok && judgement.stuck.some(({ process }) => process === 'c'),
    'it says where it got stuck',
  );
});

test('[LOCK-5] a call without an answer may have happened, or not', () => {
  const unknown = lock('a', 'acquire', undefined, 1);
  assert.equal(
    linearizable(lockModel, [unknown, lock('b', 'check', 'checked', 5, 6, { holder: 'a' })]).ok,
    true,
  );
  assert.equal(linearizable(lockModel, [unknown, lock('b', 'check', 'checked', 5, 6)]).ok, true);
  const both = [lock('b', 'check', 'checked', 5, 6, { holder: 'a' }), lock('c', 'check', 'checked', 7, 8)];
  assert.equal(linearizable(lockModel, [unknown, ...both]).ok, false, 'but not happen and then un-happen');
  const late = lock('a', 'acquire', undefined, 9);
  assert.equal(
    linearizable(lockModel, [late, both[0] as (typeof both)[0]]).ok,
    false,
    'nor before it was made',
  );
});

test('[LOCK-5] a token that does not grow is found', () => {
  const history = [
    lock('a', 'acquire', 'acquired', 1, 2, { token: 7 }),
    lock('a', 'release', 'released', 3, 4),
    lock('b', 'acquire', 'acquired', 5, 6, { token: 7 }),
  ];
  assert.equal(linearizable(lockModel, history).ok, false);
});

const submit = (name: string, called: number, returned: number, priority = 5) =>
  did<QueueCall, QueueAnswer>(
    's',
    { verb: 'submit', name, priority },
    { said: 'submitted' },
    called,
    returned,
  );
const get = (agent_id: string, name: string | undefined, called: number, returned: number) =>
  did<QueueCall, QueueAnswer>(agent_id, { verb: 'get', agent_id }, { said: 'got', name }, called, returned);

test('[QUEUE-6] one task for two agents is found, and a task that is lost', () => {
  const history = [submit('x', 1, 2), get('a', 'x', 3, 6)];
  assert.equal(linearizable(queueModel, history).ok, true);
  assert.equal(linearizable(queueModel, [...history, get('b', 'x', 4, 7)]).ok, false);
  assert.equal(linearizable(queueModel, [...history, get('b', undefined, 4, 7)]).ok, true);
  assert.equal(linearizable(queueModel, [submit('x', 1, 2), get('b', undefined, 3, 4)]).ok, false);
});

test('[QUEUE-6] first in, first out, unless the submissions overlapped', () => {
  const gets = [get('a', 'y', 10, 11), get('a', 'x', 12, 13)];
  assert.equal(linearizable(queueModel, [submit('x', 1, 2), submit('y', 3, 4), ...gets]).ok, false);
  assert.equal(linearizable(queueModel, [submit('x', 1, 4), submit('y', 2, 3), ...gets]).ok, true);
  assert.equal(
    linearizable(queueModel, [submit('x', 1, 2, 5), submit('y', 3, 4, 1), ...gets]).ok,
    true,
    'more urgent',
  );
});

test('[QUEUE-6] completing what one does not hold is found', () => {
  const done = (agent_id: string, said: string) =>
    did<QueueCall, QueueAnswer>(agent_id, { verb: 'complete', agent_id, name: 'x' }, { said }, 5, 6);
  const history = [submit('x', 1, 2), get('a', 'x', 3, 4)];
  assert.equal(linearizable(queueModel, [...history, done('a', 'completed')]).ok, true);
  assert.equal(linearizable(queueModel, [...history, done('b', 'completed')]).ok, false);
});

/** A history made from a true order: each call around the moment at which it takes effect. */
function honest(seed: number, length: number): Invocation<LockCall, LockAnswer>[] {
  const random = new Seeded(seed);
  let holder: string | undefined;
  let token = 0;
  const free = new Map<string, number>();
  return Array.from({ length }, (_, index) => {
    const at = (index + 1) * 1000;
    const agent_id = random.pick(['a', 'b', 'c', 'd', 'e', 'f']);
    const verb = random.pick(['acquire', 'release', 'check'] as const);
    let answer: LockAnswer = { said: 'checked', holder };
    if (verb === 'release') {
      answer = { said: holder === undefined ? 'not_held' : holder === agent_id ? 'released' : 'not_holder' };
      if (answer.said === 'released') holder = undefined;
    } else if (verb === 'acquire') {
      if (holder !== undefined && holder !== agent_id) answer = { said: 'blocked', holder };
      else {
        token += holder === undefined ? 1 : 0;
        answer = { said: holder === undefined ? 'acquired' : 'refreshed', token };
        holder = agent_id;
      }
    }
    const called = Math.max(at - random.between(1, 4000), (free.get(agent_id) ?? 0) + 1);
    const returned = at + random.between(1, 900);
    free.set(agent_id, returned);
    return did(agent_id, { verb, agent_id }, answer, Math.min(called, at), returned);
  });
}

test('histories of a true lock are accepted; with one answer changed most are not', () => {
  let rejected = 0;
  for (let seed = 1; seed <= 60; seed += 1) {
    const history = honest(seed, 120);
    assert.equal(linearizable(lockModel, history).ok, true, `seed ${seed}`);
    const index = history.findIndex(({ output }, each) => each > 40 && output?.said === 'blocked');
    const lied = history.map((each, at) =>
      at === index ? { ...each, output: { said: 'acquired', token: 99 } } : each,
    );
    if (!linearizable(lockModel, lied).ok) rejected += 1;
  }
  assert.ok(rejected > 50, `only ${rejected} of 60`);
});

test('the search agrees with trying every order', () => {
  const register: Sequential<number, { write?: number }, { read: number }> = {
    initial: 0,
    text: String,
    step: (state, { write }, output) =>
      write !== undefined ? write : output === undefined || output.read === state ? state : undefined,
  };
  const verdicts = new Set<boolean>();
  for (let seed = 1; seed <= 400; seed += 1) {
    const random = new Seeded(seed);
    const history = Array.from({ length: 5 }, (_, index) => {
      const called = random.between(1, 20);
      const open = random.chance(0.1);
      const input = random.chance(0.5) ? { write: random.between(1, 2) } : {};
      const output = open ? undefined : { read: random.between(0, 2) };
      return did(
        String(index),
        input,
        output,
        called * 100 + index,
        open ? undefined : (called + random.between(1, 8)) * 100 + 50 + index,
      );
    });
    const { ok } = linearizable(register, history);
    assert.equal(ok, byForce(register, history, register.initial), `seed ${seed}`);
    verdicts.add(ok);
  }
  assert.equal(verdicts.size, 2, 'both verdicts occurred');
});

function byForce<S, I, O>(model: Sequential<S, I, O>, left: readonly Invocation<I, O>[], state: S): boolean {
  if (left.every(({ returned }) => returned === undefined)) return true;
  return left.some((each) => {
    const mayBeNext = left.every(({ returned }) => returned === undefined || returned >= each.called);
    const next = mayBeNext ? model.step(state, each.input, each.output) : undefined;
    return (
      next !== undefined &&
      byForce(
        model,
        left.filter((other) => other !== each),
        next,
      )
    );
  });
}
