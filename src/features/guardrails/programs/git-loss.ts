import { literal, unknownWord, type Word } from '../../../command-analysis/shell/word.ts';
import { type Hit, type Run, readOptions, theme } from '../pattern.ts';
import { type GitCommand, gitOf, inGitFolder, looksLikePath, pathspec } from './git-command.ts';

const LOST = 'Uncommitted changes are lost; git keeps no copy of them.';
const COMMIT_FIRST = 'Commit or stash what is there first (`git stash push -u`).';

const PATTERNS = {
  'git-reset-hard': {
    category: 'git_force',
    operation: 'reset_hard',
    reason: LOST,
    instead: COMMIT_FIRST,
  },
  'git-clean': {
    category: 'git_force',
    operation: 'clean_untracked',
    reason: 'Untracked files are deleted; git has never seen them.',
    instead: 'Look with `git clean -n`, then remove single files.',
  },
  'git-discard': {
    category: 'git_force',
    operation: 'discard_changes',
    reason: LOST,
    instead: COMMIT_FIRST,
  },
  'git-stash-drop': {
    category: 'git_force',
    operation: 'drop_stash',
    reason: 'Stashed work is thrown away.',
    instead: 'Leave the stash; it costs nothing.',
  },
  'git-worktree-remove': {
    category: 'mass_deletion',
    operation: 'remove_worktree',
    reason: 'The worktree is removed with what is uncommitted in it.',
    instead: 'Remove it without --force: git refuses while there is something to lose.',
  },
  'git-no-verify': {
    category: 'git_force',
    operation: 'skip_hooks',
    reason: 'The hooks that check a commit are skipped.',
    instead: 'Commit without --no-verify and mend what the hooks complain about.',
  },
} as const;

type Id = keyof typeof PATTERNS;
type Verb = (git: GitCommand, hit: Hit<Id>, run: Run) => void;

/** Recreated by a command, or never reviewed: an agent's changes to them are no loss. */
const MADE_AGAIN =
  /(?:^|\/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Gemfile\.lock|composer\.lock|go\.sum|Podfile\.lock|flake\.lock)$|\.snap$/;

/** Each path that would lose its changes; git says later which of them have any. */
function discards(run: Run, paths: readonly Word[], hit: Hit<Id>): void {
  const lost = paths.filter((path) => !MADE_AGAIN.test(path.text));
  if (lost.length === 0) return;
  const removes = lost.map((path) => inGitFolder(run, pathspec(path)));
  hit('git-discard', { removes, how: 'tree', discards_in: workTree(run) });
}

function workTree(run: Run): Word {
  const isRedirected =
    ['GIT_DIR', 'GIT_WORK_TREE'].some((name) => run.command.variables.has(name)) ||
    run.texts.some((text) => /^--(?:git-dir|work-tree)(?:=|$)/.test(text));
  return isRedirected ? unknownWord('the work tree of git') : inGitFolder(run, literal('.'));
}

const reset: Verb = ({ rest }, hit, run) => {
  if (readOptions(rest, '--hard --merge --keep --soft --mixed').has('--hard', '--merge'))
    hit('git-reset-hard', { discards_in: workTree(run) });
};

const clean: Verb = ({ rest, settings }, hit, run) => {
  const options = readOptions(rest, '--force --dry-run --interactive --exclude', { takes: '-e --exclude' });
  if (options.has('-n', '--dry-run', '-i', '--interactive')) return;
  const loose = settings.some(
    ([key, value]) => key === 'clean.requireforce' && /^(?:false|0|no|off)$/i.test(value),
  );
  if (!options.has('-f', '--force') && !loose) return;
  // Without -x and -X only files are removed that git neither tracks nor ignores: nothing brings those back.
  const removes = options.operands.length > 0 ? options.operands : [literal('.')];
  hit(
    'git-clean',
    options.operands.length > 0
      ? { removes: removes.map((path) => inGitFolder(run, path)), how: 'tree', discards_in: workTree(run) }
      : { discards_in: workTree(run) },
  );
};

const checkout: Verb = ({ rest }, hit, run) => {
  const options = readOptions(rest, '--force --ours --theirs --orphan --detach', {
    takes: '-b -B --orphan --conflict --pathspec-from-file',
  });
  const creates = options.has('-b', '-B', '--orphan');
  if (options.has('-f', '--force'))
    hit('git-discard', { matched: 'git checkout --force', discards_in: workTree(run) });
  else if (options.has('--pathspec-from-file')) hit('git-discard', { discards_in: workTree(run) });
  else if (options.afterDashes !== undefined) discards(run, options.afterDashes, hit);
  else if (!creates) {
    const [first, ...rest] = options.operands;
    // Without `--` the first word may be a branch; one that ends like a file name is not.
    const paths = first !== undefined && looksLikePath(first) ? options.operands : rest;
    discards(run, paths, hit);
  }
};

const restore: Verb = ({ rest }, hit, run) => {
  const options = readOptions(rest, '--staged --worktree --source', {
    takes: '-s --source --pathspec-from-file --conflict',
  });
  if (options.has('--staged', '-S') && !options.has('--worktree', '-W')) return;
  // Which paths is in a file.
  if (options.has('--pathspec-from-file')) hit('git-discard', { discards_in: workTree(run) });
  else discards(run, options.operands, hit);
};

const stash: Verb = ({ rest }, hit) => {
  if (/^(?:drop|clear)$/.test(rest[0]?.text ?? '')) hit('git-stash-drop');
};

const remove: Verb = ({ rest }, hit, run) => {
  const options = readOptions(rest, '--force --cached --dry-run');
  if (!options.has('-f', '--force') || options.has('--cached', '-n', '--dry-run')) return;
  discards(run, options.operands, hit);
};

const worktree: Verb = ({ rest }, hit) => {
  if (rest[0]?.text === 'remove' && readOptions(rest, '--force').has('-f', '--force'))
    hit('git-worktree-remove');
};

const commit: Verb = ({ rest }, hit) => {
  const options = readOptions(rest, '--no-verify', {
    takes:
      '-m --message -F --file -C -c --author --date -t --template --fixup --squash --cleanup --trailer --pathspec-from-file',
  });
  if (options.has('-n', '--no-verify')) hit('git-no-verify');
};

const VERBS: Readonly<Record<string, Verb>> = {
  reset,
  clean,
  checkout,
  restore,
  stash,
  worktree,
  commit,
  rm: remove,
  switch: ({ rest }, hit) => {
    const options = readOptions(rest, '--force --discard-changes --force-create', {
      takes: '-c -C --create --orphan',
    });
    if (options.has('-f', '--force', '--discard-changes')) hit('git-discard');
  },
  merge: ({ rest }, hit) => {
    if (readOptions(rest, '--no-verify', { takes: '-m -s -X -F' }).has('--no-verify')) hit('git-no-verify');
  },
  'read-tree': ({ rest }, hit) => {
    if (readOptions(rest, '--reset').has('--reset')) hit('git-discard');
  },
  'checkout-index': ({ rest }, hit) => {
    if (readOptions(rest, '--force --all').has('-f', '--force')) hit('git-discard');
  },
  submodule: ({ rest }, hit) => {
    const options = readOptions(rest, '--force');
    if (/^deinit$/.test(options.operands[0]?.text ?? '') && options.has('-f', '--force')) hit('git-discard');
  },
};

export const gitLoss = theme(PATTERNS, {
  git: (run, hit) => {
    const git = gitOf(run);
    if (git !== undefined && Object.hasOwn(VERBS, git.verb)) VERBS[git.verb]?.(git, hit, run);
  },
});
