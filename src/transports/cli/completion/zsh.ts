import { type Spot, shellQuoted, valueFlags } from './command-tree.ts';

/** `name:what it is` as \`_describe\` reads it. */
function described(name: string, summary: string): string {
  return shellQuoted(`${name.replaceAll(':', '\\:')}:${summary}`);
}

export function zshScript(spots: readonly Spot[]): string {
  const patterns = (words: readonly string[]) => words.map(shellQuoted).join('|');
  const deeper = spots.slice(1).map(({ at }) => at);
  const choices = spots.flatMap(({ at, flags }) =>
    flags
      .filter((flag) => flag.choices.length > 0)
      .map((flag) => `      (${shellQuoted(`${at} ${flag.name}`)}) compadd -- ${flag.choices.join(' ')} ;;`),
  );
  const offers = spots.map(({ at, commands, flags, values }) => {
    const words = commands.map(({ name, summary }) => described(name, summary));
    const names = flags.map(({ name, summary }) => described(name, summary));
    return `    (${shellQuoted(at)})
      offered=(${[...words, ...values.map((value) => described(value, ''))].join(' ')})
      flags=(${names.join(' ')}) ;;`;
  });
  return `#compdef cox
# cox completion for zsh. Load it in ~/.zshrc, after compinit:  source <(cox completion zsh)
_cox() {
  local at=cox word skip=
  local -i i
  local -a offered flags
  for (( i = 2; i < CURRENT; i++ )); do
    word=\${words[i]}
    if [[ -n $skip ]]; then skip=; continue; fi
    case "$at $word" in
    (${patterns(valueFlags(spots))}) skip=$word ;;
    (${patterns(deeper)}) at="$at $word" ;;
    esac
  done
  if [[ -n $skip ]]; then
    case "$at $skip" in
${choices.join('\n')}
      (*) _files ;;
    esac
    return
  fi
  case $at in
${offers.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe -o option flags
  elif (( \${#offered} )); then
    _describe command offered
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _cox ]]; then _cox "$@"; else compdef _cox cox; fi
`;
}
