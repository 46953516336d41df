import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { inTerminal } from '../../support/pty.ts';
import { COX, Place } from './support.ts';

const PROTECTED = ['run', '--protect', 'require', '--agent', 'alice'];

test('[KERN-1] a protected command has the terminal: its size, each change of it, Ctrl-C once, and its exit code', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  const script = `
    const { columns, rows, isTTY } = process.stdout;
    process.stdout.on('resize', () => console.log('now', process.stdout.columns + 'x' + process.stdout.rows + ';'));
    process.on('SIGINT', () => console.log('caught'));
    const { execSync } = require('child_process');
    const inherit = { stdio: ['inherit', 'pipe', 'inherit'] };
    process.stdin.setRawMode(true);
    process.stdin.setRawMode(false);
    process.stdin.on('data', (line) => { console.log('heard', String(line).trim() + ';'); if (/end/.test(line)) process.exit(6); });
    console.log('at', String(execSync('tty', inherit)).trim() + ';');
    console.log(['is', columns + 'x' + rows, isTTY, process.stdin.isTTY, process.stderr.isTTY].join(' '));
    try { require('fs').writeFileSync('a.ts', 'mine') } catch ({ code }) { console.log('write:', code) }
    console.log('foreground:', /\\+/.test(execSync('ps -o stat= -p ' + process.pid)) + ';');`;
  await using pty = await inTerminal([...PROTECTED, '--', process.execPath, '-e', script], {
    cwd: repository.root,
    env: place.env,
    columns: 91,
    rows: 33,
  });
  await pty.shows('foreground: true;');
  assert.match(pty.output(), /is 91x33 true true true/);
  assert.match(pty.output(), /write: (EROFS|EBUSY)/);
  const [, terminal = ''] = /at (\/dev\/\S+);/.exec(pty.output()) ?? [];
  for (const [columns, rows] of [
    [100, 40],
    [60, 20],
  ]) {
    const words = ['-F', terminal, 'cols', String(columns), 'rows', String(rows)];
    assert.equal(spawnSync('stty', words).status, 0);
    await pty.shows(`now ${columns}x${rows};`);
  }
  pty.type('\u0003');
  await pty.shows('caught');
  // Long enough for a second one to come, had it been passed on.
  pty.type('more\n');
  await pty.shows('heard more;');
  pty.type('end\n');
  assert.equal(await pty.ended(), 6);
  assert.equal(pty.output().match(/caught/g)?.length, 1);
});

test('[KERN-1] what follows the protected command’s name is its own, with -- before it or without', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  const claude = repository.write('bin/claude', '#!/bin/sh\nprintf "<%s>" "$@"\n', 0o755);
  const env = { PATH: `${join(claude, '..')}:${place.env.PATH}` };
  const words = ['--help', '-p', 'a "b" $c', '', '--agent', 'x', '--protect=off', '--', '--', '-', '*', '\n'];
  const expected = words.map((word) => `<${word}>`).join('');
  for (const between of [[], ['--']]) {
    const { code, out } = repository.run(
      process.execPath,
      [COX, ...PROTECTED, ...between, 'claude', ...words],
      env,
    );
    assert.deepEqual([code, out], [0, expected]);
  }
});

test('[KERN-1] each signal reaches the protected command, and what it dies of is told as a shell tells it', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  for (const [signal, code] of [
    ['HUP', 129],
    ['INT', 130],
    ['KILL', 137],
    ['SEGV', 139],
    ['TERM', 143],
  ]) {
    const command = ['bash', '-c', `kill -${signal} $$; exit 0`];
    assert.equal(
      repository.run(process.execPath, [COX, ...PROTECTED, '--', ...command]).code,
      code,
      `${signal}`,
    );
  }
  const caught = 'trap "echo caught; exit 9" USR1 TERM HUP; kill -$0 $PPID; while :; do sleep 0.02; done';
  for (const signal of ['USR1', 'TERM', 'HUP']) {
    const { code, out } = repository.run(process.execPath, [
      ...[COX, ...PROTECTED, '--', 'bash', '-c', caught],
      signal,
    ]);
    assert.deepEqual([code, out], [9, 'caught\n'], signal);
  }
});
