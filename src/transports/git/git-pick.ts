import { GIT_TAKES_WORD } from '../../command-analysis/git-options.ts';
import { type Machine, thisMachine } from '../shared/ancestors.ts';

const PICKS: ReadonlySet<string> = new Set(['cherry-pick', 'revert']);
/** From us up to git: the shell of the hook, and perhaps one around it. */
const SHELLS_MAX = 4;
const TAKES_WORD: ReadonlySet<string> = new Set(GIT_TAKES_WORD);

/**
 * Is the commit whose hook we are made by `git cherry-pick` or `git revert`? They run no pre-commit. Only the
 * process tells: a clean revert leaves no trace in git's folder, and the trace of a stopped pick is also
 * there when a person ends it with `git commit --no-verify`.
 */
export function isPick({ read, words, from }: Machine = thisMachine()): boolean {
  let pid = from;
  for (let hops = 0; hops <= SHELLS_MAX && pid > 1; hops += 1) {
    const parent = read(pid)?.parent;
    if (parent === undefined) return false;
    const verb = gitVerb(words(pid) ?? []);
    // With an editor, they start a `git commit` that makes the commit.
    if (verb !== undefined) return PICKS.has(verb === 'commit' ? (gitVerb(words(parent) ?? []) ?? '') : verb);
    pid = parent;
  }
  return false;
}

/** The new base that the `git rebase` above us was given by `--onto`: git tells its hook only the upstream. */
export function ontoOfRebase({ read, words, from }: Machine = thisMachine()): string | undefined {
  let pid = from;
  for (let hops = 0; hops <= SHELLS_MAX && pid > 1; hops += 1) {
    const own = words(pid) ?? [];
    if (gitVerb(own) === 'rebase') {
      const at = own.findIndex((word) => /^--onto(?:=|$)/.test(word));
      return at === -1 ? undefined : own[at] === '--onto' ? own[at + 1] : own[at]?.slice('--onto='.length);
    }
    pid = read(pid)?.parent ?? 0;
  }
  return undefined;
}

/** `cherry-pick` of `git -C there cherry-pick x`; undefined: it is not git. */
function gitVerb([program = '', ...words]: readonly string[]): string | undefined {
  const name = program.slice(program.lastIndexOf('/') + 1).replace(/\.exe$/, '');
  if (name.startsWith('git-')) return name.slice('git-'.length);
  if (name !== 'git') return undefined;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (!word.startsWith('-')) return word;
    if (TAKES_WORD.has(word)) index += 1;
  }
  return '';
}
