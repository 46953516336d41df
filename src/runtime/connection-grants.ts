import type { Area } from '../kernel/area.ts';
import { BoundedMap } from '../kernel/bounded-map.ts';
import { hasWildcard } from '../kernel/glob.ts';

const KEPT_MAX = 10_000;

/**
 * The grants made through one connection: what a release or a completion without a token means. Answers may come again
 * (a repeated operation id), so an older grant never replaces a newer one, and ending an old one forgets only that.
 */
export class Grants {
  /** A forgotten grant is only less guarded: the holder's name is still checked. */
  readonly #tokens = new BoundedMap<number>(KEPT_MAX);
  readonly #names = new BoundedMap<Area>(KEPT_MAX);

  of(key: string): number | undefined {
    return this.#tokens.get(key);
  }

  remember(key: string, token: number): void {
    this.#tokens.set(key, Math.max(token, this.#tokens.get(key) ?? 0));
  }

  /**
   * What was locked under a name as the caller wrote it. The same name may lead elsewhere by the time it is released: a folder stands
   * there now, or a link.
   */
  lockNamed(name: string): Area | undefined {
    const known = this.#names.get(name);
    if (known !== undefined || hasWildcard(name)) return known;
    return this.#tokens.get(`lock/${name}`) === undefined ? undefined : { place: name };
  }

  /** Most locks have the name they were asked for by. */
  rememberName(name: string, area: Area): void {
    if (area.pattern !== undefined || area.place !== name) this.#names.set(name, area);
  }

  forgetName(name: string): void {
    this.#names.delete(name);
  }

  /** Without a token: whatever was known of it. */
  forget(key: string, token: number | undefined): void {
    const known = this.#tokens.get(key);
    if (known !== undefined && (token === undefined || known <= token)) this.#tokens.delete(key);
  }
}
