import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Fault, S3Request } from '../../support/s3.ts';
import type { BucketGround } from './ground.ts';
import { EDGE, FEATURE, PASSED, Yard } from './support.ts';

const worker = fileURLToPath(new URL('./killed-worker.ts', import.meta.url));
const asked = { feature: FEATURE, edge: EDGE, evaluators: PASSED };

const FILES = ['src/app.ts', 'src/new/fresh.ts'] as const;
const OLD = ['old\n', undefined];
const NEW = ['new, and longer\n', 'fresh\n'];

// Each fault is to be seen as it is; that the SDK tries again is tested elsewhere.
process.env.AWS_MAX_ATTEMPTS = '1';

async function prepared() {
  const yard = await Yard.on('s3');
  yard.write(FILES[0], 'old\n');
  for (const [index, path] of FILES.entries()) yard.draft('alice', path, NEW[index] ?? '');
  await yard.claim('alice');
  return { yard, s3: (yard.ground as BucketGround).s3 };
}

const isChange = ({ method }: S3Request) => method === 'PUT' || method === 'DELETE';
const assets = (yard: Yard) => FILES.map((path) => yard.read(path));

/** Whatever happened: no asset is anything but old or new, any process finishes it, and then it is all or nothing. */
async function assertWhole(yard: Yard, when: string): Promise<string> {
  for (const [index, now] of assets(yard).entries())
    assert.ok(now === OLD[index] || now === NEW[index], `${when}: ${FILES[index]} is ${JSON.stringify(now)}`);
  const status = await yard.agent('bob')('draft_status', { agent_id: 'alice' });
  assert.deepEqual(status.under_way, [], when);
  const isNew = assets(yard).every((now, index) => now === NEW[index]);
  assert.ok(isNew || assets(yard).every((now, index) => now === OLD[index]), `${when}: all or nothing`);
  const drafts = (status.drafts as JsonObject[]).map((draft) => draft.status);
  if (!isNew) assert.deepEqual(drafts, ['changed', 'new'], `${when}: no draft is lost`);
  const again = await yard.agent('alice')('promote_draft', asked);
  assert.ok(again.success === true || again.error === 'no_drafts', `${when}: ${JSON.stringify(again)}`);
  assert.deepEqual(assets(yard), NEW, when);
  return isNew ? 'new' : 'old';
}

/** Killed at its n-th change of the bucket, before S3 has done it or after; undefined: it has ended before. */
async function killedAt(n: number, fault: Fault): Promise<string | undefined> {
  const { yard, s3 } = await prepared();
  await using _ = yard;
  const child = spawn(process.execPath, [worker, yard.root, '0', yard.ground.assets ?? ''], {
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  let count = 0;
  s3.watcher = async (request) => {
    if (isChange(request)) count += 1;
    if (!isChange(request) || count !== n) return undefined;
    child.kill('SIGKILL');
    await exited;
    return fault;
  };
  const [code, signal] = await exited;
  // What was sent is done, with no process there to hear of it.
  s3.watcher = undefined;
  if (signal !== 'SIGKILL') {
    assert.deepEqual([code, count < n], [0, true], `${n} ${fault}`);
    return undefined;
  }
  return await assertWhole(yard, `killed at ${n}, ${fault}`);
}

for (const fault of ['reset', 'reset_after'] as const)
  test(`[CLAIM-8] killed at any change of the bucket (${fault}): every asset is old or new, and anybody finishes what was started`, async () => {
    const outcomes = new Set<string>();
    let n = 1;
    for (; ; n += 1) {
      const outcome = await killedAt(n, fault);
      if (outcome === undefined) break;
      outcomes.add(outcome);
    }
    assert.ok(n > 8, `only ${n - 1} steps`);
    assert.deepEqual([...outcomes].sort(), ['new', 'old']);
  });

for (const fault of [
  { status: 503, code: 'SlowDown' },
  { status: 403, code: 'AccessDenied' },
  'reset_after',
] as Fault[])
  test(`[CLAIM-8] ${typeof fault === 'string' ? fault : fault.code} from any request on: nothing half, said so, and finished once it is mended`, async () => {
    const said = new Set<unknown>();
    for (let from = 1; ; from += 1) {
      const { yard, s3 } = await prepared();
      await using _ = yard;
      let count = 0;
      s3.watcher = () => {
        count += 1;
        return count < from ? undefined : fault;
      };
      const answer = await yard.agent('alice')('promote_draft', asked);
      s3.watcher = undefined;
      said.add(answer.error ?? answer.action);
      await assertWhole(yard, `from ${from}`);
      if (count < from) break;
    }
    assert.deepEqual([...said].sort(), ['promoted', 'promotion_unfinished', 'store_unusable']);
  });

test('[CLAIM-8] crowds that promote the same assets at once: each write follows a look, nobody’s is lost unsaid', async () => {
  const { yard, s3 } = await prepared();
  await using _ = yard;
  const crew = Array.from({ length: 6 }, (_unused, index) => `agent-${index}`);
  for (const name of crew) await yard.claim(name, name);
  const won: string[] = [];
  s3.watcher = ({ method, key, headers }) => {
    // As S3 does where two writes meet: one of them is sent away.
    if (method === 'PUT' && key === 'fleet/assets/shared' && s3.requests.length % 3 === 0)
      return { status: 409, code: 'ConditionalRequestConflict' };
    assert.ok(
      !(method === 'PUT' && key.includes('/assets/')) || headers['if-match'] || headers['if-none-match'],
    );
    return undefined;
  };
  for (let round = 0; round < 5; round += 1) {
    const before = yard.read('shared');
    for (const name of crew) yard.draft(name, 'shared', `${name} ${round}\n`);
    const answers = await Promise.all(
      crew.map((name) => yard.agent(name)('promote_draft', { ...asked, feature: name })),
    );
    const winners = crew.filter((_unused, index) => answers[index]?.success === true);
    for (const { success, error } of answers)
      if (success !== true) assert.match(String(error), /^promotion_(under_way|conflicted)$/);
    const now = yard.read('shared');
    assert.ok(winners.length === 0 ? now === before : winners.some((name) => now === `${name} ${round}\n`));
    won.push(...winners);
    assert.deepEqual((await yard.agent('alice')('draft_status')).under_way, []);
  }
  assert.ok(won.length >= 5, `${won.length} promotions in 5 rounds`);
});
