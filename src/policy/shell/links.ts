import { onlyAfter, type When } from './command.ts';
import { isAbsolute, shortPath } from './word.ts';

/** More of them than rounds of a loop. */
const LINKS_MAX = 100;
/** The ways through all of them. */
const PATHS_MAX = 100;
/** No system opens a longer one. */
const PATH_CHARS_MAX = 4096;

/** What another name of a file leads to. */
export interface Link {
  readonly target: string;
  /** Of a symbolic link: what stands in it. Where it is relative it is read from where the link is. */
  readonly text?: string | undefined;
}

interface Known extends Link {
  /** It is gone for all that runs only after one of these. */
  readonly gone: readonly When[];
}

/** A slash at the end asks for what a link leads to. */
const asksForTarget = (path: string): boolean => /\/\.?$/.test(path);

/** Other names that a command line itself gives to files. One name has several targets where nobody can say which it is. */
export class Links {
  readonly #links = new Map<string, readonly Known[]>();
  #count = 0;

  add(name: string, { target, text }: Link): void {
    const path = shortPath(name);
    const before = this.#links.get(path) ?? [];
    // The folder of the start itself has a name, too.
    const link: Known = { target: shortPath(target) || '.', text, gone: [] };
    const again = before.some((each) => each.target === link.target && each.gone.length === 0);
    if (this.#count >= LINKS_MAX || again) return;
    this.#count += 1;
    this.#links.set(path, [...before, link]);
  }

  forget(name: string, when: When): void {
    const path = shortPath(name);
    const links = this.#links.get(path);
    if (links === undefined || asksForTarget(name)) return;
    if (when.length > 0)
      this.#links.set(
        path,
        links.map((link) => ({ ...link, gone: [...link.gone, when] })),
      );
    else {
      this.#count -= links.length;
      this.#links.delete(path);
    }
  }

  /** What was called `from`, or is below it, is from now on also found by the other name. */
  rename(from: string, to: string, when: When): void {
    const [old, now] = [shortPath(from), shortPath(to)];
    if (old === now || asksForTarget(from)) return;
    for (const [name, links] of [...this.#links]) {
      if (name !== old && !name.startsWith(`${old}/`)) continue;
      const path = now + name.slice(old.length);
      for (const link of links) if (isThere(link, when)) this.add(path, moved(link, path));
    }
  }

  /**
   * A path, and where it arrives by way of links. Whoever is after the name itself, to remove it or to give it to something
   * else, does not go through a link of that name.
   */
  reached(path: string, itself: boolean, when: When): readonly string[] {
    if (this.#links.size === 0) return [path];
    const through = !itself || asksForTarget(path);
    const found = new Set([path]);
    let last = [path];
    // No way leads through more links than there are; one that leads below itself would have no end.
    for (let hops = 0; hops < this.#links.size && last.length > 0; hops += 1) {
      const next = last.flatMap((each) => [...this.#next(shortPath(each), through, when)]);
      last = next.filter((each) => !found.has(each)).slice(0, PATHS_MAX - found.size);
      for (const each of last) found.add(each);
    }
    return [...found];
  }

  *#next(path: string, through: boolean, when: When): Generator<string> {
    if (path.length > PATH_CHARS_MAX) return;
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (end === path.length && !through) continue;
      for (const link of this.#links.get(path.slice(0, end)) ?? [])
        if (isThere(link, when)) yield shortPath(link.target + path.slice(end));
    }
  }
}

function isThere({ gone }: Known, when: When): boolean {
  return !gone.some((each) => onlyAfter(each, when));
}

function moved(link: Link, path: string): Link {
  if (link.text === undefined || isAbsolute(link.text)) return link;
  return { ...link, target: path.replace(/[^/]*$/, '') + link.text };
}
