import type { JsonObject } from '../kernel/json.ts';
import type { ExchangeOutcome } from './exchange.ts';
import { aborted, type Doubt, refusalOf, unavailable } from './refusals.ts';

export interface AnswerJudgement {
  readonly answer: JsonObject;
  /** Worth another try, but not before this time. Undefined: this is the answer. */
  readonly again?: { readonly after_ms: number };
}

/** What an exchange means for the caller. `url` is where the request went, without any secrets. */
export function judge(outcome: ExchangeOutcome, url: string, doubt: Doubt | undefined): AnswerJudgement {
  if (outcome.kind === 'aborted') return { answer: aborted(outcome.sent ? doubt : undefined) };
  if (outcome.kind === 'failure') {
    const answer = unavailable(url, outcome.what, outcome.sent ? doubt : undefined);
    return outcome.passing ? { answer, again: { after_ms: 0 } } : { answer };
  }
  const { status } = outcome;
  const body = parse(outcome.text);
  if (status === 200) {
    if (typeof body?.success === 'boolean') return { answer: body };
    return { answer: unavailable(url, 'answered, but not as Coxswain does', doubt) };
  }
  // No redirect is followed: the key is for this address only.
  if (status >= 300 && status < 400)
    return { answer: unavailable(url, 'redirects, which is not followed: connect to where it leads') };
  const answer = refusalOf(status, body, url);
  return isPassing(status, body)
    ? { answer, again: { after_ms: pause_ms(outcome.retry_after) } }
    : { answer };
}

function isPassing(status: number, body: JsonObject | undefined): boolean {
  if (status === 429 || status === 502 || status === 504) return true;
  // A store that was moved or is full will not recover within a second.
  return status === 503 && (body?.success !== false || body.error === 'database_unavailable');
}

/** Seconds. A date would come from a proxy; our own pause does as well. */
function pause_ms(retry_after: string | undefined): number {
  return retry_after !== undefined && /^\d{1,6}$/.test(retry_after) ? Number(retry_after) * 1000 : 0;
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
