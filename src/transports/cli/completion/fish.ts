import { type Spot, valueFlags } from './command-tree.ts';

/** In fish a backslash escapes within single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

export function fishScript(spots: readonly Spot[]): string {
  const lines = spots.flatMap(({ at, commands, flags, values }) => {
    const here = `complete -c cox -n ${quoted(`test "$(__cox_at)" = ${quoted(at)}`)}`;
    return [
      // Complete file names only where no fixed word is expected.
      ...(commands.length + values.length > 0 ? [`${here} -f`] : []),
      ...commands.map(({ name, summary }) => `${here} -a ${quoted(name)} -d ${quoted(summary)}`),
      ...values.map((value) => `${here} -a ${quoted(value)}`),
      ...flags.map(({ name, takesValue, choices, summary }) => {
        const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : '';
        return `${here} -l ${quoted(name.slice(2))}${value} -d ${quoted(summary)}`;
      }),
    ];
  });
  const cases = (words: readonly string[]) => words.map(quoted).join(' ');
  const deeper = spots.slice(1).map(({ at }) => at);
  return `# cox completion for fish. Save it as ~/.config/fish/completions/cox.fish:  cox completion fish > …
function __cox_at
  set -l at cox
  set -l skip 0
  set -l words (commandline -opc)
  for word in $words[2..-1]
    if test $skip = 1
      set skip 0
      continue
    end
    switch "$at $word"
      case ${cases(valueFlags(spots))}
        set skip 1
      case ${cases(deeper)}
        set at "$at $word"
    end
  end
  echo $at
end
${lines.join('\n')}
`;
}
