import assert from 'node:assert/strict';
import { test } from 'node:test';
import ts from 'typescript';
import { withLazyConstants } from '../../../scripts/lazy-constants.ts';

/** What the changed source exports, and what was made on the way to it. */
function evaluated(source: string): { exports: Record<string, () => unknown>; made: string[] } {
  const { ES2023, CommonJS } = { ...ts.ScriptTarget, ...ts.ModuleKind };
  const compilerOptions = { target: ES2023, module: CommonJS };
  const { outputText } = ts.transpileModule(withLazyConstants(source), { compilerOptions });
  const exports = {};
  const made: string[] = [];
  new Function('exports', 'making', outputText)(exports, (name: string) => {
    made.push(name);
    return name;
  });
  return { exports, made };
}

const SOURCE = `
declare function making(name: string): string;
const TABLE = { first: [making('table')], second: ['a text that is long enough', 'another one'] } as const satisfies Record<string, readonly string[]>;
const OTHER = [making('other'), ...TABLE.second, 'so that this one is long enough as well'];
const EXPRESSION: RegExp = /a very long expression (?:that is|which is) hardly ever (?:looked|asked) for/g;
const SHORT = [making('short')];
export const SHOWN = { of: [making('shown'), 'what others import is left as it is, however long it may be'] };
type Name = keyof typeof TABLE;
export const texts = (name: Name = 'first') => TABLE[name];
export const others = () => ({ TABLE: OTHER.length, SHORT });
export const matches = (text: string) => [EXPRESSION.test(text), EXPRESSION.lastIndex];
`;

test('[HOOK-1] tables and expressions of the bundle are made by the first who asks for them, and once', () => {
  const { exports, made } = evaluated(SOURCE);
  assert.deepEqual(made, ['short', 'shown']);
  assert.deepEqual(exports.texts?.(), ['table']);
  assert.deepEqual(exports.others?.(), { TABLE: 4, SHORT: ['short'] });
  assert.equal(exports.texts?.(), exports.texts?.());
  assert.deepEqual(made, ['short', 'shown', 'table', 'other']);
  const matches = exports.matches as (text: string) => unknown;
  const text = 'a very long expression that is hardly ever asked for';
  assert.deepEqual(
    [matches(text), matches(text)],
    [
      [true, text.length],
      [false, 0],
    ],
  );
});

test('[HOOK-1] what can not be made so fails the build', () => {
  const table = "const TABLE = ['a text that is long enough', 'another one', 'and one more of them'];";
  for (const use of [
    'export { TABLE };',
    'export const f = (TABLE: string) => TABLE;',
    'export const g = { TABLE };',
  ])
    assert.throws(() => withLazyConstants(`${table}\n${use}`), /TABLE/, use);
  assert.equal(withLazyConstants('export const a = 1;'), 'export const a = 1;');
});
