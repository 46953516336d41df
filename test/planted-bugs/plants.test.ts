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

const MIGRATIONS = 'src/stores/postgres/migrations/';

/** A function of the baseline may be replaced by a later migration; a bug planted in the old one would have no effect. */
function laterMigrationsWith(file: string, text: string): string[] {
  if (!file.endsWith('.sql')) return [];
  const version = /INTO coxswain\.meta .* VALUES \((\d+),/.exec(
    readFileSync(new URL(file, root), 'utf8'),
  )?.[1];
  assert.ok(
    version !== undefined,
    `${file} is no baseline: a bug planted in a migration is not in a new database`,
  );
  const later = readdirSync(new URL(MIGRATIONS, root)).filter(
    (each) => Number(each.slice(0, 3)) > Number(version),
  );
  return later.filter((each) => readFileSync(new URL(`${MIGRATIONS}${each}`, root), 'utf8').includes(text));
}
