import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../scripts/house/footprint.ts', import.meta.url));

/** The goals of docs/decisions/0022-slices-by-feature.md, and what was added to them since. On a busy machine a timer or two of the store runs during the call. */
const LOCK_FILES_MAX = 49;
const HOOK_FILES_MAX = 185;

test('house: a lock over MCP passes few files, and a hook that writes nothing loads few', () => {
  const printed = execFileSync(process.execPath, [script], { encoding: 'utf8' });
  const filesOf = (what: RegExp) => Number(what.exec(printed)?.[1] ?? Number.NaN);
  const passed = filesOf(/acquire_lock over MCP passes: (\d+) files/);
  const loaded = filesOf(/before `npm test` loads: (\d+) files/);
  assert.ok(passed > 10 && passed <= LOCK_FILES_MAX, printed);
  assert.ok(loaded > 50 && loaded <= HOOK_FILES_MAX, printed);
});
