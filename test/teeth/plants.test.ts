import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { plants } from './plants.ts';

const root = new URL('../../', import.meta.url);

test('every planted bug still has its place, and the tests that should catch it exist', () => {
  assert.ok(plants.length >= 30);
  for (const { name, file, from, to, tests } of plants) {
    const times = readFileSync(new URL(file, root), 'utf8').split(from).length - 1;
    assert.equal(times, 1, `"${name}": its text stands ${times} times in ${file}`);
    assert.notEqual(from, to);
    for (const path of tests) assert.ok(existsSync(new URL(path, root)), `${name}: ${path}`);
  }
});
