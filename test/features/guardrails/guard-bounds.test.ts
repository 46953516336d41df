// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's, not ours
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readCommands } from '../../../src/command-analysis/shell/analyse-shell.ts';
import { assessCommand, assessReading } from '../../../src/features/guardrails/assess.ts';
import { PATTERNS } from '../../../src/features/guardrails/registry.ts';
import { CATEGORIES } from '../../../src/features/trust/finding.ts';
import { found, PLACE } from './guard-support.ts';

/** Processor time: others may use the machine meanwhile. */
function cost_ms(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const WORDS = [
  ...[
    'rm',
    '-rf',
    '/',
    'git',
    'push',
    '--force',
    'sh',
    '-c',
    'eval',
    '$x',
    '"$x"',
    'x=1',
    '|',
    '&&',
    ';',
    '(',
    ')',
  ],
  ...[
    '{',
    '}',
    '<<EOF',
    'EOF',
    '\n',
    '$(',
    '`',
    "'",
    '"',
    '\\',
    '>',
    '<',
    '<(',
    'if',
    'then',
    'fi',
    'for',
    'do',
  ],
  ...[
    'done',
    'python3',
    'os.system("',
    '")',
    'xargs',
    'find',
    '-exec',
    '{}',
    'sudo',
    'ssh',
    'alias',
    '${x:0:1}',
  ],
];

test('any heap of shell is answered, in bounded time', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...WORDS), { maxLength: 60 }), (words) => {
      const command = words.join(' ');
      const taken_ms = cost_ms(() => assessCommand(command, PLACE));
      assert.ok(taken_ms < 1000, `${taken_ms} ms for ${JSON.stringify(command)}`);
    }),
    { numRuns: 1500 },
  );
});

test('any text and any argument list are answered', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      for (const { category, pattern, matched, reason } of assessCommand(text, PLACE).findings) {
        assert.ok(CATEGORIES.includes(category) && pattern !== '' && reason !== '');
        assert.ok(matched.length <= 200 && !/\p{Cc}/u.test(matched) && matched.isWellFormed());
      }
    }),
    { numRuns: 1500 },
  );
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (words) => {
      assessCommand(words, PLACE);
    }),
    { numRuns: 500 },
  );
});

test('what doubles, nests or goes on for ever is said to be too much', () => {
  const deep = (open: string, close: string): string => open.repeat(300) + close.repeat(300);
  const commands = [
    `x='a $x$x $x$x'; eval "$x"`,
    'f() { f; f; }; f',
    `x=aaaaaaaaaa; ${'x=$x$x; '.repeat(60)} rm -rf "$x"`,
    deep('$(', ')'),
    deep('(', ')'),
    deep('bash -c "', '"'),
    'for a in {1..60}; do for b in {1..60}; do for c in {1..60}; do echo $a $b $c; done; done; done',
    `python3 -c '${'os.system('.repeat(500)}'`,
    `python3 -c "${'a+'.repeat(5000)}a"`,
    `git ${'-c alias.x=x '.repeat(500)} x`,
    `alias a=b b=a; a; ${'a; '.repeat(200)}`,
    'x'.repeat(300_000),
    `awk '${'print "x" | "'.repeat(1000)}'`,
  ];
  for (const command of commands) {
    const taken_ms = cost_ms(() => assessCommand(command, PLACE));
    assert.ok(taken_ms < 1500, `${taken_ms} ms for ${command.slice(0, 60)}`);
  }
  assert.equal(found('x'.repeat(300_000)), 'check_exhausted');
});

test('a query of any length is judged in bounded time', () => {
  for (const unit of ['mutation ', 'mutation deleteA ', 'deleteA', 'mutation { deleteA', 'mutation\n', ' ']) {
    const query = `query=mutation ${unit.repeat(200_000 / unit.length)}`;
    const taken_ms = cost_ms(() => assessCommand(['gh', 'api', 'graphql', '-f', query], PLACE));
    assert.ok(taken_ms < 1000, `${taken_ms} ms for ${query.slice(0, 40)}`);
    assert.equal(found(['gh', 'api', 'graphql', '-f', `${query} deleteRef (input`]), 'delete_cloud_resource');
  }
});

test('a list of any number of words is judged in bounded time', () => {
  const words = Array.from({ length: 200_000 }, (_, index) => `f${index}`);
  for (const program of ['rm', 'docker run x rm']) {
    const taken_ms = cost_ms(() => assessCommand([...program.split(' '), ...words], PLACE));
    assert.ok(taken_ms < 5000, `${program}: ${taken_ms} ms`);
  }
});

test('a command of four kilobytes is judged at once', () => {
  const line = 'git add src/a.ts && npm run build -- --mode production 2>&1 | tee "$LOG" | tail -n 40; ';
  const command = `${line.repeat(46)} git push --force`;
  assert.ok(command.length > 3900 && command.length < 4200);
  for (let round = 0; round < 50; round += 1) assessCommand(command, PLACE);
  const taken_ms = cost_ms(() => {
    for (let round = 0; round < 50; round += 1) assessCommand(command, PLACE);
  });
  // The goal of 1 ms is measured by the benchmark; here a shared machine is given ten times that.
  assert.ok(taken_ms / 50 < 10, `${taken_ms / 50} ms each`);
  assert.equal(found(command), 'force_push');
});

test('one reading serves locks and guardrails, and gives the same findings', () => {
  const command = 'cd src && rm -rf . && git push -f origin main';
  const reading = readCommands(command, PLACE);
  assert.deepEqual(assessReading(reading, PLACE).findings, assessCommand(command, PLACE).findings);
});

test('an argument list has been through no shell', () => {
  assert.equal(found(['git', 'push', '--force']), 'force_push');
  assert.equal(found(['bash', '-c', 'rm -rf src']), 'recursive_delete');
  assert.equal(found(['echo', '$(rm -rf /)', '; rm -rf /']), '');
});

test('secrets are masked in what a finding quotes', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const [finding] = assessCommand(`git push -f https://x:${token}@github.com/a/b`, PLACE).findings;
  assert.ok(finding !== undefined && !finding.matched.includes(token), finding?.matched);
});

test('[GUARD-1] every pattern explains itself, and no two have one id', () => {
  const ids = PATTERNS.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const { id, category, operation, reason } of PATTERNS) {
    assert.match(id, /^[a-z][a-z-]*$/);
    assert.ok(CATEGORIES.includes(category), id);
    assert.match(operation, /^[a-z][a-z_]*$/);
    assert.match(reason, /^[A-Z].*\.$/);
  }
  for (const seeds of [
    'git_force',
    'branch_deletion',
    'mass_deletion',
    'credential_modification',
    'production_deployment',
    'database_migration',
  ])
    assert.ok(
      PATTERNS.some(({ category }) => category === seeds),
      seeds,
    );
});
