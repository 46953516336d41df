import type { Option } from 'commander';

/**
 * The positions of the words before `--` that are neither a flag nor a flag's value, and the position of that
 * `--`.
 */
export function typedWords(
  argv: readonly string[],
  options: readonly Option[],
): { at: readonly number[]; dashes: number } {
  const at: number[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') return { at, dashes: index };
    if (!word.startsWith('-')) at.push(index);
    // The next word is its value, whatever it looks like; with an equals sign the value is already in this
    // word.
    else if (options.some(({ long, required }) => required && long === word)) index += 1;
  }
  return { at, dashes: -1 };
}
