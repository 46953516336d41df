import { type Spot, shellQuoted, valueFlags } from './command-tree.ts';

/** For bash 3.2 and later; needs no other package. */
export function bashScript(spots: readonly Spot[]): string {
  const patterns = (words: readonly string[]) => words.map(shellQuoted).join('|');
  const deeper = spots.slice(1).map(({ at }) => at);
  const choices = spots.flatMap(({ at, flags }) =>
    flags
      .filter((flag) => flag.choices.length > 0)
      .map(
        (flag) => `    ${shellQuoted(`${at} ${flag.name}`)}) words=${shellQuoted(flag.choices.join(' '))} ;;`,
      ),
  );
  const offers = spots.map(({ at, commands, flags, values }) => {
    const words = [...commands.map(({ name }) => name), ...values];
    const names = flags.map(({ name }) => name);
    return `    ${shellQuoted(at)}) words=${shellQuoted(words.join(' '))}; flags=${shellQuoted(names.join(' '))} ;;`;
  });
  return `# cox completion for bash. Load it in ~/.bashrc:  source <(cox completion bash)
_cox() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev= at=cox words= flags= word i skip=
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    prev=$word
    if [[ -n $skip ]]; then skip=; continue; fi
    case "$at $word" in
    ${patterns(valueFlags(spots))}) skip=1 ;;
    ${patterns(deeper)}) at="$at $word" ;;
    esac
  done
  if [[ -n $skip ]]; then
    case "$at $prev" in
${choices.join('\n')}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  case $at in
${offers.join('\n')}
  esac
  if [[ $cur == -* ]]; then words=$flags; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _cox cox
`;
}
