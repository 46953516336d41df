import { forEachChild, type ParsedScript, type SyntaxNode } from 'unbash';
import { ANY_NAME } from './parameters.ts';
import type { Word } from './word.ts';
import { nameOf } from './word-parts.ts';

/** Variables that arithmetic may change: from here on they are some number. */
export function countersIn(node: SyntaxNode): Map<string, readonly Word[]> {
  const counters = new Map<string, readonly Word[]>();
  const look = (child: SyntaxNode): void => {
    if (child.type === 'CompoundList') return;
    if (child.type === 'ArithmeticWord' && /^[A-Za-z_]\w*$/.test(child.value))
      counters.set(child.value, [ANY_NAME]);
    forEachChild(child, look);
  };
  forEachChild(node, look);
  return counters;
}

/** The substitutions below a node, without nested ones. */
export function substitutionsIn(node: SyntaxNode): ParsedScript[] {
  const found: ParsedScript[] = [];
  const look = (child: SyntaxNode): void => {
    if (child.type === 'CompoundList') return;
    const nested = 'script' in child ? child.script : undefined;
    if (nested !== undefined) found.push(nested);
    else forEachChild(child, look);
  };
  forEachChild(node, look);
  return found;
}

/** `f() { f | f & }`: each call becomes two until the machine is full. */
export function startsItselfTwice(body: SyntaxNode, name: string): boolean {
  let found = false;
  const look = (node: SyntaxNode): void => {
    const calls = node.type === 'Pipeline' ? node.commands.filter((command) => nameOf(command) === name) : [];
    if (calls.length > 1) found = true;
    else if (!found) forEachChild(node, look);
  };
  look(body);
  return found;
}
