import { BoundedMap } from './kernel/bounded-map.ts';

const KEPT_MAX = 10_000;

/**
 * The grants made through one connection: what a release or a completion without a token means. Answers may come again
 * (a repeated operation id), so an older grant never replaces a newer one, and ending an old one forgets only that.
 */
export class Grants {
  /** A forgotten grant is only less guarded: the holder's name is still checked. */
  readonly #tokens = new BoundedMap<number>(KEPT_MAX);

  of(key: string): number | undefined {
    return this.#tokens.get(key);
  }

  remember(key: string, token: number): void {
    this.#tokens.set(key, Math.max(token, this.#tokens.get(key) ?? 0));
  }

  /** Without a token: whatever was known of it. */
  forget(key: string, token: number | undefined): void {
    const known = this.#tokens.get(key);
    if (known !== undefined && (token === undefined || known <= token)) this.#tokens.delete(key);
  }
}
