import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent } from '../conformance/engine.ts';
import { until } from '../support/until.ts';
import { cox, finished, type Scratch, scratch, start } from '../transports/support.ts';
import { claimed, write } from './support.ts';

const env = (place: Scratch) => ({ COX_STORE: place.store, AGENT_ID: 'me' });

function following(place: Scratch, ...words: string[]) {
  const child = start(['log', '--follow', ...words], { cwd: place.folder, env: env(place) });
  let out = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  return {
    child,
    seen: (text: string) => until(async () => out.includes(text)),
    lines: () => out.split('\n').filter((line) => line !== ''),
  };
}

test('[AUD-5] log --follow: the newest first, then what happens; Ctrl-C ends it well', async () => {
  using place = scratch();
  const coxswain = await open({ store: place.store, cwd: place.folder });
  const anna = agent(coxswain, 'anna');
  for (let n = 1; n <= 15; n += 1) await anna('acquire_lock', { file_path: `old-${n}.ts` });
  const { child, seen, lines } = following(place);
  await seen('anna locked old-15.ts');
  await agent(coxswain, 'bert')('acquire_lock', { file_path: 'old-1.ts' });
  await anna('acquire_lock', { file_path: 'new.ts' });
  await seen('anna locked new.ts');
  const ended = finished(child);
  child.kill('SIGINT');
  assert.deepEqual([(await ended).code, (await ended).err], [0, '']);
  const told = lines().map((line) => line.replace(/^\S+ \S+ +#\d+ +/, ''));
  const old = Array.from({ length: 10 }, (_, index) => `anna locked old-${index + 6}.ts`);
  assert.deepEqual(
    told.filter((line) => !line.endsWith('is here')),
    [...old, 'anna locked new.ts'],
    'a refusal is no event',
  );
  await coxswain.close();
});

test('[AUD-5] log --follow resumes behind a position: every event once, whoever writes meanwhile', async () => {
  using place = scratch();
  const coxswain = await open({ store: place.store, cwd: place.folder });
  const writing = (async () => {
    for (let n = 0; n < 150; n += 1) await write(coxswain, 'anna', claimed(`F-${n}`, 'design→code', 'anna'));
  })();
  const seen: number[] = [];
  for (let since = 0; seen.length < 150; ) {
    const { child, lines } = following(place, '--output', 'jsonl', '--kind', 'claim', '--since', `#${since}`);
    await until(async () => lines().length > 20 || seen.length + lines().length >= 150);
    const ended = finished(child);
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
    const events = lines().map((line) => JSON.parse(line) as JsonObject);
    seen.push(...events.map(({ position }) => Number(position)));
    since = seen.at(-1) ?? 0;
  }
  await writing;
  assert.deepEqual(
    seen,
    [...new Set(seen)].sort((a, b) => a - b),
  );
  assert.equal(seen.length, 150);
  await coxswain.close();
});

test('[AUD-5] log: a reader that goes away (`| head -1`) ends it without a word', async () => {
  using place = scratch();
  const coxswain = await open({ store: place.store, cwd: place.folder, lasting: false });
  for (let n = 0; n < 2000; n += 1) await write(coxswain, 'anna', claimed(`F-${n}`, 'design→code', 'anna'));
  for (const words of [['--since', '#0'], ['--output', 'jsonl'], ['--json'], ['--follow', '--since', '#0']]) {
    const child = start(['log', ...words], { cwd: place.folder, env: env(place) });
    child.stdout?.once('data', () => child.stdout?.destroy());
    const { code, err } = await finished(child);
    assert.deepEqual([code, err], [0, ''], words.join(' '));
  }
  await coxswain.close();
});

test('[AUD-5] log of a long history takes no more memory than one of a short', async () => {
  using place = scratch();
  const coxswain = await open({ store: place.store, cwd: place.folder, lasting: false });
  const note = 'x'.repeat(8000);
  // 80 MB of rows, in a heap of 56 with the program in it.
  for (let n = 0; n < 10_000; n += 1) {
    const event = claimed(`F-${n % 10}`, 'design→code', 'anna');
    await write(coxswain, 'anna', { ...event, data: { ...event.data, note } });
  }
  await coxswain.close();
  for (const words of [['--output', 'jsonl'], ['--json'], ['--since', '#0']]) {
    const { code, err } = await cox(['log', ...words], {
      cwd: place.folder,
      env: { ...env(place), NODE_OPTIONS: '--max-old-space-size=56' },
    });
    assert.deepEqual([code, err], [0, ''], words.join(' '));
  }
});
