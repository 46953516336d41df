import type { For, Select, While } from 'unbash';
import { live, perhaps, type Walk } from './control.ts';
import { UNSEEN } from './prints.ts';
import type { Flow } from './reading.ts';
import { isKnown, type Lines, type Word } from './word.ts';
import { assign, distinct, revive, type World, type Worlds } from './world.ts';

/** More rounds of a loop show nothing new. */
const ROUNDS_MAX = 64;

/** It stands for one round: a pattern may be many, and an unknown or unsure word may be none. */
const isOneRound = (word: Word): boolean => isKnown(word) && !word.glob && word.unsure !== true;

/** There may be rounds that were not followed, and they print too. */
function printsMore(flow: Flow): void {
  flow.printed = flow.printed?.concat(UNSEEN);
}

function tooMany(flow: Flow, walk: Walk): void {
  walk.unknown('a loop of many rounds');
  printsMore(flow);
}

/** `continue` and `break` end a round; whether another round follows is not tracked. */
function goesOn(worlds: Worlds): Worlds {
  return worlds.map((each) => (each.ended === 'loop' ? { ...each, ended: undefined } : each));
}

/** Has a round left everything unchanged? Then one more shows nothing new. */
function isSettled(before: Worlds, after: Worlds): boolean {
  return distinct([...before, ...after]).length === before.length;
}

export function forLoop(
  { type, name, body }: For | Select,
  words: readonly Word[],
  world: World,
  flow: Flow,
  walk: Walk,
): Worlds {
  let now: Worlds = [world];
  // For `select`, a person chooses how often, and which.
  let counted = type === 'For';
  for (const word of words.slice(0, ROUNDS_MAX)) {
    const set = now.map((each) => assign(each, [[name.value, [word]]]));
    now = goesOn(live(set, (those) => perhaps(body, those, flow, walk)));
    if (!isOneRound(word) && !isSettled(set, now)) counted = false;
  }
  if (!counted) printsMore(flow);
  if (words.length > ROUNDS_MAX) tooMany(flow, walk);
  return distinct(now);
}

/** A loop with an unknown number of rounds. The second round sees what the first has changed. */
export function uncountedLoop(
  worlds: Worlds,
  flow: Flow,
  round: (worlds: Worlds, own: Flow) => Worlds,
): Worlds {
  let now = worlds;
  for (let rounds = 0; rounds < 2; rounds += 1) {
    const own: Flow = { ...flow, inSomeCases: true };
    const before = now;
    now = live(now, (those) => round(those, own));
    flow.printed = own.printed;
    if (isSettled(before, now)) break;
  }
  printsMore(flow);
  return revive(distinct([...worlds, ...now]), 'loop');
}

export function whileLoop(node: While, worlds: Worlds, flow: Flow, walk: Walk): Worlds {
  const lines = linesGoneThrough(node, flow);
  const round = (those: Worlds, own: Flow): Worlds =>
    walk.node(node.body, walk.node(node.clause, those, own), own);
  if (lines === undefined) return uncountedLoop(worlds, flow, round);
  let now = worlds;
  let counted = true;
  for (const line of lines.slice(0, ROUNDS_MAX)) {
    const own: Flow = { ...flow, input: [line], inSomeCases: true };
    const before = now;
    now = live(now, (those) => round(those, own));
    flow.printed = own.printed;
    if (!isOneRound(line) && !isSettled(before, now)) counted = false;
  }
  if (!counted) printsMore(flow);
  if (lines.length > ROUNDS_MAX) tooMany(flow, walk);
  return revive(distinct([...worlds, ...now]), 'loop');
}

/** `while read x`: a round for each line, if the lines are known. */
function linesGoneThrough({ kind, clause }: While, flow: Flow): Lines | undefined {
  const [only, ...others] = clause.commands;
  if (kind !== 'while' || others.length > 0 || only?.command.type !== 'Command') return undefined;
  return only.command.name?.value === 'read' ? flow.input : undefined;
}
