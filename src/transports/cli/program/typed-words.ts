import type { Option } from 'commander';

/** Where on a command line the words before `--` stand that are neither a flag nor a flag's value, and where that `--` stands. */
export function typedWords(
  argv: readonly string[],
  options: readonly Option[],
): { at: readonly number[]; dashes: number } {
  const at: number[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') return { at, dashes: index };
    if (!word.startsWith('-')) at.push(index);
    // The next one is its value, whatever it looks like; after an equals sign it stands there already.
    else if (options.some(({ long, required }) => required && long === word)) index += 1;
  }
  return { at, dashes: -1 };
}
