import type { Assignment, Redirection, SyntaxNode } from 'unbash';
import { expandText, expandValue, expandWord, type Shell } from './expand.ts';
import { isKnown, type Lines, literal, unknownWord, type Word } from './word.ts';
import { assign, type World } from './world.ts';

/** The world after `a=1 b=$a`: each sees those before it. */
export function assigned(
  assignments: readonly Assignment[],
  world: World,
  shellIn: (world: World) => Shell,
): World {
  let now = world;
  for (const { name, value, append, index } of assignments) {
    const shell = shellIn(now);
    const list = value.type !== 'Word';
    const words = list
      ? value.elements.flatMap((word) => expandWord(word, shell))
      : [expandValue(value, shell)];
    const old = now.variables.get(name) ?? [];
    let result: readonly Word[] = words;
    if (index !== undefined) result = [unknownWord(`$${name}`)];
    else if (append === true) result = list ? [...old, ...words] : [joined(old[0] ?? literal(''), words[0])];
    now = assign(now, [[name, result]]);
  }
  return now;
}

function joined(start: Word, end: Word | undefined): Word {
  if (!isKnown(start) || end === undefined) return start;
  return isKnown(end) ? { text: start.text + end.text, glob: start.glob || end.glob } : end;
}

/** The files a command's output goes to, and what it reads in place of `input`. */
export function redirected(
  redirects: readonly Redirection[],
  input: Lines | undefined,
  shell: Shell,
): { readonly outputs: readonly Word[]; readonly input: Lines | undefined } {
  const outputs: Word[] = [];
  let reads = input;
  for (const redirect of redirects) {
    if (redirect.type === 'HereDoc') {
      const { body, operator } = redirect;
      const text = body.parts === undefined ? body.text : expandText(body.parts, shell);
      reads = linesOf(operator === '<<-' ? text.replace(/^\t+/gm, '') : text);
    } else if (redirect.target === undefined) continue;
    else if (redirect.type === 'HereString') {
      const value = expandValue(redirect.target, shell);
      reads = isKnown(value) ? linesOf(value.text) : undefined;
    } else if (redirect.operator === '<') {
      expandWord(redirect.target, shell);
      reads = undefined;
    } else {
      const words = expandWord(redirect.target, shell);
      const target = words.length === 1 ? words[0] : unknownWord(redirect.target.text);
      // `2>&1`, `<&3`, `>&-`
      const duplicates =
        redirect.operator === '<&' || (redirect.operator === '>&' && /^\d*-?$/.test(target?.text ?? ''));
      if (target !== undefined && (!duplicates || !isKnown(target))) outputs.push(target);
    }
  }
  return { outputs, input: reads };
}

function linesOf(text: string): Lines {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map(literal);
}

export function nameOf(node: SyntaxNode): string | undefined {
  return node.type === 'Command' ? node.name?.value : undefined;
}

/** What is asked in order to be answered no at times. */
export function isCondition(node: SyntaxNode): boolean {
  if (node.type === 'TestCommand' || node.type === 'ArithmeticCommand') return true;
  if (node.type === 'Pipeline') return node.prefixes.length > 0 || node.commands.some(isCondition);
  return /^(?:\[|test|grep|command|which|type|read|diff|cmp)$/.test(nameOf(node) ?? '');
}
