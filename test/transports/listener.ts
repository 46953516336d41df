import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';

export interface Listener extends Disposable {
  readonly status: number;
  readonly response: IncomingMessage;
  /** What came so far: the position of each event and its data. */
  readonly events: { id: number; data: JsonObject }[];
  readonly comments: string[];
  /** Waits until so many have come. */
  first(count: number): Promise<{ id: number; data: JsonObject }[]>;
  readonly ended: Promise<void>;
}

/** A client of `GET /events`. */
export async function listen(url: string, headers: Record<string, string>, query = ''): Promise<Listener> {
  const events: Listener['events'] = [];
  const comments: string[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let request: ClientRequest | undefined;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request = get(`${url}/events${query}`, { headers, agent: false }, resolve);
    request.on('error', reject);
  });
  response.on('error', () => {}).on('close', () => end());
  let text = '';
  response.setEncoding('utf8').on('data', (part: string) => {
    const frames = (text + part).split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const [, id] = /^id: (\d+)$/m.exec(frame) ?? [];
      const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
      if (id !== undefined && data !== undefined)
        events.push({ id: Number(id), data: JSON.parse(data) as JsonObject });
      else if (frame.startsWith(':')) comments.push(frame);
    }
  });
  return {
    status: response.statusCode ?? 0,
    response,
    events,
    comments,
    ended,
    first: async (count) => {
      await until(async () => events.length >= count);
      return events.slice(0, count);
    },
    [Symbol.dispose]: () => void request?.destroy(),
  };
}
