import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { plants } from './plants.ts';

const root = new URL('../../', import.meta.url);

test('every planted bug still has its place, and the tests that should catch it exist', () => {
  assert.ok(plants.length >= 30);
  for (const { name, file, from, to, tests } of plants) {
    const times = readFileSync(new URL(file, root), 'utf8').split(from).length - 1;
    assert.equal(times, 1, `"${name}": its text stands ${times} times in ${file}`);
    assert.notEqual(from, to);
    assert.deepEqual(
      laterMigrationsWith(file, from),
      [],
      `"${name}": a later migration replaces what it plants`,
    );
    for (const path of tests) assert.ok(existsSync(new URL(path, root)), `${name}: ${path}`);
  }
});

/** A function may be replaced by a later migration; a bug planted in the old one would harm nobody. */
function laterMigrationsWith(file: string, text: string): string[] {
  const [folder, name] = [file.slice(0, file.lastIndexOf('/') + 1), file.slice(file.lastIndexOf('/') + 1)];
  if (!file.endsWith('.sql')) return [];
  const later = readdirSync(new URL(folder, root)).filter((each) => each > name);
  return later.filter((each) => readFileSync(new URL(`${folder}${each}`, root), 'utf8').includes(text));
}
