import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesWritten, type Touched } from '../../src/command-analysis/shell/analyse-shell.ts';

/** A command line, and what it would write: see `shown`. */
export type Row = readonly [command: string, written: string];

const PLACE = { cwd: '/repo', home: '/h', root: '/repo' };

/**
 * In one line: a path for a file, `tree x` for a folder with all below, `glob x` for a pattern, `? …` for what is unknown and
 * `@ …` for a command that may change anything, with the folder if it is another.
 */
export function shown({ writes, unknown, everywhere }: Touched): string {
  return [
    ...writes.map(({ path, how }) => (how === 'file' ? path : `${how} ${path}`)),
    ...unknown.map((what) => `? ${what}`),
    ...everywhere.map(({ command, folder }) => `@ ${command}${folder === '' ? '' : ` in ${folder}`}`),
  ].join(' | ');
}

export function written(command: string | readonly string[]): string {
  return shown(filesWritten(command, PLACE));
}

/** One test for a table: all rows that differ are seen at once. */
export function tabled(title: string, rows: readonly Row[]): void {
  test(`shell: ${title}`, () => {
    assert.deepEqual(
      rows.map(([command]) => [command, written(command)]),
      rows,
    );
  });
}
