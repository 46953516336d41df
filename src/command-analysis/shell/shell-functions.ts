import type { SyntaxNode } from 'unbash';
import type { Word } from './word.ts';

/** What a name may mean: a function's body, or undefined where it is no function's and means a program. */
export type Meaning = SyntaxNode | undefined;

const NO_FUNCTION: readonly Meaning[] = [undefined];
const ALL = '*';

/** The functions of a shell. A name has several meanings if it is unknown which of its definitions is run. */
export class Functions {
  #meanings = new Map<string, Meaning[]>();
  /** Those that a shell inside this one knows as well; false: perhaps. */
  readonly #exported = new Map<string, boolean>();

  define(name: string, body: SyntaxNode, sure: boolean): void {
    const before = sure ? undefined : (this.#meanings.get(name) ?? [undefined]);
    if (before === undefined) this.#meanings.set(name, [body]);
    else {
      before.push(body);
      this.#meanings.set(name, before);
    }
  }

  called(name: string): readonly Meaning[] {
    return this.#meanings.get(name) ?? NO_FUNCTION;
  }

  /** Takes note of `export -f`, `unset -f` and `set -a`. */
  note(words: readonly Word[], sure: boolean): void {
    const [command, ...args] = words.map(({ text }) => text);
    const options = args.filter((text) => /^-[a-zA-Z]/.test(text)).join('');
    const names = args.filter((text) => !text.startsWith('-'));
    if (command === 'unset') for (const name of names) this.#unset(name, sure && options.includes('f'));
    else if (command === 'set' && (options.includes('a') || names.includes('allexport')))
      this.#export(ALL, sure);
    else if (options.includes('f') && (command === 'export' || options.includes('x')))
      for (const name of names) this.#export(name, sure);
  }

  #unset(name: string, sure: boolean): void {
    if (sure) this.#meanings.delete(name);
    else this.#meanings.get(name)?.push(undefined);
  }

  #export(name: string, sure: boolean): void {
    this.#exported.set(name, sure || this.#exported.get(name) === true);
  }

  /** In a shell of its own, which forgets what it defines when it ends. */
  inProcess<T>(run: () => T): T {
    const outside = this.#meanings;
    this.#meanings = new Map();
    for (const [name, meanings] of outside) {
      const sure = this.#exported.get(name) ?? this.#exported.get(ALL);
      if (sure !== undefined) this.#meanings.set(name, sure ? [...meanings] : [...meanings, undefined]);
    }
    const result = run();
    this.#meanings = outside;
    return result;
  }
}
