import type { AndOr, SyntaxNode } from 'unbash';
import { seenIn } from './prints.ts';
import type { Flow } from './reading.ts';
import type { SimpleCommand } from './shell-command.ts';
import { mayFail, nameOf } from './word-parts.ts';
import { distinct, type World, type Worlds } from './world.ts';

/** The walk through the commands inside. */
export interface Walk {
  node(node: SyntaxNode, worlds: Worlds, flow: Flow): Worlds;
  unknown(what: string): void;
  /** The commands found so far. */
  readonly commands: readonly SimpleCommand[];
}

/** Continues for the worlds that have not met an `exit`. */
export function live(worlds: Worlds, run: (those: Worlds) => Worlds): Worlds {
  const those = worlds.filter(({ ended }) => ended === undefined);
  if (those.length === 0) return worlds;
  if (those.length === worlds.length) return distinct(run(worlds));
  return distinct([...run(those), ...worlds.filter(({ ended }) => ended !== undefined)]);
}

/**
 * What runs only in some cases. The same holds for a subshell: an `exit` there skips the rest of the
 * subshell, and no more.
 */
export function perhaps(node: SyntaxNode, worlds: Worlds, flow: Flow, walk: Walk): Worlds {
  const own: Flow = { ...flow, inSomeCases: true };
  const after = walk.node(node, worlds, own);
  flow.printed = own.printed;
  return after;
}

/**
 * `cd` is assumed to succeed if something follows it with `&&`, and to have failed if something follows with
 * `||`. After most other commands both are possible.
 */
export function andOr({ commands, operators }: AndOr, worlds: Worlds, flow: Flow, walk: Walk): Worlds {
  let before = worlds;
  let now = worlds;
  let { afterSuccessOf } = flow;
  /** The worlds in which a command has failed, so that what follows with `&&` is skipped. */
  let skipped: World[] = [];
  const run = (command: SyntaxNode, those: Worlds, inSomeCases: boolean): Worlds => {
    const own: Flow = { ...flow, inSomeCases, afterSuccessOf };
    const start = walk.commands.length;
    const left = walk.node(command, those, own);
    flow.printed = own.printed;
    afterSuccessOf = afterSuccessOf?.concat(itself(command, walk.commands.slice(start), flow));
    return left;
  };
  commands.forEach((command, index) => {
    const previous = commands[index - 1];
    if (operators[index - 1] === '||') {
      const failed = previous !== undefined && nameOf(previous) === 'cd' ? before : now;
      const start = distinct([...failed, ...skipped]);
      skipped = [];
      before = now;
      afterSuccessOf = flow.afterSuccessOf;
      now = distinct([...now, ...live(start, (those) => run(command, those, true))]);
      // What follows with `&&` may also run because this was not needed.
      afterSuccessOf = flow.afterSuccessOf;
      now = now.some(({ ended }) => ended === undefined)
        ? now.filter(({ ended }) => ended === undefined)
        : now;
      return;
    }
    if (previous !== undefined && mayFail(previous)) skipped.push(...now);
    before = now;
    const isFirst = index === 0;
    now = live(now, (those) => run(command, those, !isFirst || flow.inSomeCases === true));
  });
  return distinct([...now, ...skipped]);
}

/**
 * The single program that a node consists of, if its success is the node's: no function, no wrapper, no
 * group, and in one world.
 */
function itself(node: SyntaxNode, found: readonly SimpleCommand[], { through }: Flow): SimpleCommand[] {
  return node.type === 'Command' && found.length === 1
    ? found.filter((command) => command.through === through)
    : [];
}

const FILTER = /^(?:cat|head|tail|grep|tee|wc|sort|uniq|tr|cut|less|more)$/;

/** All run at the same time, each in its own shell. */
export function pipeline(commands: readonly SyntaxNode[], worlds: Worlds, flow: Flow, walk: Walk): Worlds {
  const [only, ...others] = commands;
  if (only !== undefined && others.length === 0) return walk.node(only, worlds, flow);
  let { input, from } = flow;
  const start = walk.commands.length;
  // A filter that only shows the output of the first (`| tail -3`) does nothing else.
  const isShown = others.every((node) => FILTER.test(nameOf(node) ?? ''));
  const afterSuccessOf = isShown ? flow.afterSuccessOf : undefined;
  commands.forEach((command, index) => {
    const last = index === commands.length - 1;
    const own: Flow = { ...flow, input, from, afterSuccessOf, printed: last ? flow.printed : [] };
    walk.node(command, worlds, own);
    if (last) flow.printed = own.printed;
    input = seenIn(own.printed);
    from = walk.commands.slice(start);
  });
  return worlds;
}

/** Every path through. */
export function branches(
  node: Extract<SyntaxNode, { type: 'If' | 'Case' }>,
  worlds: Worlds,
  flow: Flow,
  walk: Walk,
): Worlds {
  const after: World[] = [];
  let rest = worlds;
  if (node.type === 'Case') {
    for (const { body } of node.items) after.push(...perhaps(body, worlds, flow, walk));
    const always = node.items.some(({ pattern }) => pattern.some(({ value }) => value === '*'));
    return distinct(always ? after : [...after, ...worlds]);
  }
  for (const part of [node, ...node.elif]) {
    const { clause, then } = part;
    rest = part === node ? walk.node(clause, rest, flow) : perhaps(clause, rest, flow, walk);
    after.push(...live(rest, (those) => perhaps(then, those, flow, walk)));
  }
  const others = node.else === undefined ? rest : perhaps(node.else, rest, flow, walk);
  return distinct([...after, ...others]);
}
