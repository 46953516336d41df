// `npm run guard:score -- [--misses] [--categories] [--json] [--seed N] [--variants N] [--depth N] [--no-peer]`
// How much of what is destructive is blocked, and how much of what is legitimate, by our guardrails and by cc-safety-net, on the
// same commands in the same repository.
import { parseArgs } from 'node:util';
import { readCorpus } from './guard/corpus.ts';
import { type Judge, openJudge } from './guard/judge.ts';
import { findPeer, type Peer } from './guard/peer.ts';
import { makeRepository } from './guard/repository.ts';
import { type Asked, asTheyStand, described, inOtherSpellings, mistakes } from './guard/score.ts';
import { type Column, rowsOf, SIDES, table } from './guard/score-table.ts';

const { values } = parseArgs({
  options: {
    misses: { type: 'boolean', default: false },
    categories: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    'no-peer': { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    variants: { type: 'string', default: '3' },
    depth: { type: 'string', default: '2' },
  },
});

/** So many commands go through the peer's real hook too: its library must have answered the same. */
const HOOK_SAMPLE = 25;

function peerColumns(peer: Peer, plain: readonly Asked[], varied: readonly Asked[]): Column[] {
  const texts = (asked: readonly Asked[]): string[] => asked.map(({ command }) => command);
  return [
    { name: 'peer', asked: plain, blocked: peer.denies(texts(plain), 'standard') },
    { name: 'peer, mutated', asked: varied, blocked: peer.denies(texts(varied), 'standard') },
    { name: 'peer, paranoid', asked: plain, blocked: peer.denies(texts(plain), 'paranoid') },
  ];
}

function hookAgrees(peer: Peer, { asked, blocked }: Column): number {
  const step = Math.max(1, Math.floor(asked.length / HOOK_SAMPLE));
  const sample = asked.flatMap(({ command }, index) =>
    index % step === 0 ? [{ command, answer: blocked[index] }] : [],
  );
  return (
    (100 * sample.filter(({ command, answer }) => peer.hookDenies(command) === answer).length) / sample.length
  );
}

function aboutPeer(peer: Peer, asked: Column): string {
  const agreed = hookAgrees(peer, asked).toFixed(0);
  return [
    `peer: ${peer.name} at its standard level; its Claude Code hook answered as its library did for ${agreed} % of ${HOOK_SAMPLE}`,
    '* not claimed by the peer: it is about git, files and secrets (cloud tools are rulebooks one adds; rm -rf inside the working',
    '  folder passes by design below its paranoid level)',
  ].join('\n');
}

/** A block for another reason than the label's is a block; the profile may judge it differently. */
async function tellCategories(judge: Judge, plain: readonly Asked[]): Promise<void> {
  const destructive = plain.filter(({ side }) => side === 'destructive');
  const named = await judge.otherwiseNamed(destructive);
  console.log(`${named.length} of ${destructive.length} are stopped under another category than their label`);
  if (!values.categories) return;
  for (const { command, category, how } of named)
    console.log(`  ${category} → ${how.join(', ')}: ${JSON.stringify(command)}`);
}

async function main(): Promise<void> {
  using repository = makeRepository();
  const [seed, variants, depth] = [Number(values.seed), Number(values.variants), Number(values.depth)];
  const operations = SIDES.flatMap((side) => readCorpus(side));
  const plain = asTheyStand(operations);
  const varied = inOtherSpellings(operations, { seed, variants, depth });
  const judge = openJudge(repository);
  const ours: Column[] = [
    { name: 'ours', asked: plain, blocked: await judge.blocks(plain) },
    { name: 'ours, mutated', asked: varied, blocked: await judge.blocks(varied) },
  ];
  const misses = ours.flatMap(({ asked, blocked }) => mistakes(asked, blocked));
  const peer = values['no-peer'] ? undefined : findPeer(repository);
  const theirs = peer === undefined ? [] : peerColumns(peer, plain, varied);
  const rows = rowsOf([...ours, ...theirs]);
  if (values.json) {
    console.log(JSON.stringify({ peer: peer?.name, seed, variants, depth, rows, misses }, undefined, 2));
    return;
  }
  console.log(table(rows, [...ours, ...theirs]));
  console.log(`mutated: ${variants} variants of each, up to ${depth} deep, seed ${seed}`);
  if (peer !== undefined && theirs[0] !== undefined) console.log(aboutPeer(peer, theirs[0]));
  else console.log(values['no-peer'] ? 'peer: not asked' : 'peer: not installed (npm ci in bench)');
  console.log(`${misses.length} mistakes of ours${values.misses ? ':' : ' (--misses lists them)'}`);
  if (values.misses) for (const miss of misses) console.log(`  ${described(miss)}`);
  await tellCategories(judge, plain);
}

await main();
