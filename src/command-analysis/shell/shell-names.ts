import { gitConfigured, gitMeaning } from './git-names.ts';
import { parseOptions } from './program-options.ts';
import { textInFront } from './quote.ts';
import { baseName, isKnown, type Word } from './word.ts';
import type { World } from './world.ts';
import type { Inner } from './wrap.ts';

const NAMES_MAX = 100;

/**
 * What the command line itself has given another name: aliases of the shell and of git, copies of programs and links to
 * them.
 */
export class Names {
  readonly #texts = new Map<string, string>();
  readonly #git = new Map<string, string>();

  /** Takes note of a command that gives names. Answers what its names would run at once, where they stay for later. */
  learn(words: readonly Word[]): Inner[] {
    const name = baseName(words[0]?.text ?? '');
    if (this.#texts.size + this.#git.size > NAMES_MAX) return [];
    switch (name) {
      case 'alias':
        for (const { text } of words.slice(1)) {
          const equals = text.indexOf('=');
          if (equals > 0) this.#texts.set(text.slice(0, equals), text.slice(equals + 1));
        }
        return [];
      case 'hash':
        if (words[1]?.text === '-p') this.#texts.set(words[3]?.text ?? '', words[2]?.text ?? '');
        return [];
      case 'ln':
      case 'cp':
      case 'install':
        this.#copied(words);
        return [];
      case 'git':
        return gitConfigured(words).map(({ alias, text }) => {
          this.#git.set(alias, text);
          // An alias outlives the command line: what it would run counts when it is made.
          return text.startsWith('!') ? { script: text.slice(1) } : textInFront(`git ${text}`, []);
        });
      default:
        return [];
    }
  }

  /** A program of the system under another name: `cp /bin/rm /tmp/x`. */
  #copied(words: readonly Word[]): void {
    const [source, target, more] = parseOptions(words.slice(1)).operands;
    if (more !== undefined || !isKnown(source) || !isKnown(target)) return;
    if (/^(?:\/usr)?(?:\/local)?\/s?bin\//.test(source.text)) {
      const called = target.text.endsWith('/') ? source.text : target.text;
      if (baseName(called) !== baseName(source.text)) this.#texts.set(baseName(called), source.text);
    }
  }

  /** What a command means where its name is one of those. */
  meaning(words: readonly Word[], world: World): Inner | undefined {
    const [first] = words;
    const text = this.#texts.get(first?.text ?? '') ?? this.#texts.get(baseName(first?.text ?? ''));
    if (text !== undefined) return textInFront(text, words.slice(1));
    if (baseName(first?.text ?? '') !== 'git') return undefined;
    return gitMeaning(words, this.#git, world);
  }
}
