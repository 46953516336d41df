import { GIT_GLOBAL } from './git-names.ts';
import { afterOptions } from './program-options.ts';
import type { Reading } from './reading.ts';
import { GROUP, type SimpleCommand } from './shell-command.ts';
import type { Touched } from './shell-findings.ts';

/** Programs and builtins that write to no file but those that their writers name (`sort -o`, `sed -i`, `find -delete`). */
const READERS = new Set(
  [
    'ls cat bat head tail wc grep egrep fgrep rg ag ack find fd tree du df stat file pwd echo printf date sleep',
    'timeout which type whereis whatis man command hash basename dirname realpath readlink env printenv id whoami uname hostname',
    'nproc uptime free ps pgrep lsof ss netstat groups tty locale test [ [[ true false : cd pushd popd dirs set shopt',
    'export unset local declare typeset readonly read return exit break continue shift wait jobs kill trap ulimit umask',
    'sort uniq cut tr sed awk gawk mawk jq yq diff cmp comm join paste column fold fmt nl tac rev less more xxd od',
    'hexdump strings md5sum sha1sum sha256sum sha512sum cksum base64 seq expr bc let history clear',
  ]
    .join(' ')
    .split(' '),
);

/** Of git: what changes no file of the work tree. Commits and pushes run hooks, which may. */
const GIT_READERS = new Set(
  [
    'status log diff show blame annotate grep ls-files ls-tree ls-remote rev-parse rev-list branch remote tag describe',
    'shortlog cat-file reflog config fetch add merge-base name-rev for-each-ref count-objects check-ignore check-attr',
    'show-ref symbolic-ref whatchanged version help var cherry range-diff diff-tree diff-index diff-files',
  ]
    .join(' ')
    .split(' '),
);

/** Whether it is known of every program of a command line that it writes to no file. */
export function readsOnly({ commands, unknown, opaque }: Reading, touched: Touched): boolean {
  const { writes, everywhere } = touched;
  if (unknown.length + opaque.length + writes.length + touched.unknown.length + everywhere.length > 0)
    return false;
  return commands.every((command) => command.elsewhere !== true && isReader(command));
}

function isReader({ name, program, args }: SimpleCommand): boolean {
  if (name === '' || name === GROUP) return true;
  // `./test` is a file of the project's.
  if (program.includes('/') && !/^(?:\/usr)?(?:\/local)?\/bin\/[^/]+$/.test(program)) return false;
  if (name !== 'git') return READERS.has(name);
  return GIT_READERS.has(args[afterOptions(args, 0, GIT_GLOBAL)]?.text ?? '');
}
