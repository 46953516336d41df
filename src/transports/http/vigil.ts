import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator } from './authenticate.ts';

const LOOK_EVERY_MS = 3_000;

/**
 * Watches calls that last: a key may be revoked, or a session end, while its call waits in line or listens.
 * Such a call is cut off and leaves the line, so that nothing is granted to a key that is no longer valid.
 */
export class Vigil {
  readonly #authenticator: Authenticator;
  readonly #every_ms: number;
  readonly #watched = new Map<ServerResponse, IncomingMessage>();
  #timer: NodeJS.Timeout | undefined;

  constructor(authenticator: Authenticator, every_ms = LOOK_EVERY_MS) {
    this.#authenticator = authenticator;
    this.#every_ms = every_ms;
  }

  /** Until it is answered. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    if (response.destroyed) return;
    this.#watched.set(response, request);
    this.#timer ??= setInterval(() => this.#look(), this.#every_ms).unref();
    response.once('close', () => {
      this.#watched.delete(response);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  #look(): void {
    for (const [response, { headers, socket }] of this.#watched)
      this.#authenticator.stillOpens(headers, socket).then(
        (opens) => opens || response.destroy(),
        // A store that can't be reached right now does not end a caller's right to wait.
        () => {},
      );
  }
}
