import { globMatches, hasWildcard } from '../../kernel/glob.ts';
import { onlyAfter, type When } from './shell-command.ts';
import { isAbsolute, shortPath } from './word.ts';

/** More links than rounds of a loop. */
const LINKS_MAX = 100;
/** The paths through all of them. */
const PATHS_MAX = 100;
/** No system opens a longer path. */
const PATH_CHARS_MAX = 4096;

/** What another name of a file leads to. */
export interface Link {
  readonly target: string;
  /** For a symbolic link: its content. A relative one is resolved from the link's folder. */
  readonly text?: string | undefined;
}

/** A path, or a pattern of paths. */
export interface Reached {
  readonly path: string;
  readonly glob: boolean;
}

interface Known extends Link {
  /** It is gone for everything that runs only after one of these. */
  readonly gone: readonly When[];
}

/** A trailing slash asks for the link's target. */
const asksForTarget = (path: string): boolean => /\/\.?$/.test(path);

/**
 * Other names that a command line itself gives to files. A name has several targets if it is unknown which
 * one applies.
 */
export class Links {
  /** By the full path, if the start folder of the command line is known: `l` and `/repo/l` are one. */
  readonly #links = new Map<string, readonly Known[]>();
  readonly #cwd: string | undefined;
  /** Earlier answers, until the links change: a loop, or a list, asks for the same names again and again. */
  #answers = new WeakMap<When, Map<string, readonly Reached[]>>();
  #count = 0;

  constructor(cwd?: string) {
    this.#cwd = cwd;
  }

  #whole(path: string): string {
    return shortPath(this.#cwd === undefined || isAbsolute(path) ? path : `${this.#cwd}/${path}`);
  }

  add(name: string, { target, text }: Link): void {
    const path = this.#whole(name);
    const before = this.#links.get(path) ?? [];
    // The start folder itself has a name too.
    const link: Known = { target: shortPath(target) || '.', text, gone: [] };
    const again = before.some((each) => each.target === link.target && each.gone.length === 0);
    if (this.#count >= LINKS_MAX || again) return;
    this.#count += 1;
    this.#set(path, [...before, link]);
  }

  forget(name: string, when: When): void {
    const path = this.#whole(name);
    const links = this.#links.get(path);
    if (links === undefined || asksForTarget(name)) return;
    if (when.length > 0)
      this.#set(
        path,
        links.map((link) => ({ ...link, gone: [...link.gone, when] })),
      );
    else {
      this.#count -= links.length;
      this.#set(path, []);
    }
  }

  #set(path: string, links: readonly Known[]): void {
    if (links.length === 0) this.#links.delete(path);
    else this.#links.set(path, links);
    this.#answers = new WeakMap();
  }

  /** What was called `from`, or is below it, can from now on also be reached by the other name. */
  rename(from: string, to: string, when: When): void {
    const old = this.#whole(from);
    if (old === this.#whole(to) || asksForTarget(from)) return;
    for (const [name, links] of [...this.#links]) {
      if (name !== old && !name.startsWith(`${old}/`)) continue;
      const path = (shortPath(to) || '.') + name.slice(old.length);
      for (const link of links) if (isThere(link, when)) this.add(path, moved(link, path));
    }
  }

  /**
   * A path, and where it leads through links. An operation on the name itself, which removes it or gives it
   * to something else, does not follow a link of that name.
   */
  reached(start: Reached, itself: boolean, when: When): readonly Reached[] {
    if (this.#links.size === 0) return [start];
    const through = !itself || asksForTarget(start.path);
    const answers = this.#answers.get(when) ?? new Map<string, readonly Reached[]>();
    const asked = `${through} ${start.glob} ${start.path}`;
    const answer = answers.get(asked) ?? this.#allReached(start, through, when);
    this.#answers.set(when, answers.set(asked, answer));
    return answer;
  }

  #allReached(start: Reached, through: boolean, when: When): readonly Reached[] {
    const found = new Map([[start.path, start]]);
    let last = [start];
    // No path leads through more links than there are; a link that leads below itself would never end.
    for (let hops = 0; hops < this.#links.size && last.length > 0; hops += 1) {
      const next = last.flatMap((each) => [...this.#next(each, through, when)]);
      last = next.filter(({ path }) => !found.has(path)).slice(0, PATHS_MAX - found.size);
      for (const each of last) found.set(each.path, each);
    }
    return [...found.values()];
  }

  *#next({ path: name, glob }: Reached, through: boolean, when: When): Generator<Reached> {
    const path = this.#whole(name);
    if (path.length > PATH_CHARS_MAX) return;
    for (const [links, rest] of glob ? this.#matched(path) : this.#passed(path)) {
      if (rest === '' && !through) continue;
      for (const link of links)
        if (isThere(link, when))
          yield { path: shortPath(link.target + rest), glob: glob && hasWildcard(rest) };
    }
  }

  /** The links on the way to a path, and what follows each. */
  *#passed(path: string): Generator<[links: readonly Known[], rest: string]> {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
      yield [this.#links.get(path.slice(0, end)) ?? [], path.slice(end)];
  }

  /** The links that a pattern may match by one of their names. */
  *#matched(pattern: string): Generator<[links: readonly Known[], rest: string]> {
    const names = pattern.split('/');
    const fixed = pattern.replace(/[*?].*$/s, '');
    for (const [name, links] of this.#links) {
      // Most are told apart by their beginning.
      if (!name.startsWith(fixed) && !fixed.startsWith(name)) continue;
      const depth = name.split('/').length;
      const front = names.slice(0, depth).join('/');
      if (names.length >= depth && globMatches(front, name)) yield [links, pattern.slice(front.length)];
      // No shell descends further behind a link that `**` has matched.
      else if (globMatches(pattern, name)) yield [links, ''];
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
