import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../src/runtime/operation-list.ts';
import { main } from '../../src/transports/cli/main.ts';
import { GROUP_SUMMARIES } from '../../src/transports/cli/program/command-groups.ts';
import { fakeTerminal, scratch } from './support.ts';

async function typed(...words: string[]) {
  using place = scratch();
  const { terminal, written } = fakeTerminal(place.folder);
  const code = await main(words, { ...terminal, columns: 80 });
  return { code, ...written };
}

test('[CLI-1] help begins with the few commands that people need first, and says where the others are', async () => {
  const { code, out } = await typed('--help');
  assert.equal(code, 0);
  const listed = [...out.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name);
  assert.ok(listed.length >= 8 && listed.length <= 12, listed.join(' '));
  assert.match(out, /cox help --all/);
  for (const words of [['help'], ['-h']]) assert.equal((await typed(...words)).out, out, words.join(' '));
  assert.equal((await typed('--help', '--all')).out, (await typed('help', '--all')).out);
});

test('[CLI-1] what one would guess to list things works, and its help is help', async () => {
  for (const group of [
    'lock',
    'work',
    'handoff',
    'mail',
    'port',
    'claim',
    'task',
    'session',
    'approval',
    'changeset',
  ]) {
    const { code, err } = await typed(group, 'list', '--store', 'memory:');
    assert.doesNotMatch(err, /There is no command/, group);
    assert.notEqual(code, 4, group);
    assert.match((await typed('help', group, 'list')).out, /\nExamples:\n/, group);
  }
});

test('[CLI-1] the overview: one screen, 80 columns, a line for each group, exit codes', async () => {
  const { code, out, err } = await typed('help', '--all');
  assert.deepEqual([code, err], [0, '']);
  const lines = out.trimEnd().split('\n');
  assert.ok(lines.length <= 70, `${lines.length} lines`);
  for (const line of lines) assert.ok(line.length <= 80, line);
  for (const group of new Set(operations.map((operation) => operation.group))) {
    assert.ok(GROUP_SUMMARIES[group] !== undefined, `groups.ts does not say what ${group} is for`);
    assert.ok(out.includes(`${GROUP_SUMMARIES[group]}\n`), group);
  }
  assert.match(out, /Exit codes: 0 done, 1 refused, 2 usage, 3 awaits a person, 4 store unreachable/);
  assert.match(out, /Look around:\n {2}status .*\n {2}watch /);
});

test('[CLI-1] help goes as deep as the words do, and says what to type instead of a wrong one', async () => {
  const same: [string[], string[]][] = [
    [['help'], ['--help']],
    [
      ['help', 'lock'],
      ['lock', '--help'],
    ],
    [
      ['help', 'lock', 'acquire'],
      ['lock', 'acquire', '--help'],
    ],
    [
      ['help', 'watch'],
      ['watch', '-h'],
    ],
  ];
  for (const [words, flagged] of same) {
    const asked = await typed(...words);
    assert.equal(asked.code, 0);
    assert.equal(asked.out, (await typed(...flagged)).out, words.join(' '));
    assert.match(asked.out, /\n(Examples|Try):\n {2}cox /);
  }
  const wrong: [string[], RegExp][] = [
    [['help', 'lok'], /There is no command "lok"\. Did you mean: cox log, cox lock/],
    [['help', 'lock', 'aquire'], /cox lock acquire/],
    [['lock', 'status'], /There is no command "status"\. cox lock has: acquire, release, check\./],
    [['--agent', 'bob', 'lock', 'status'], /cox lock has: .*\bcheck\b/],
    [['--agent', 'bob', 'lock', 'chek'], /Did you mean: cox lock check\?/],
    [['guard', 'rum'], /Did you mean: cox guard run/],
    [['wach'], /cox watch/],
    [['lock', 'acquire', 'a', '--reson', 'x'], /Did you mean --reason\?/],
    [['watch', '--sinse', '1'], /Did you mean --since\?/],
  ];
  for (const [words, expected] of wrong) {
    const { code, out, err } = await typed(...words);
    assert.deepEqual([code, out], [2, '']);
    assert.match(err, expected);
  }
});

test('[CLI-1] every command has an example; a flag with few words shows them, and its schema still judges', async () => {
  for (const name of ['status', 'watch', 'demo', 'completion', 'replay', 'serve', 'mcp', 'init', 'doctor'])
    assert.match((await typed(name, '--help')).out, /\nExamples:\n {2}\S/, name);
  const { out } = await typed('session', 'list', '--help');
  assert.match(out, /choices:\s+"active",\s+"idle",\s+"disconnected"/);
  const { code, err } = await typed('session', 'list', '--status', 'asleep', '--store', 'memory:');
  assert.equal(code, 2);
  assert.match(err, /status: expected one of "active"\|"idle"\|"disconnected"/);
});
