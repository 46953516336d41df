import type { JsonObject } from '../kernel/json.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';

export function unknownOperation(name: string): Refusal {
  return refuse('unknown_operation', `There is no operation ${JSON.stringify(name)}.`);
}

/**
 * What a status means when the response says nothing more: it came from a proxy on the way, not from the
 * server.
 */
const BY_STATUS: Readonly<Record<number, readonly [code: string, remedy: string]>> = {
  401: ['unauthorized', 'Connect with api_key or session_token; `cox key create` makes a key.'],
  403: ['forbidden', 'Connect as the agent the key was made for, or with another key.'],
  404: ['not_found', 'Check the address; the server may also be older than this client.'],
  405: ['method_not_allowed', 'Check the address; something else than Coxswain answers there.'],
  413: ['too_large', 'Make the request smaller; large contents belong in a file or a commit.'],
  422: ['invalid_input', 'Correct the named field and call again; nothing was changed.'],
  429: ['rate_limited', 'Ask less often; try again after retry_after_seconds.'],
};

/** The server's own refusal, completed with every field a refusal has; or one made from the status alone. */
export function refusalOf(status: number, body: JsonObject | undefined, url: string): Refusal {
  const [code, remedy] = BY_STATUS[status] ?? [];
  if (body?.success === false) {
    const { message = `${url} answered with status ${status}.` } = body;
    return { ...body, success: false, message: String(message), remedy: String(body.remedy ?? remedy ?? '') };
  }
  if (code !== undefined && remedy !== undefined)
    return { success: false, error: code, message: `${url} answered with status ${status}.`, remedy };
  return unavailable(url, `answered with status ${status}`);
}

/** No usable answer: to the agent, the same as a store that is away. Never contains a key. */
export function unavailable(url: string, what: string, doubt?: Doubt): Refusal {
  const { operation_id } = doubt ?? {};
  return refuse('database_unavailable', `${url} ${what}.${doubtText(doubt)}`, { url, operation_id });
}

/** The request may have arrived. The operation id lets the agent ask for its outcome. */
export interface Doubt {
  readonly operation_id: string | undefined;
}

function doubtText(doubt: Doubt | undefined): string {
  if (doubt === undefined) return '';
  const known =
    doubt.operation_id === undefined ? '' : '; repeat the call with this operation_id to learn it';
  return ` Whether it was done is not known${known}.`;
}

export function aborted(doubt: Doubt | undefined): Refusal {
  return {
    success: false,
    error: 'aborted',
    operation_id: doubt?.operation_id,
    message: `The call was given up on this side.${doubtText(doubt)}`,
    remedy: 'Call again when you want it.',
  };
}
