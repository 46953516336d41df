import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paced } from '../support/paced.ts';
import { until } from '../support/until.ts';
import { patientAgent } from './engine.ts';
import type { Scene } from './suite.ts';

const BRIEFLY = 0.02;

export function lockCases(scene: Scene): void {
  const at = scene.engine;

  test(`[LOCK-1] ${at}: a free file is acquired, and from then on others are refused`, async () => {
    const [a, b] = [scene.agent('a'), scene.agent('b')];
    const got = await a('acquire_lock', { file_path: 'l1.ts', reason: 'rename' });
    assert.equal(got.success, true);
    assert.equal(got.action, 'acquired');
    assert.ok(Date.parse(got.expires_at as string) > Date.now() + 100 * 60_000, 'two hours by default');
    assert.equal((await b('acquire_lock', { file_path: 'l1.ts' })).success, false);
  });

  test(`[LOCK-2] ${at}: a second agent is told who holds the lock, why and until when`, async () => {
    const [a, b] = [scene.agent('a'), scene.agent('b')];
    const got = await a('acquire_lock', { file_path: 'l2.ts', reason: 'rename', ttl_minutes: 30 });
    const refusal = await b('acquire_lock', { file_path: 'l2.ts' });
    assert.equal(refusal.action, 'blocked');
    assert.equal(refusal.locked_by, 'a');
    assert.equal(refusal.expires_at, got.expires_at);
    assert.equal(refusal.lock_reason, 'rename');
    assert.ok(refusal.remedy);
  });

  test(`[LOCK-3] ${at}: a lock past its time is free without anyone acting`, async () => {
    const [a, b] = [scene.agent('a'), scene.agent('b')];
    await paced(BRIEFLY * 60_000, async (pace) => {
      const file_path = `l3-${pace.attempt}.ts`;
      const [first, refused] = await pace.within(async () => [
        await a('acquire_lock', { file_path, ttl_minutes: pace.limit_ms / 60_000 }),
        await b('acquire_lock', { file_path }),
      ]);
      assert.equal(refused?.action, 'blocked');
      const second = await pace.until(async () => {
        const answer = await b('acquire_lock', { file_path });
        return answer.success === true && answer;
      });
      assert.ok(Date.now() >= Date.parse(first?.expires_at as string), 'not before it expired');
      assert.equal(second.action, 'acquired');
      const stale = await a('release_lock', { file_path });
      assert.equal(stale.error, 'superseded', 'the old holder learns that its grant is over');
      assert.equal((await b('release_lock', { file_path })).released, true);
    });
  });

  test(`[LOCK-4] ${at}: only the holder releases, and only its current grant`, async () => {
    const [a, b] = [scene.agent('a'), scene.agent('b')];
    const got = await a('acquire_lock', { file_path: 'l4.ts' });
    const refused = await b('release_lock', { file_path: 'l4.ts' });
    assert.equal(refused.error, 'not_holder');
    assert.equal(
      (await scene.agent('c')('acquire_lock', { file_path: 'l4.ts' })).locked_by,
      'a',
      'untouched',
    );
    const stale = await a('release_lock', {
      file_path: 'l4.ts',
      fencing_token: (got.fencing_token as number) - 1,
    });
    assert.equal(stale.error, 'superseded');
    assert.deepEqual(await a('release_lock', { file_path: 'l4.ts' }), {
      success: true,
      released: true,
      file_path: 'l4.ts',
    });
    assert.equal(
      (await a('release_lock', { file_path: 'l4.ts' })).error,
      'not_held',
      'never silently nothing',
    );
    assert.equal((await b('acquire_lock', { file_path: 'l4.ts' })).action, 'acquired');
  });

  test(`[LOCK-4] ${at}: another session of the same agent takes the grant over`, async () => {
    const old = scene.agent('a', 'old-session');
    const fresh = scene.agent('a', 'new-session');
    await old('acquire_lock', { file_path: 'l4b.ts' });
    assert.equal((await fresh('acquire_lock', { file_path: 'l4b.ts' })).action, 'refreshed');
    assert.equal((await old('release_lock', { file_path: 'l4b.ts' })).error, 'superseded');
    assert.equal((await fresh('release_lock', { file_path: 'l4b.ts' })).released, true);
  });

  test(`[LOCK-4] ${at}: what somebody else changed counts, whatever one remembers`, async () => {
    const elsewhere = await scene.fixture().open();
    const here = scene.agent('a');
    const there = patientAgent(elsewhere, 'a');
    await here('acquire_lock', { file_path: 'l4c.ts' });
    assert.equal((await there('release_lock', { file_path: 'l4c.ts' })).released, true);
    const other = scene.agent('b');
    assert.equal((await other('acquire_lock', { file_path: 'l4c.ts' })).action, 'acquired', 'free, not a’s');
    assert.equal(
      (await patientAgent(elsewhere, 'b')('release_lock', { file_path: 'l4c.ts' })).released,
      true,
    );
    assert.equal((await there('acquire_lock', { file_path: 'l4c.ts' })).action, 'acquired');
    assert.equal((await other('release_lock', { file_path: 'l4c.ts' })).error, 'superseded');
    assert.equal(
      (await here('release_lock', { file_path: 'l4c.ts' })).error,
      'superseded',
      'the first grant is over',
    );
  });

  test(`[LOCK-5] ${at}: of twenty concurrent calls exactly one wins`, async () => {
    const calls = Array.from({ length: 20 }, (_, n) => scene.agent(`racer-${n}`));
    const answers = await Promise.all(calls.map((call) => call('acquire_lock', { file_path: 'l5.ts' })));
    const winners = answers.filter((answer) => answer.success === true);
    assert.equal(winners.length, 1);
    const holder = answers.findIndex((answer) => answer.success === true);
    for (const answer of answers)
      if (answer.success !== true) assert.equal(answer.locked_by, `racer-${holder}`);
  });

  test(`[LOCK-6] ${at}: the holder acquiring again extends the time and updates the reason`, async () => {
    const a = scene.agent('a');
    const first = await a('acquire_lock', { file_path: 'l6.ts', ttl_minutes: 1, reason: 'one' });
    const again = await a('acquire_lock', { file_path: 'l6.ts', ttl_minutes: 60, reason: 'two' });
    assert.equal(again.action, 'refreshed');
    assert.equal(again.fencing_token, first.fencing_token, 'the same grant');
    assert.ok(Date.parse(again.expires_at as string) > Date.parse(first.expires_at as string));
    const { locks } = await a('check_locks', { file_paths: ['l6.ts'] });
    assert.equal((locks as { reason: string }[])[0]?.reason, 'two');
  });

  test(`[LOCK-7] ${at}: check_locks lists who holds what, why, until when, and nothing that is free`, async () => {
    const [a, b] = [scene.agent('l7-a'), scene.agent('l7-b')];
    await a('acquire_lock', { file_path: 'l7/one.ts', reason: 'first' });
    await b('acquire_lock', { file_path: 'l7/two.ts' });
    await b('acquire_lock', { file_path: 'l7/three.ts' });
    await b('release_lock', { file_path: 'l7/three.ts' });
    const named = await a('check_locks', {
      file_paths: ['l7/two.ts', 'l7/one.ts', 'l7/three.ts', 'l7/none.ts'],
    });
    const locks = named.locks as {
      file_path: string;
      locked_by: string;
      reason?: string;
      expires_at: string;
    }[];
    assert.deepEqual(
      locks.map(({ file_path, locked_by, reason }) => ({ file_path, locked_by, reason })),
      [
        { file_path: 'l7/one.ts', locked_by: 'l7-a', reason: 'first' },
        { file_path: 'l7/two.ts', locked_by: 'l7-b', reason: undefined },
      ],
    );
    const all = (await a('check_locks')).locks as { file_path: string }[];
    assert.deepEqual(
      all.map(({ file_path }) => file_path).filter((path) => path.startsWith('l7/')),
      ['l7/one.ts', 'l7/two.ts'],
    );
  });

  test(`[LOCK-8] ${at}: tokens only grow, across release, expiry and holders; an older one is refused`, async () => {
    const [a, b] = [scene.agent('a'), scene.agent('b')];
    const tokens: number[] = [];
    for (const [call, ttl_minutes] of [
      [a, 5],
      [b, 5],
      [a, BRIEFLY],
      [b, 5],
    ] as const) {
      const got = await until(async () => {
        const answer = await call('acquire_lock', { file_path: 'l8.ts', ttl_minutes });
        return answer.success === true && answer;
      });
      tokens.push(got.fencing_token as number);
      if (ttl_minutes === 5 && tokens.length < 4) await call('release_lock', { file_path: 'l8.ts' });
    }
    for (const [index, token] of tokens.entries()) assert.ok(index === 0 || token > (tokens[index - 1] ?? 0));
    const refused = await b('acquire_lock', { file_path: 'l8.ts', fencing_token: tokens[1] ?? 0 });
    assert.equal(refused.error, 'superseded', 'a write guarded by an older token');
  });

  test(`[LOCK-9] ${at}: every spelling of a path is one lock; outside the repository is an error`, async () => {
    const [a, b] = [scene.agent('a'), scene.agent('b')];
    const { root } = scene.coxswain().workspace;
    await a('acquire_lock', { file_path: 'l9/x.ts' });
    for (const spelling of ['./l9/x.ts', 'l9//x.ts', 'l9/y/../x.ts', `${root}/l9/x.ts`])
      assert.equal((await b('acquire_lock', { file_path: spelling })).action, 'blocked', spelling);
    for (const outside of ['../../../../etc/passwd', '/etc/passwd'])
      assert.equal(
        (await b('acquire_lock', { file_path: outside })).error,
        'path_outside_repository',
        outside,
      );
  });
}
