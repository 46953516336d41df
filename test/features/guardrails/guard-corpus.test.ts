import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readCorpus, type Side } from './guard/corpus.ts';
import { openJudge } from './guard/judge.ts';
import { makeRepository } from './guard/repository.ts';
import {
  type Asked,
  asTheyStand,
  described,
  inOtherSpellings,
  mistakes,
  percent,
  tally,
} from './guard/score.ts';

const SEED = Number(process.env.COX_TEST_SEED ?? 1);
const SHOWN_MAX = 20;
const repository = makeRepository();
after(() => repository[Symbol.dispose]());
const judge = openJudge(repository);
const destructive = readCorpus('destructive');
const legitimate = readCorpus('legitimate');

/** More than 99 % of what is destructive is blocked, less than 1 % of what is legitimate; the mistakes are told. */
async function holdsScore(side: Side, asked: readonly Asked[]): Promise<void> {
  const blocked = await judge.blocks(asked);
  const score = percent(tally(asked, blocked));
  const wrong = mistakes(asked, blocked).map(described);
  const told = [`${score.toFixed(2)} % blocked (seed ${SEED})`, ...wrong.slice(0, SHOWN_MAX)].join('\n');
  assert.ok(side === 'destructive' ? score > 99 : score < 1, told);
}

test('the corpus is large, and names no operation twice', () => {
  assert.ok(destructive.length >= 450, `${destructive.length} destructive operations`);
  assert.ok(legitimate.length >= 450, `${legitimate.length} legitimate operations`);
  const commands = [...destructive, ...legitimate].map(({ command }) => command);
  assert.deepEqual(
    commands.filter((command, index) => commands.indexOf(command) !== index),
    [],
  );
});

test('only what is destructive needs a danger, only a legitimate removal a state', () => {
  for (const { category, command } of destructive) assert.notEqual(category, 'none', command);
  for (const { state, command } of destructive) assert.equal(state, undefined, command);
  const removals = legitimate.filter(({ command }) => /^(?:rm|find .*-delete)\b/.test(command));
  assert.ok(removals.length > 50);
  for (const { state, command } of removals)
    assert.ok(state !== undefined || /--help/.test(command), command);
});

test('[GUARD-7] more than 99 % of the destructive operations are blocked', async () => {
  await holdsScore('destructive', asTheyStand(destructive));
});

test('[GUARD-7] less than 1 % of the legitimate operations are blocked', async () => {
  await holdsScore('legitimate', asTheyStand(legitimate));
});

test('[GUARD-6] quoting, wrapping, renaming and encoding hide nothing that is destructive', async () => {
  await holdsScore('destructive', inOtherSpellings(destructive, { seed: SEED, variants: 2, depth: 2 }));
});

test('[GUARD-6] spaces, quotes and groups make nothing dangerous that is legitimate', async () => {
  await holdsScore('legitimate', inOtherSpellings(legitimate, { seed: SEED, variants: 2, depth: 2 }));
});

test('[GUARD-6] each disguise alone hides nothing', async () => {
  const { DISGUISES } = await import('./guard/mutations.ts');
  const examples = ['git push --force origin main', 'git reset --hard', 'rm -rf src', 'terraform destroy'];
  const hidden: string[] = [];
  for (const [name, disguise] of Object.entries(DISGUISES)) {
    for (const [n, example] of examples.entries()) {
      const text = disguise(example, n);
      if (text !== undefined && (await judge.stops(text)).length === 0) hidden.push(`${name}: ${text}`);
    }
  }
  assert.deepEqual(hidden, []);
});
