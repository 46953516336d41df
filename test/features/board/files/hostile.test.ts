import assert from 'node:assert/strict';
import { test } from 'node:test';
import { board, parse, problems } from './support.ts';

test('what is no map of maps is said, without a stumble', () => {
  for (const [text, expected] of [
    ['', /^1 agents: expected at least one agent$/],
    ['# nothing\n', /^1 agents: expected at least one agent$/],
    ['agents: {}', /^1 agents: expected at least one agent$/],
    ['agents:', /^1 agents: expected at least one agent$/],
    ['[]', /^1 file: expected a map of names and values$/],
    ['text', /^1 file: expected a map of names and values$/],
    ['agents: []', /^1 agents: expected a map of names and values$/],
    ['agents: text', /^1 agents: expected a map of names and values$/],
    ['agents: { a: text }', /^1 agents\.a: expected a map of names and values$/],
    ['agents: { a: [] }', /^1 agents\.a: expected a map of names and values$/],
    ['agents: { a: }\norchestrator: 3', /^2 orchestrator: expected a map of names and values$/],
    ['agents: { a: }\nversion: [1]', /^2 version: expected "1\.0"$/],
    ['agents: { a: { worker: 3 } }', /^1 agents\.a\.worker: expected a map of names and values$/],
    ['agents: { a: }\n---\nagents: { b: }', /^2 file: /],
    ['agents: { a: }\nagents: { b: }', /^2 file: /],
    ['agents: { a: { role: x, role: y } }', /^1 file: /],
    ['agents: { a: ', /^\d file: /],
    ['\0', /file/],
  ] as const)
    assert.match(problems(text).join('\n'), expected, JSON.stringify(text));
});

test('bombs and towers end at once', () => {
  const bomb = ['x-a: &a [x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 12; level += 1)
    bomb.push(
      `x-${level}: &${String.fromCharCode(97 + level)} [${`*${String.fromCharCode(96 + level)}, `.repeat(9)}]`,
    );
  assert.deepEqual(problems(`${bomb.join('\n')}\nagents: *l\n`), ['1 file: too many aliases']);
  assert.deepEqual(problems(`agents: ${'['.repeat(100_000)}`), ['1 file: nested too deeply']);
  assert.deepEqual(problems(`agents:\n  a: ${'{x: '.repeat(5000)}`), ['2 file: nested too deeply']);
  assert.match(problems('agents: { a: *nothing }').join(), /Unresolved alias/);
  assert.match(problems('agents: { a: { <<: text } }').join(), /Merge sources must be maps/);
  assert.equal(
    parse('agents: &a { b: { worker: *a } }').ok,
    true,
    'a circle is only as deep as it is looked at',
  );
  assert.match(problems('agents: { a: { command: &c [*c] } }').join(), /^1 agents\.a\.command/);
});

test('names that mean something to JavaScript are names, or refused, and never lost', () => {
  const { agents } = board('agents: { constructor: , toString: { role: hasOwnProperty }, "1": }');
  assert.deepEqual(
    agents.map(({ agent_id, role }) => [agent_id, role]),
    [
      ['1', '1'],
      ['constructor', 'constructor'],
      ['toString', 'hasOwnProperty'],
    ],
  );
  assert.deepEqual(problems('agents:\n  a:\n  __proto__: { role: x }\n'), [
    '3 agents.__proto__: expected another name',
  ]);
  assert.equal(({} as { role?: string }).role, undefined, 'nothing else got a role by it');
});

test('names and roles: nothing a terminal obeys, nobody else’s', () => {
  for (const name of ['a\\u001b[31m', 'a\\u202Eb', ' ', 'x'.repeat(129), 'Coxswain', 'person:bob'])
    assert.match(problems(`agents: { "${name}": { role: r } }`).join(), /: not a name for an agent: /, name);
  assert.match(problems(`agents: { ${'x'.repeat(65)}: }`).join(), /more than 64 characters needs a role$/);
  for (const role of ['a\\u001b[31m', '\\u2028', 'x'.repeat(65), ' '])
    assert.match(problems(`agents: { a: { role: "${role}" } }`).join(), /^1 agents\.a\.role: expected/);
  const twice = 'agents: { a: { role: "\\u001b[31m" }, b: { role: "\\u001b[31m" } }';
  assert.ok(!problems(twice).some((problem) => problem.includes('\u001b')), 'what is obeyed is not repeated');
});

test('limits hold: agents, lists, the roster as a whole', () => {
  const many = (count: number, each: (index: number) => string) =>
    `agents:\n${Array.from({ length: count }, (_, index) => `  a${index}: ${each(index)}\n`).join('')}`;
  assert.equal(board(many(40, () => '')).agents.length, 40);
  assert.deepEqual(problems(many(41, () => '')), ['1 agents: expected at most 40 agents']);
  const files = (count: number, chars: number) =>
    `{ files: [${Array.from({ length: count }, (_, index) => `${index}${'x'.repeat(chars)}`).join(', ')}] }`;
  assert.match(
    problems(many(1, () => files(21, 1))).join(),
    /^2 agents\.a0\.files: expected at most 20 paths$/,
  );
  assert.deepEqual(problems(many(40, () => files(20, 400))), [
    '1 agents: names, types and files of all agents together are too long',
  ]);
  assert.equal(problems(`agents: { a: { command: [${'x, '.repeat(201)}] } }`).length, 1);
  assert.equal(problems(`agents: { a: { environment: [${'A=1, '.repeat(201)}] } }`).length, 1);
});

test('whatever is in the place of a value, there is an answer', () => {
  const keys =
    'role image command runtime bidding_strategy bid_script workspace environment resources prompts replicas max_concurrent mode worker timeout on_failure max_attempts files strategy health_check build volumes synchronize'.split(
      ' ',
    );
  const values = [
    '',
    '~',
    '""',
    '0',
    '-1',
    'text',
    '[]',
    '[~]',
    '[[]]',
    '{}',
    '{ a: b }',
    '{ a: }',
    '!x y',
    '!!int z',
  ];
  for (const key of keys)
    for (const value of values) {
      const parsed = parse(`agents: { a: { ${key}: ${value} } }`);
      const found = parsed.ok ? parsed.warnings : parsed.problems;
      for (const { line, field } of found) {
        assert.equal(line, 1, `${key}: ${value}`);
        assert.match(field, /^agents\.a/, `${key}: ${value}`);
      }
      assert.ok(parsed.ok || found.length > 0, `${key}: ${value}`);
    }
});

test('hundreds of unknown keys are told of by the first ones, and hide no mistake', () => {
  const unknown = Array.from({ length: 500 }, (_, index) => `k${index}: 1\n`).join('');
  const parsed = parse(`agents: { a: }\n${unknown}`);
  assert.ok(parsed.ok);
  assert.equal(parsed.warnings.length, 200);
  assert.deepEqual(problems(`${unknown}agents: { a: { replicas: 0, ${unknown.replaceAll('\n', ', ')} } }`), [
    '501 agents.a.replicas: expected a whole number from 1 to 100',
  ]);
  assert.match(problems(`${unknown}version: 3\nagents: { a: }\n`).join(), /^501 version: expected "1\.0"$/);
});
