import type { AndOr, SyntaxNode, While } from 'unbash';
import { isCondition, nameOf } from './parts.ts';
import type { Flow } from './reading.ts';
import { distinct, revive, type World, type Worlds } from './world.ts';

/** More rounds of a loop show nothing new. */
export const ROUNDS_MAX = 64;

/** Whoever goes through the commands inside. */
export interface Walk {
  node(node: SyntaxNode, worlds: Worlds, flow: Flow): Worlds;
  unknown(what: string): void;
}

/** Runs on for those that have not met an `exit`. */
export function live(worlds: Worlds, run: (those: Worlds) => Worlds): Worlds {
  const those = worlds.filter(({ ended }) => ended === undefined);
  if (those.length === 0) return worlds;
  if (those.length === worlds.length) return distinct(run(worlds));
  return distinct([...run(those), ...worlds.filter(({ ended }) => ended !== undefined)]);
}

/**
 * `cd` is taken to succeed where something follows it with `&&`, and to have failed where something follows with `||`. After
 * any other command both may be: only a condition is expected to fail.
 */
export function andOr({ commands, operators }: AndOr, worlds: Worlds, flow: Flow, walk: Walk): Worlds {
  let before = worlds;
  let now = worlds;
  const skipped: World[] = [];
  commands.forEach((command, index) => {
    const previous = commands[index - 1];
    if (operators[index - 1] === '||') {
      const start = previous !== undefined && nameOf(previous) === 'cd' ? before : now;
      before = now;
      now = distinct([...now, ...live(start, (those) => walk.node(command, those, flow))]);
      now = now.some(({ ended }) => ended === undefined)
        ? now.filter(({ ended }) => ended === undefined)
        : now;
      return;
    }
    if (previous !== undefined && isCondition(previous)) skipped.push(...now);
    before = now;
    now = live(now, (those) => walk.node(command, those, flow));
  });
  return distinct([...now, ...skipped]);
}

/** Every way through. */
export function branches(
  node: Extract<SyntaxNode, { type: 'If' | 'Case' }>,
  worlds: Worlds,
  flow: Flow,
  walk: Walk,
): Worlds {
  const after: World[] = [];
  let rest = worlds;
  if (node.type === 'Case') {
    for (const { body } of node.items) after.push(...walk.node(body, worlds, flow));
    const always = node.items.some(({ pattern }) => pattern.some(({ value }) => value === '*'));
    return distinct(always ? after : [...after, ...worlds]);
  }
  for (const { clause, then } of [node, ...node.elif]) {
    rest = walk.node(clause, rest, flow);
    after.push(...live(rest, (those) => walk.node(then, those, flow)));
  }
  const others = node.else === undefined ? rest : walk.node(node.else, rest, flow);
  return distinct([...after, ...others]);
}

export function whileLoop(node: While, worlds: Worlds, flow: Flow, walk: Walk): Worlds {
  const [first] = node.clause.commands;
  const reads =
    node.clause.commands.length === 1 && first?.command.type === 'Command' ? first.command : undefined;
  const lines = reads?.name?.value === 'read' && node.kind === 'while' ? flow.input : undefined;
  if (lines !== undefined && lines.length > ROUNDS_MAX) walk.unknown('a loop of many rounds');
  let now = worlds;
  // Of a loop that nobody can count, a second round: it sees what the first has changed.
  for (const line of lines?.slice(0, ROUNDS_MAX) ?? [undefined, undefined]) {
    const own: Flow = { ...flow, input: line === undefined ? flow.input : [line] };
    const before = now;
    now = live(now, (those) => walk.node(node.body, walk.node(node.clause, those, own), own));
    if (line === undefined && distinct([...before, ...now]).length === before.length) break;
  }
  if (lines === undefined) flow.printed = undefined;
  return revive(distinct([...worlds, ...now]), 'loop');
}
