import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesWrittenIn, readCommands } from '../../src/command-analysis/shell/analyse-shell.ts';
import { readsOnly } from '../../src/command-analysis/shell/readers.ts';

const PLACE = { cwd: '/repo', home: '/h', root: '/repo' };

function reads(command: string): boolean {
  const reading = readCommands(command, PLACE);
  return readsOnly(reading, filesWrittenIn(reading));
}

const READERS = [
  'ls -la && git status --short',
  'cd src; grep -rn "x > y" . | sort | uniq -c | head -20',
  'git -C ../other log --oneline -5 && git diff HEAD~1 -- a.ts',
  "find . -name '*.ts' -exec grep -l foo {} +",
  "sed -n '1,20p' a.ts; awk '{ print $1 }' b.txt",
  'for f in a b; do cat "$f"; done',
  'timeout 5 rg foo 2>/dev/null || true',
  'test -f a.txt && /usr/bin/wc -l < a.txt',
];

const OTHERS = [
  'npm test',
  'make',
  'ls && node generate.js',
  'git commit -m x',
  'git checkout main',
  'git pull',
  './ls',
  '/repo/bin/cat x',
  'cat a > b',
  "find . -name '*.tmp' -delete",
  'find . -exec node fix.js {} ;',
  'sed -i s/a/b/ a.ts',
  'sort -o a a',
  'xargs prettier --write < list',
  'bash run.sh',
  'eval "$X"',
  '$(which make) all',
  'docker run -v .:/app image ls',
  'timeout 5 node x.js',
];

test('[LOCK-12] a command of which every program is known to write nothing is told from the others', () => {
  assert.deepEqual(
    READERS.filter((command) => !reads(command)),
    [],
  );
  assert.deepEqual(OTHERS.filter(reads), []);
});
