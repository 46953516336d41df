/** Settings of git that name a program which git starts by itself from then on. In lower case. */
const RUNS =
  /^(?:core\.(?:fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand)|sequence\.editor|pager\..+|diff\.external|diff\..+\.(?:command|textconv)|merge\..+\.driver|(?:merge|diff)tool\..+\.cmd|filter\..+\.(?:clean|smudge|process)|credential\.(?:.+\.)?helper|gpg\.(?:.+\.)?program|interactive\.difffilter|sendemail\..*cmd|trailer\..+\.(?:command|cmd)|(?:browser|man)\..+\.cmd|hook\..+\.command|remote\..+\.(?:uploadpack|receivepack|vcs)|uploadpack\.packobjectshook)$/;
/** These hand everything to another file or folder, in which anything may stand. */
const HANDS_ON = /^(?:include\.path|includeif\..+\.path|init\.templatedir|protocol\.ext\.allow)$/;
const HOOKS = 'core.hookspath';

/** Programs of everyday use, with plain options: no path, no shell, nothing that takes a command. */
const KNOWN =
  /^(?:true|false|yes|no|on|off|0|1|:|cat|less|more|most|bat|delta|diff-so-fancy|difft|vi|vim|nvim|nano|pico|emacs|emacsclient|ed|micro|hx|kak|code|codium|cursor|subl|mate|idea|zed|gpg2?|ssh|store|cache|osxkeychain|manager(?:-core)?|wincred|libsecret|meld|vimdiff|opendiff|kdiff3|git-lfs)?(?:\s+(?:-[\w-]+|--[\w-]+=[\w.,+-]*|[\w.@%~/-]+))*$/;
const TAKES_COMMAND = /proxycommand|localcommand|\s-f\b|--cmd|--eval|\s-c\b/i;
/** As the makers of these services say. */
const LOGIN = /^!(?:[\w/.-]*\/)?(?:gh auth git-credential|aws codecommit credential-helper \$@)$/;

export type SettingDanger = 'hooks-off' | 'git-program';

/** What is dangerous about giving a setting this value; undefined: the value is unknown. */
export function settingDanger(name: string, value: string | undefined): SettingDanger | undefined {
  const key = name.toLowerCase();
  if (key === HOOKS) return 'hooks-off';
  if (HANDS_ON.test(key)) return 'git-program';
  // Only with `!` it is a program.
  if (/^alias\.|^submodule\..+\.update$/.test(key))
    return value === undefined || value.trimStart().startsWith('!') ? 'git-program' : undefined;
  if (!RUNS.test(key)) return undefined;
  if (value === undefined) return 'git-program';
  const isKnown = (KNOWN.test(value.trim()) && !TAKES_COMMAND.test(value)) || LOGIN.test(value.trim());
  return isKnown ? undefined : 'git-program';
}

/** What is dangerous about taking a setting, or a whole section of them, away. */
export function unsettingDanger(name: string): SettingDanger | undefined {
  return [HOOKS, 'core'].includes(name.toLowerCase()) ? 'hooks-off' : undefined;
}
