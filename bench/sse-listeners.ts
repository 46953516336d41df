/** Listeners to server-sent events, in a process of their own: reading must not slow the measured process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Bench } from './bench.ts';
import { API_KEY } from './processes.ts';

export interface Listeners {
  /** Waits until each has heard of so many, or for a while; answers how many events were heard in all. */
  close(expected: number): Promise<number>;
}

export async function openListeners(bench: Bench, url: URL, count: number): Promise<Listeners> {
  const child = fork(fileURLToPath(import.meta.url), [url.href, String(count)]);
  bench.cleanup.defer(async () => void child.kill('SIGKILL'));
  await once(child, 'message');
  return {
    async close(expected) {
      child.send(expected);
      const [heard] = (await once(child, 'message')) as [number];
      child.kill();
      return heard;
    },
  };
}

const PATIENCE_MS = 3000;

function listen(url: string, count: number): void {
  let heard = 0;
  let open = 0;
  for (let listener = 0; listener < count; listener++)
    request(new URL('/events?kinds=lock', url), { headers: { 'x-api-key': API_KEY } }, (response) => {
      if (response.statusCode !== 200) throw new Error(`/events answered ${response.statusCode}`);
      open += 1;
      if (open === count) process.send?.('open');
      response.setEncoding('latin1').on('data', (text: string) => {
        // Every event has one id line, and an id never spans two writes of a flushed event.
        for (let at = text.indexOf('\nid: '); at !== -1; at = text.indexOf('\nid: ', at + 1)) heard += 1;
        if (text.startsWith('id: ')) heard += 1;
      });
    }).end();
  process.on('message', (expected: number) => {
    const end = performance.now() + PATIENCE_MS;
    const look = () => {
      if (heard >= expected * count || performance.now() > end) process.send?.(heard);
      else setTimeout(look, 50);
    };
    look();
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  listen(process.argv[2] ?? '', Number(process.argv[3] ?? 1));
