const KEPT_MAX = 10_000;

/**
 * The grants made through one connection: what a release or a completion without a token means. Answers may come again
 * (a repeated operation id), so an older grant never replaces a newer one, and ending an old one forgets only that.
 */
export class Grants {
  readonly #tokens = new Map<string, number>();

  of(key: string): number | undefined {
    return this.#tokens.get(key);
  }

  remember(key: string, token: number): void {
    const latest = Math.max(token, this.#tokens.get(key) ?? 0);
    this.#tokens.delete(key);
    this.#tokens.set(key, latest);
    // A forgotten grant is only less guarded: the holder's name is still checked.
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > KEPT_MAX && oldest !== undefined) this.#tokens.delete(oldest);
  }

  /** Without a token: whatever was known of it. */
  forget(key: string, token: number | undefined): void {
    const known = this.#tokens.get(key);
    if (known !== undefined && (token === undefined || known <= token)) this.#tokens.delete(key);
  }
}
