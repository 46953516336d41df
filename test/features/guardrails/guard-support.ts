import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assessCommand, isWarningOnly } from '../../../src/features/guardrails/assess.ts';
import { excuse } from '../../../src/features/guardrails/excuse.ts';

export const PLACE = { cwd: '/repo', home: '/h', root: '/repo' };

/** A command line and the operations that are found in it, warnings with a question mark: see `found`. */
export type Row = readonly [command: string, found: string];

export function found(command: string | readonly string[]): string {
  const operations = assessCommand(command, PLACE).findings.map((finding) =>
    isWarningOnly(finding) ? `${finding.operation}?` : finding.operation,
  );
  return [...new Set(operations)].join(' ');
}

/** One test for a table: all rows that differ are seen at once. */
export function tabled(title: string, rows: readonly Row[]): void {
  test(title, () => {
    assert.deepEqual(
      rows.map(([command]) => [command, found(command)]),
      rows,
    );
  });
}

/** Commands of which nothing may be said, by their words alone. */
export function harmless(title: string, commands: readonly string[]): void {
  test(title, () => {
    const said = commands.flatMap((command) => {
      const { findings } = excuse(assessCommand(command, PLACE), PLACE, undefined);
      return findings.map(({ pattern, matched }) => `${command} → ${pattern}: ${matched}`);
    });
    assert.deepEqual(said, []);
  });
}
