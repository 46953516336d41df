import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Clock } from '../../kernel/clock.ts';
import type { DynamoAddress } from './table-address.ts';

const CONNECT_MS_MAX = 1000;
const ANSWER_MS_MAX = 1500;
const SOCKETS_MAX = 64;

/**
 * The SDK finds credentials, profile and whatever the address leaves out by its own conventions (AWS_PROFILE,
 * AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB, the instance's role …). It never retries: only the store knows
 * whether a second try is safe, and after which pause.
 */
export function makeClient({ region, endpoint }: DynamoAddress): DynamoDBClient {
  return new DynamoDBClient({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECT_MS_MAX,
      requestTimeout: ANSWER_MS_MAX,
      // Without it a time-out only prints a warning on stderr, and the call goes on waiting.
      throwOnRequestTimeout: true,
      // `requestTimeout` covers the time until the headers; this one ends a body that stops half-way.
      socketTimeout: ANSWER_MS_MAX,
      httpAgent: { keepAlive: true, maxSockets: SOCKETS_MAX },
      httpsAgent: { keepAlive: true, maxSockets: SOCKETS_MAX },
    },
  });
}

/** One answer of the server: its clock showed `date_ms` (cut to the second) at some moment between the other two. */
export interface Seen {
  /** By the monotonic clock of this process, as is `received_ms`. */
  readonly sent_ms: number;
  readonly received_ms: number;
  readonly date_ms: number;
}

/** Every answer counts, including errors: a wrong clock first shows in refused signatures. */
export function observe(client: DynamoDBClient, see: (seen: Seen) => void, clock: Clock): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const sent_ms = clock.elapsed_ms();
      const result = await next(args);
      const received_ms = clock.elapsed_ms();
      const date_ms = dateOf(result.response);
      if (date_ms !== undefined) see({ sent_ms, received_ms, date_ms });
      return result;
    },
    // Innermost, around the transport alone: time that the SDK spends before and after is not travel time.
    { step: 'deserialize', priority: 'low', name: 'coxswainObserve' },
  );
}

function dateOf(response: unknown): number | undefined {
  const { headers } = response as { headers?: Record<string, string> };
  const date_ms = Date.parse(headers?.date ?? '');
  return Number.isNaN(date_ms) ? undefined : date_ms;
}
