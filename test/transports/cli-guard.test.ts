import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { main } from '../../src/transports/cli/main.ts';
import { fakeTerminal, scratch } from './support.ts';

async function typed(folder: string, words: readonly string[], env: Record<string, string> = {}) {
  const { terminal, written } = fakeTerminal(folder, env);
  const code = await main([...words], terminal);
  return { code, ...written };
}

const GOOD = `
patterns:
  - {id: wipe, program: opsctl, subcommand: wipe, category: infrastructure, operation: wipe, reason: It wipes.}
tests:
  blocks: [opsctl wipe]
  passes: [opsctl list]
`;

test('[GUARD-1] cox guard test checks the file of a project and runs its tests', async () => {
  using place = scratch();
  const file = join(place.folder, 'guardrails.yaml');
  writeFileSync(file, GOOD);
  const good = await typed(place.folder, ['guard', 'test', '--json']);
  assert.equal(good.code, 0, good.err);
  assert.equal((JSON.parse(good.out) as JsonObject).tests_passed, 2);
  writeFileSync(file, GOOD.replace('[opsctl list]', '[opsctl list, git push -f]'));
  const bad = await typed(place.folder, ['guard', 'test', file]);
  assert.equal(bad.code, 2);
  assert.match(bad.err, /guardrails_invalid/);
  assert.match(bad.err, /6 +tests\.passes\.1 +is blocked: "git push -f"/);
  const missing = await typed(place.folder, ['guard', 'test', 'no-such.yaml', '--json']);
  assert.equal((JSON.parse(missing.out) as JsonObject).error, 'guardrails_invalid');
});

test('[GUARD-1] cox guard patterns lists what ships and what the project adds', async () => {
  using place = scratch();
  writeFileSync(join(place.folder, 'mine.yaml'), GOOD);
  const env = { COX_GUARDRAILS: join(place.folder, 'mine.yaml') };
  const { code, out } = await typed(place.folder, ['guard', 'patterns', '--json'], env);
  assert.equal(code, 0);
  const { patterns } = JSON.parse(out) as { patterns: { id: string; source: string; operation: string }[] };
  assert.equal(patterns.find(({ id }) => id === 'git-push-force')?.operation, 'force_push');
  assert.equal(patterns.at(-1)?.id, 'wipe');
  assert.equal(patterns.at(-1)?.source, env.COX_GUARDRAILS);
});

test('[GUARD-1] cox guard -- CMD, whatever options stand before it, and its help says that it runs', async () => {
  using place = scratch();
  const command = ['--', 'git', 'push', '--force', 'origin', 'main'];
  for (const before of [
    ['guard'],
    ['guard', '--agent', 'bob'],
    ['--agent', 'bob', 'guard', '--json'],
    ['--agent', 'guard', 'guard'],
    ['guard', '--store', place.store, '--project', 'demo', '--dry-run'],
    ['--agent=bob', 'guard', '--session', 'run'],
  ]) {
    const { code, out, err } = await typed(place.folder, [...before, ...command], { COX_STORE: place.store });
    assert.equal(code, 3, `${before.join(' ')}: ${err}`);
    assert.match(out + err, /destructive_operation_blocked/);
  }
  // It has another verb: nothing is run.
  const check = await typed(place.folder, ['guard', '--agent', 'bob', 'check', '--', 'git status'], {
    COX_STORE: place.store,
  });
  assert.equal(check.code, 0, check.err);
  const { out } = await typed(place.folder, ['guard', '--help']);
  assert.match(out, /cox guard \[options\] -- <command\.\.\.>/);
  assert.match(out, /if nothing is against it, RUN/);
  assert.match(out, /\n {2}cox guard --agent alice -- git push/);
});
