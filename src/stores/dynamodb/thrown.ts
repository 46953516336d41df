/** The parts we use of what the SDK throws. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly code: string | undefined;
  /** HTTP status; undefined: there was no response, or nothing was sent. */
  readonly status: number | undefined;
  /** The SDK signs the next request with the clock correction that it learned from the answer's date. */
  readonly clockCorrected: boolean;
  /** Why a transaction was cancelled, one for each of its actions. */
  readonly reasons: readonly string[];
}

export function thrownBy(error: unknown): Thrown {
  const from = fields(error);
  const metadata = fields(from.$metadata);
  const reasons = list(from.CancellationReasons).map(fields);
  const several = list(from.errors).map(fields);
  const said = [from, ...reasons, ...several].map(({ Message, message }) => text(message) ?? text(Message));
  return {
    name: text(from.name) ?? 'Error',
    // A connection refused by several addresses of one host has its messages in its parts; a cancelled
    // transaction has them in its reasons.
    message: said.filter((part) => part !== undefined && part !== '').join('; '),
    code: text(from.code) ?? text(several[0]?.code),
    status: typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined,
    clockCorrected: metadata.clockSkewCorrected === true,
    reasons: reasons.map(({ Code }) => text(Code) ?? 'None'),
  };
}

const LINE_NAMES = /^(TimeoutError|RequestTimeout(Exception)?|NetworkingError|AbortError|SyntaxError)$/;
const LINE_CODES =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|EPROTO|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|ENETDOWN|HPE_.*|ERR_(TLS|SSL)_.*|.*CERT.*)$/;

/**
 * The server was not reached, or stopped answering; `SyntaxError`: something in between answered in its
 * place.
 */
export function isLineBroken({ name, code, message, status }: Thrown): boolean {
  if (LINE_NAMES.test(name)) return true;
  if (status !== undefined) return false;
  return (code !== undefined && LINE_CODES.test(code)) || /socket hang up|aborted/i.test(message);
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
