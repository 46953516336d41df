import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArtefactRecord } from '../../../src/features/board/artefact.ts';
import { configureBoard } from '../../../src/features/board/commands.ts';
import { contextOf, latestOf } from '../../../src/features/board/context.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { type Fact, folded } from '../../support/decider-spec.ts';
import { bidder, happened, lookingInto, publish, settings } from './board-facts.ts';

/** Ids of what an agent is given besides the artefact itself, in order. */
async function context(facts: readonly Fact[], id: string, additional: string[] = []) {
  const target = folded(facts).get(`artefact/${id}`) as unknown as ArtefactRecord;
  const { artefacts, truncated } = await contextOf(target, additional, lookingInto(facts));
  return { ids: artefacts.map((each) => each.id), truncated };
}

test('[PHASE-6] context is what led to an artefact: breadth first over its sources, each once, never itself', async () => {
  const facts = happened(
    [],
    publish('root'),
    publish('left', { from: ['root'] }),
    publish('right', { from: ['root'] }),
    publish('far', { from: ['left'] }),
    publish('work', { from: ['right', 'far'] }),
  );
  assert.deepEqual(await context(facts, 'work'), { ids: ['right', 'far', 'root', 'left'], truncated: false });
  assert.deepEqual(await context(facts, 'root'), { ids: [], truncated: false });
});

test('[PHASE-6] what was said about it comes first', async () => {
  const facts = happened(
    [],
    publish('root'),
    publish('work', { from: ['root'] }),
    publish('review', { structural_type: 'Review', from: ['work'] }),
  );
  assert.deepEqual((await context(facts, 'work', ['review'])).ids, ['review', 'root']);
});

test('[PHASE-6] results, answers and reviews are context; mishaps, questions and ends are only walked through', async () => {
  const kinds = ['Standard', 'Review', 'Question', 'Answer', 'Failure', 'Terminal'] as const;
  const facts = happened(
    [],
    publish('root'),
    ...kinds.map((structural_type) => publish(structural_type, { structural_type, from: ['root'] })),
    publish('work', { from: [...kinds] }),
  );
  assert.deepEqual((await context(facts, 'work')).ids, ['Standard', 'Review', 'Answer', 'root']);
  const behind = happened(
    [],
    publish('root'),
    publish('asked', { structural_type: 'Question', from: ['root'] }),
    publish('work', { from: ['asked'] }),
  );
  assert.deepEqual((await context(behind, 'work')).ids, ['root']);
});

test('[PHASE-6] of each thing its latest version, once, whichever version was named', async () => {
  const facts = happened(
    [],
    publish('spec'),
    publish('news'),
    publish('spec 2', { logical_id: 'spec', from: ['news'] }),
    publish('spec 3', { logical_id: 'spec', from: ['spec 2'] }),
    publish('work', { from: ['spec', 'spec 2'] }),
  );
  assert.deepEqual((await context(facts, 'work')).ids, ['spec 3', 'news']);
  const newest = await latestOf(['spec'], lookingInto(facts));
  assert.deepEqual(
    newest.map(({ id }) => id),
    ['spec 3'],
  );
});

test('[PHASE-6] a reworked thing still has what its first version was made from', async () => {
  const facts = happened(
    [],
    publish('goal'),
    publish('draft', { from: ['goal'] }),
    publish('review', { structural_type: 'Review', from: ['draft'] }),
    publish('draft 2', { logical_id: 'draft', from: ['draft', 'review'] }),
    publish('review 2', { structural_type: 'Review', from: ['draft 2'] }),
    publish('draft 3', { logical_id: 'draft', from: ['draft 2', 'review 2'] }),
  );
  assert.deepEqual((await context(facts, 'draft 2')).ids, ['review', 'goal']);
  assert.deepEqual((await context(facts, 'draft 3')).ids, ['review 2', 'review', 'goal']);
  const next = happened(facts, publish('use', { from: ['draft'] }));
  assert.deepEqual((await context(next, 'use')).ids, ['draft 3', 'review 2', 'goal', 'review']);
});

test('[PHASE-6] however many rounds there were, the goal is never out of reach', async () => {
  const versions = Array.from({ length: limits.context_depth + 4 }, (_, n) =>
    publish(`draft ${n + 2}`, { logical_id: 'draft', from: [n === 0 ? 'draft' : `draft ${n + 1}`] }),
  );
  const facts = happened([], publish('goal'), publish('draft', { from: ['goal'] }), ...versions);
  assert.deepEqual((await context(facts, `draft ${limits.context_depth + 5}`)).ids, ['goal']);
});

test('[PHASE-6] ten steps back and no further, and it is said that there is more', async () => {
  const chain = Array.from({ length: limits.context_depth + 2 }, (_, n) =>
    publish(`a${n}`, n === 0 ? {} : { from: [`a${n - 1}`] }),
  );
  const facts = happened([], ...chain);
  const last = limits.context_depth + 1;
  const found = await context(facts, `a${last}`);
  assert.deepEqual(
    found.ids,
    Array.from({ length: limits.context_depth }, (_, n) => `a${last - 1 - n}`),
  );
  assert.deepEqual([found.ids.length, found.truncated], [10, true]);
  assert.equal((await context(facts, `a${last - 1}`)).truncated, false);
});

test('[PHASE-6] no more than fits, the nearest first', async () => {
  const many = Array.from({ length: limits.context_artefacts_max + 30 }, (_, n) => `n${n}`);
  const half = limits.artefact_sources_max;
  const hubs = Array.from({ length: Math.ceil(many.length / half) }, (_, n) =>
    many.slice(n * half, (n + 1) * half),
  );
  const facts = happened(
    [],
    configureBoard(settings(), [bidder('idle', 'ignore')]),
    ...many.map((id) => publish(id)),
    ...hubs.map((from, n) => publish(`hub${n}`, { from })),
    publish('work', { from: hubs.map((_, n) => `hub${n}`) }),
  );
  const { ids, truncated } = await context(facts, 'work');
  assert.equal(ids.length, limits.context_artefacts_max);
  assert.deepEqual(
    ids.slice(0, hubs.length),
    hubs.map((_, n) => `hub${n}`),
  );
  assert.equal(truncated, true);
});
