import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readProject } from './files.ts';
import { cycleIn, houseProblems, MAY_USE, unusedEntries } from './house.ts';
import { importsIn } from './imports.ts';

const imports = importsIn(readProject());

/** An import planted in a source that has none of its own. */
function planted(path: string, text: string): string[] {
  return houseProblems(importsIn([{ path, text }]));
}

test('house: slices, layers and transports import what they may', () => {
  assert.deepEqual(houseProblems(imports), []);
});

test('house: no slice needs itself through others, and the list holds nothing superfluous', () => {
  assert.equal(cycleIn(MAY_USE), undefined);
  assert.deepEqual(unusedEntries(imports), []);
});

test('house: a planted cycle, an import past an index.ts and a store in a transport are found', () => {
  assert.deepEqual(cycleIn({ ...MAY_USE, teams: ['queue'] }), [
    'locks',
    'teams',
    'queue',
    'guardrails',
    'trust',
    'locks',
  ]);
  assert.deepEqual(planted('src/features/teams/a.ts', "import { x } from '../queue/index.ts';"), [
    'src/features/teams/a.ts → src/features/queue/index.ts: teams may not use queue',
  ]);
  assert.deepEqual(planted('src/features/trust/a.ts', "import { x } from '../locks/reach.ts';"), [
    'src/features/trust/a.ts → src/features/locks/reach.ts: past the slice’s index.ts',
  ]);
  assert.deepEqual(planted('src/features/trust/a.ts', "export { x } from '../locks/operations.ts';"), [
    'src/features/trust/a.ts → src/features/locks/operations.ts: past the slice’s index.ts',
  ]);
  assert.deepEqual(planted('src/transports/mcp/a.ts', "import { s } from '../../stores/sqlite/store.ts';"), [
    'src/transports/mcp/a.ts → src/stores/sqlite/store.ts: only the runtime opens stores',
  ]);
  assert.deepEqual(
    planted('src/transports/mcp/a.ts', "const s = await import('../../stores/open-store.ts');"),
    ['src/transports/mcp/a.ts → src/stores/open-store.ts: only the runtime opens stores'],
  );
});

test('house: what points upwards is found, also as a type', () => {
  assert.equal(planted('src/kernel/a.ts', "import type { L } from '../ledger/log.ts';").length, 1);
  assert.equal(planted('src/ledger/a.ts', "import { l } from '../features/locks/index.ts';").length, 1);
  assert.equal(
    planted('src/runtime/call.ts', "import type { L } from '../features/locks/index.ts';").length,
    1,
  );
  assert.equal(planted('src/features/locks/a.ts', "import { o } from '../../runtime/open.ts';").length, 1);
  assert.equal(
    planted('src/features/locks/a.ts', "import { t } from '../../transports/shared/identity.ts';").length,
    1,
  );
  assert.deepEqual(planted('src/features/trust/a.ts', "import { l } from '../locks/index.ts';"), []);
});

test('house: the picture in docs/internals is drawn from the imports as they are', async () => {
  const { picture, FILE } = await import('../../scripts/house/picture.ts');
  assert.equal(readFileSync(FILE, 'utf8'), picture(), 'run node scripts/house/picture.ts');
});
