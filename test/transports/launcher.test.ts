import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import { needsOldNode, oldNode } from './old-node.ts';
import { cox, type Scratch, scratch, start } from './support.ts';

const node = oldNode();
const options = needsOldNode(node);

/** Its pipes are closed when the one behind the launcher has ended too; soon, and not when its wait is over anyway. */
const allEnded = (child: ChildProcess) => once(child, 'close', { signal: AbortSignal.timeout(20_000) });

/** Through the launcher on the old Node. */
const launched = (place: Scratch, words: readonly string[]) =>
  start(words, {
    cwd: place.folder,
    env: { COX_STORE: place.store },
    ...(node === undefined ? {} : { node }),
  });

async function answerOf(place: Scratch, words: readonly string[]): Promise<JsonObject> {
  const env = { COX_STORE: place.store };
  return JSON.parse((await cox([...words, '--json'], { cwd: place.folder, env })).out) as JsonObject;
}

test('[CLI-1] a waiter whose launcher is killed leaves the line', options, async () => {
  using place = scratch();
  await answerOf(place, ['lock', 'acquire', 'z', '--agent', 'alice']);
  const waiter = launched(place, ['lock', 'acquire', 'z', '--agent', 'bob', '--wait-seconds', '60']);
  const ended = allEnded(waiter);
  await once(waiter.stderr as NodeJS.ReadableStream, 'data');
  waiter.kill('SIGKILL');
  await ended;
  await answerOf(place, ['lock', 'release', 'z', '--agent', 'alice']);
  assert.deepEqual((await answerOf(place, ['lock', 'check'])).locks, []);
  assert.equal((await answerOf(place, ['lock', 'acquire', 'z', '--agent', 'carol'])).action, 'acquired');
});

test('[HTTP-1] a server whose launcher is killed gives its port back', options, async () => {
  using place = scratch();
  const server = launched(place, ['serve', '--port', '0', '--json']);
  const ended = allEnded(server);
  const [line] = (await once(server.stdout?.setEncoding('utf8') as NodeJS.ReadableStream, 'data')) as [
    string,
  ];
  const { url } = JSON.parse(line) as { url: string };
  assert.equal((await fetch(`${url}/health`)).status, 200);
  server.kill('SIGKILL');
  await ended;
  await until(() =>
    fetch(`${url}/health`).then(
      () => false,
      () => true,
    ),
  );
});

test(
  '[CLI-1] behind a launcher a command ends by itself, and what it starts hears nothing of it',
  options,
  async () => {
    using place = scratch();
    const script = 'env; ls /proc/self/fd 2>/dev/null | wc -l; exit 7';
    const words = ['guard', '--', script];
    const env = { COX_STORE: place.store };
    const through = await cox(words, { cwd: place.folder, env, ...(node === undefined ? {} : { node }) });
    const direct = await cox(words, { cwd: place.folder, env });
    assert.deepEqual([through.code, direct.code], [7, 7]);
    assert.doesNotMatch(through.out, /COX_HANDED_OVER|NODE_CHANNEL/);
    assert.equal(through.out.trim().split('\n').at(-1), direct.out.trim().split('\n').at(-1));
  },
);
