import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { EDGE, FEATURE, PASSED, Yard } from './support.ts';

const run = promisify(execFile);
const worker = fileURLToPath(new URL('./killed-worker.ts', import.meta.url));
const asked = { feature: FEATURE, edge: EDGE, evaluators: PASSED };

const FILES = ['src/app.ts', 'src/new/fresh.ts'] as const;
const OLD = ['old\n', undefined];
const NEW = ['new, and longer\n', 'fresh\n'];

async function prepared(): Promise<Yard> {
  const yard = await Yard.open();
  yard.write(FILES[0], 'old\n');
  for (const [index, path] of FILES.entries()) yard.draft('alice', path, NEW[index] ?? '');
  await yard.claim('alice');
  return yard;
}

async function promoteIn(
  root: string,
  last: number,
): Promise<{ count: number; answer: JsonObject } | undefined> {
  try {
    const { stdout } = await run(process.execPath, [worker, root, String(last)], { timeout: 60_000 });
    return JSON.parse(stdout) as { count: number; answer: JsonObject };
  } catch (error) {
    assert.equal((error as { signal?: string }).signal, 'SIGKILL', String(error));
    return undefined;
  }
}

const assets = (yard: Yard) => FILES.map((path) => yard.read(path));

function assertOldOrNew(yard: Yard, when: string): void {
  for (const [index, now] of assets(yard).entries())
    assert.ok(now === OLD[index] || now === NEW[index], `${when}: ${FILES[index]} is ${JSON.stringify(now)}`);
}

/** What a person would see in the folders of the assets. */
function leftovers(yard: Yard): string[] {
  const names = readdirSync(yard.root, { recursive: true }) as string[];
  return names.filter((name) => /(^|\/)\.cox-/.test(name));
}

/** One yard, killed at one step; answers what had become of it. */
async function killedAt(last: number): Promise<string> {
  await using yard = await prepared();
  const when = `killed at ${last}`;
  assert.equal(await promoteIn(yard.root, last), undefined, when);
  assertOldOrNew(yard, when);
  const status = await yard.agent('bob')('draft_status', { agent_id: 'alice' });
  assert.deepEqual(status.under_way, [], when);
  const isNew = assets(yard).every((now, index) => now === NEW[index]);
  const isOld = assets(yard).every((now, index) => now === OLD[index]);
  assert.ok(isNew || isOld, `${when}: after it was finished it is all or nothing`);
  const drafts = (status.drafts as JsonObject[]).map((draft) => draft.status);
  if (isOld) assert.deepEqual(drafts, ['changed', 'new'], `${when}: no draft is lost`);
  assert.deepEqual(leftovers(yard), [], when);
  const again = await yard.agent('alice')('promote_draft', asked);
  assert.ok(again.success === true || again.error === 'no_drafts', `${when}: ${JSON.stringify(again)}`);
  assert.deepEqual(assets(yard), NEW, when);
  return isNew ? 'finished by another' : 'not started';
}

const LANES = 4;

test('[CLAIM-8] killed before any change of the disk: every asset is old or new, and anybody finishes what was started', async () => {
  await using whole = await prepared();
  const done = await promoteIn(whole.root, 0);
  assert.equal(done?.answer.success, true);
  const count = done?.count ?? 0;
  assert.ok(count > 20, `only ${count} steps`);
  const outcomes = new Set<string>();
  let next = 1;
  const lane = async () => {
    while (next <= count) {
      next += 1;
      outcomes.add(await killedAt(next - 1));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  assert.deepEqual([...outcomes].sort(), ['finished by another', 'not started']);
});
