import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { assessCommand, isWarningOnly } from '../../../src/features/guardrails/assess.ts';
import { checkGuardrailsFile, parseGuardrails } from '../../../src/features/guardrails/project-file.ts';
import { readGuardrails } from '../../../src/features/guardrails/project-reader.ts';
import { PLACE } from './guard-support.ts';

const FILE = `
patterns:
  - id: ops-wipe
    program: [opsctl, ./scripts/ops.sh]
    subcommand: [db, wipe]
    unless: [--dry-run]
    category: database_destruction
    operation: ops_wipe
    reason: It empties the shared test database.
    instead: Ask the data team.
  - id: force-sync
    program: syncer
    options: [-f, --force]
    arguments: ["prod/**"]
    category: production_deployment
    operation: force_sync
    reason: It overwrites production.
    action: warn
rules:
  build_output: off
tests:
  blocks: [opsctl db wipe, sudo bash -c 'opsctl db wipe --yes', ./scripts/ops.sh db wipe, rm -rf node_modules]
  warns: [syncer -vf prod/eu, syncer --force=yes ./prod/eu]
  passes: [opsctl db wipe --dry-run, opsctl db list, echo opsctl db wipe, syncer prod/eu, syncer -f test/eu, rm -rf /tmp/x]
`;

function operations(command: string): string[] {
  const parsed = parseGuardrails(FILE);
  assert.ok(parsed.ok);
  return assessCommand(command, PLACE, parsed.project).findings.map((finding) =>
    isWarningOnly(finding) ? `${finding.operation}?` : finding.operation,
  );
}

test("[GUARD-1] a project's patterns are matched by program, words and options, through every wrapper", () => {
  assert.deepEqual(checkGuardrailsFile(FILE), []);
  assert.deepEqual(operations('x=opsctl; timeout 9 $x --region eu db wipe'), []);
  assert.deepEqual(operations('x=opsctl; timeout 9 $x db wipe --region eu'), ['ops_wipe']);
  assert.deepEqual(operations('python3 -c "import os; os.system(\'opsctl db wipe\')"'), ['ops_wipe']);
  assert.deepEqual(operations('syncer -xf prod/eu/a'), ['force_sync?']);
});

test('a file can only make stricter: what ships stays, whatever it says', () => {
  assert.deepEqual(operations('git push --force'), ['force_push']);
  const problems = checkGuardrailsFile(
    'patterns:\n  - {id: git-push-force, program: git, category: git_force, operation: force_push, reason: Mine., action: warn}\n',
  );
  assert.deepEqual(problems, [
    { line: 2, field: 'patterns.0.id', reason: 'git-push-force ships with Coxswain and stays as it is' },
  ]);
});

test('every mistake is told with its line', () => {
  const text = `patterns:
  - id: Bad Id
    program: x
    category: nonsense
    operation: x
    reason: X.
    regex: .*
rules:
  build_outputs: off
`;
  assert.deepEqual(
    checkGuardrailsFile(text).map(({ line, field }) => `${line} ${field}`),
    ['2 patterns.0.id', '4 patterns.0.category', '7 patterns.0.regex', '9 rules.build_outputs'],
  );
  assert.equal(checkGuardrailsFile('patterns: [').length > 0, true);
});

test('a test of the file that fails names its line and why', () => {
  const text = 'tests:\n  passes:\n    - npm test\n    - git push --force\n  blocks:\n    - npm test\n';
  assert.deepEqual(
    checkGuardrailsFile(text).map(({ line, field, reason }) => `${line} ${field} ${reason.split(':')[0]}`),
    ['6 tests.blocks.0 passes', '4 tests.passes.1 is blocked'],
  );
});

test('the file is read live; without one, or with mistakes in it, what ships holds', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cox-guardrails-'));
  try {
    assert.deepEqual((await readGuardrails(folder, {})).project, undefined);
    writeFileSync(join(folder, 'guardrails.yaml'), FILE);
    assert.equal((await readGuardrails(folder, {})).project?.patterns.length, 2);
    writeFileSync(join(folder, 'other.yaml'), 'patterns: 3');
    const other = await readGuardrails(folder, { COX_GUARDRAILS: join(folder, 'other.yaml') });
    assert.deepEqual([other.project, other.problems.length], [undefined, 1]);
    const asFolder = await readGuardrails(folder, { COX_GUARDRAILS: folder });
    assert.equal(asFolder.problems.length, 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
