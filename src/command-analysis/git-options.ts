/** Options of git itself that take the next word. */
export const GIT_TAKES_WORD: readonly string[] = [
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--exec-path',
  '--config-env',
  '--super-prefix',
  '--attr-source',
];

/**
 * Git commands that leave the branch as it is. Any other may be an alias, or a separate program: its meaning
 * is in files that are not read here, so it may switch to any branch (`git co main`).
 */
export const GIT_STAYS: ReadonlySet<string> = new Set(
  [
    'add am annotate apply archive blame bundle cat-file check-attr check-ignore check-mailmap check-ref-format',
    'cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects credential describe',
    'diagnose diff diff-files diff-index diff-tree difftool fast-export fetch fetch-pack fmt-merge-msg for-each-ref',
    'for-each-repo format-patch fsck gc get-tar-commit-id grep hash-object help hook index-pack init',
    'interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo maintenance merge merge-base merge-file merge-tree',
    'mergetool mktag mktree multi-pack-index mv name-rev notes pack-objects pack-refs patch-id prune prune-packed',
    'pull push range-diff read-tree reflog refs remote repack replace request-pull rerere reset restore rev-list',
    'rev-parse revert rm send-email send-pack shortlog show show-branch show-index show-ref sparse-checkout status',
    'stripspace submodule tag unpack-objects update-index update-server-info var verify-commit verify-pack verify-tag',
    'version whatchanged worktree write-tree',
  ].flatMap((verbs) => verbs.split(' ')),
);
