import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readCorpus, type Side } from './guard/corpus.ts';
import { openJudge } from './guard/judge.ts';
import { makeRepository } from './guard/repository.ts';
import { described, inOtherSpellings, mistakes, percent, tally } from './guard/score.ts';

/** Another each time: the seed of a failure is told, and `COX_TEST_SEED` repeats it. */
const SEED = Number(process.env.COX_TEST_SEED ?? Math.floor(Math.random() * 1e9));
const MUTATING = { seed: SEED, variants: 20, depth: 4 };
const repository = makeRepository();
after(() => repository[Symbol.dispose]());
const judge = openJudge(repository);

async function scoreOf(side: Side): Promise<{ score: number; told: string }> {
  const asked = inOtherSpellings(readCorpus(side), MUTATING);
  const blocked = await judge.blocks(asked);
  const score = percent(tally(asked, blocked));
  const wrong = mistakes(asked, blocked).slice(0, 30).map(described);
  return { score, told: [`COX_TEST_SEED=${SEED}: ${score.toFixed(2)} % blocked`, ...wrong].join('\n') };
}

test('[GUARD-6] up to four disguises upon each other hide nothing that is destructive', async () => {
  const { score, told } = await scoreOf('destructive');
  assert.ok(score > 99, told);
});

test('[GUARD-6] up to four harmless changes make nothing dangerous that is legitimate', async () => {
  const { score, told } = await scoreOf('legitimate');
  assert.ok(score < 1, told);
});
