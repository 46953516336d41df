import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProject } from './files.ts';
import * as rules from './rules.ts';

const project = readProject();
const long = (lines: number): string => 'x;\n'.repeat(lines);

/** Each rule with something it must find: a rule that can't fail keeps nothing tidy. */
const cases: [name: string, rule: rules.Rule, path: string, planted: string][] = [
  ['files stay short', rules.fileLength, 'src/a.ts', long(401)],
  ['test files stay short', rules.fileLength, 'test/a.ts', long(501)],
  ['functions stay short', rules.functionLength, 'src/a.ts', `function f() {\n${long(70)}}`],
  ['arrow functions stay short', rules.functionLength, 'test/a.ts', `const f = () => {\n${long(70)}};`],
  ['the clock is kernel business', rules.bannedCalls, 'src/features/a.ts', 'const now = Date.now();'],
  ['also when it is handed over', rules.bannedCalls, 'src/features/a.ts', 'const clock = Date.now;'],
  ['also as a date', rules.bannedCalls, 'src/stores/a.ts', 'const now = new Date();'],
  ['randomness is kernel business', rules.bannedCalls, 'src/a.ts', 'globalThis.Math.random();'],
  ['ids are kernel business', rules.bannedCalls, 'src/a.ts', 'crypto.randomUUID();'],
  ['tests do not sleep', rules.fixedSleeps, 'test/a.test.ts', 'await new Promise((r) => setTimeout(r, 5));'],
  ['no test is left out', rules.mutedTests, 'test/a.test.ts', "test.skip('x', () => {});"],
  ['nor by option', rules.mutedTests, 'test/a.test.ts', "test('x', { todo: true }, () => {});"],
  ['nothing is any', rules.noAny, 'src/a.ts', 'const x = y as any;'],
  ['the compiler is not silenced', rules.noTypeEscapes, 'src/a.ts', `// ${'@ts'}-ignore`],
  ['no path of a machine', rules.machinePaths, 'docs/a.md', `see ${['', 'home', 'me', 'x'].join('/')}`],
  ['nor of a workplace', rules.machinePaths, 'docs/a.md', `see ${['', 'work', 'claim', 'x'].join('/')}`],
  ['not even at its top', rules.machinePaths, 'docs/a.md', `see ${['', 'work', 'main'].join('/')}`],
  ['a comment names its subject', rules.namedSubjects, 'src/a.ts', '// Whoever waits is told.\nx();'],
  [
    'also the one of a field',
    rules.namedSubjects,
    'src/a.ts',
    "interface A {\n  /** Nobody's. */\n  b: 1;\n}",
  ],
  ['no registry host', rules.registryHosts, 'package-lock.json', '"resolved": "https://example.org/x.tgz"'],
];

for (const [name, rule, path, planted] of cases) {
  test(`tidy: ${name}`, () => {
    assert.equal(rule({ path, text: planted }).length, 1, 'the rule no longer finds what it is for');
    assert.deepEqual(project.flatMap(rule), []);
  });
}

test('tidy: what is legitimate is left alone', () => {
  const fine: [rules.Rule, string, string][] = [
    [rules.bannedCalls, 'src/kernel/clock.ts', 'Date.now();'],
    [rules.bannedCalls, 'src/a.ts', 'new Date(now_ms); clock.now(); // Date.now()'],
    [rules.machinePaths, 'src/a.ts', "route('/work/claim'); fetch(base + '/work/submit');"],
    [
      rules.functionLength,
      'test/a.ts',
      `describe('x', () => {\n${`test('y', () => {\n${long(40)}});\n`.repeat(3)}});`,
    ],
    [rules.mutedTests, 'test/a.ts', "test('x', { timeout: 5 }, () => {});"],
    [rules.noAny, 'src/a.ts', 'const many = 1; // any'],
    [rules.noAny, 'src/a.ts', '// biome-ignore lint/suspicious/noExplicitAny: erased\nlet x: List<any>;'],
  ];
  for (const [rule, path, text] of fine) assert.deepEqual(rule({ path, text }), []);
  assert.ok(project.some(({ path }) => path === 'package.json'));
});
