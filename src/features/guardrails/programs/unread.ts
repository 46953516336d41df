import type { Opaque } from '../../../command-analysis/shell/reading.ts';
import type { Printer } from '../../../command-analysis/shell/word.ts';
import { type Check, type Hit, readOptions, theme } from '../pattern.ts';

const PATTERNS = {
  'download-run': {
    category: 'unread_code',
    operation: 'run_downloaded_code',
    reason: 'A program that nobody here has read would run as you.',
    instead: 'Save it to a file, read it, then run it.',
  },
  'remote-shell': {
    category: 'unread_code',
    operation: 'open_remote_shell',
    reason: 'Somebody on another machine could run anything here.',
  },
  'command-unknown': {
    category: 'unresolved',
    operation: 'unresolved_command',
    reason: 'What would run is only known while it runs.',
    instead: 'Write the command out.',
  },
  'script-unknown': {
    category: 'unresolved',
    operation: 'unresolved_script',
    reason: 'What a shell would be given to run is only known while it runs.',
    instead: 'Write the commands out, or into a file that can be read.',
  },
  'command-unreadable': {
    category: 'unresolved',
    operation: 'unreadable_command',
    reason: 'No shell reads this as it stands, so nobody can tell what would run.',
    instead: 'Mend the quotes and brackets.',
  },
  'check-exhausted': {
    category: 'unresolved',
    operation: 'check_exhausted',
    reason: 'The command is longer, or deeper inside itself, than is looked at.',
    instead: 'Run it in smaller parts.',
  },
  'fork-bomb': {
    category: 'infrastructure',
    operation: 'fork_bomb',
    reason: 'It starts itself until nothing else can run on the machine.',
  },
} as const;

export type UnreadId = keyof typeof PATTERNS;

const DOWNLOADS =
  /^(?:curl|wget|wget2|aria2c|axel|fetch|http|https|xh|httpie|lynx|links|nc|ncat|netcat|socat|ftp|tftp|iwr|irm|invoke-webrequest|invoke-restmethod|gsutil|s3cmd)$/i;
/** They pass on a file of this machine as it is: like running the file. */
const READS_FILES = /^(?:cat|bat|envsubst|cd|test|\[|true|set|export)$/;
/** Programs whose output is made to be run by a shell. */
const PRINTS_SETTINGS =
  /^(?:ssh-agent|gpg-agent|keychain|direnv|brew|fnm|pyenv|rbenv|nodenv|jenv|goenv|mise|rtx|asdf|starship|zoxide|opam|conda|mamba|micromamba|dircolors|minikube|docker-machine|luarocks|thefuck|register-python-argcomplete|resize|tset|locale|atuin|oh-my-posh|fzf|cox|lesspipe|fasd|autojump|broot|navi|mcfly|nix|devbox|guix|spack|modulecmd|lmod|ng|pip|npm|podman)$/;
const SETTINGS_VERB =
  /^(?:completions?|init|shellenv|env|hook|activate|docker-env|podman-env|export-credentials|shell-hook|shell\.\w+|generate-shell-completion|--completion|--completions|printenv|--export|alias|showenv|show-environment)$/;

function isSettings({ name, args }: Printer): boolean {
  return PRINTS_SETTINGS.test(name) || args.some(({ text }) => SETTINGS_VERB.test(text));
}

const isDownload = ({ name, args }: Printer): boolean =>
  DOWNLOADS.test(name) || (name === 'gh' && /^(?:api|gist|release)$/.test(args[0]?.text ?? ''));

/** What the reader could not follow. */
export function judgeOpaque({ kind, source, from }: Opaque, hit: Hit<UnreadId>): void {
  const matched = source;
  if (kind === 'limit') hit('check-exhausted', { matched });
  else if (kind === 'bomb') hit('fork-bomb', { matched });
  else if (kind === 'unreadable') hit('command-unreadable', { matched });
  else if (from.some(isDownload))
    hit('download-run', { matched: [...from.map(({ name }) => name), '…'].join(' | ') });
  else if (kind !== 'input' || from.length > 0) {
    const known =
      from.length > 0 &&
      from.every((each) => READS_FILES.test(each.name) || isSettings(each) || each.name === '');
    if (!known) hit(kind === 'command' ? 'command-unknown' : 'script-unknown', { matched });
  }
}

const remote = /^(?:https?:\/\/|git\+https?:|ftp:\/\/|github:|gitlab:|gist:)/i;

/** Runners that download a program by its address. */
const byAddress: Check<UnreadId> = (run, hit) => {
  const { operands } = readOptions(run.args, '', { takes: '-p --package -c --call' });
  if (operands.slice(0, 2).some(({ text }) => remote.test(text))) hit('download-run');
};

export const unread = theme(PATTERNS, {
  'npx bunx pnpx': byAddress,
  'pnpm yarn npm bun': (run, hit) => {
    if (
      /^(?:dlx|exec|x)$/.test(run.texts[0] ?? '') &&
      run.texts.slice(1, 3).some((text) => remote.test(text))
    )
      hit('download-run');
  },
  deno: (run, hit) => {
    if (
      /^(?:run|eval|install|serve)$/.test(run.texts[0] ?? '') &&
      run.texts.some((text) => remote.test(text) && !/^https:\/\/(?:deno\.land\/std|jsr\.io)/.test(text))
    )
      hit('download-run');
  },
  'nc ncat netcat': (run, hit) => {
    const { has } = readOptions(run.args, '--exec --sh-exec', { takes: '-p -s -w -i -q -x -X' });
    if (has('-e', '-c', '--exec', '--sh-exec')) hit('remote-shell');
  },
  socat: (run, hit) => {
    if (
      run.texts.some((text) => /^(?:exec|system|shell):/i.test(text)) &&
      run.texts.some((text) => /^(?:tcp|udp|ssl|openssl)/i.test(text))
    )
      hit('remote-shell');
  },
  'bash sh zsh dash ksh': (run, hit) => {
    if (run.command.outputs.some(({ text }) => /^\/dev\/(?:tcp|udp)\//.test(text))) hit('remote-shell');
  },
  exec: (run, hit) => {
    if (run.command.outputs.some(({ text }) => /^\/dev\/(?:tcp|udp)\/(?!localhost|127\.)/.test(text)))
      hit('remote-shell');
  },
  'iex invoke-expression': (_run, hit) => hit('download-run'),
  'mshta regsvr32 rundll32': (run, hit) => {
    if (run.texts.some((text) => remote.test(text))) hit('download-run');
  },
});
