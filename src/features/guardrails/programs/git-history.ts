import { type Hit, readOptions, theme } from '../pattern.ts';
import { type GitCommand, gitOf } from './git-command.ts';

const PATTERNS = {
  'git-branch-delete': {
    category: 'branch_deletion',
    operation: 'delete_branch',
    reason: 'The branch is deleted with commits that may be nowhere else.',
    instead: 'Delete with `git branch -d`, which refuses while something is unmerged.',
  },
  'git-branch-force': {
    category: 'history_rewrite',
    operation: 'move_main_branch',
    reason: 'The main branch is set to another commit; what it had may be on no branch any more.',
    instead: 'Make a new branch at that commit.',
  },
  'git-filter': {
    category: 'history_rewrite',
    operation: 'rewrite_history',
    reason: 'Every commit is written anew; all other clones and branches no longer fit.',
    instead: 'Ask a person; this needs everybody to clone again.',
  },
  'git-reflog': {
    category: 'history_rewrite',
    operation: 'expire_reflog',
    reason: 'The reflog is what brings back lost commits.',
    instead: 'Leave it; git tidies up by itself after 90 days.',
  },
  'git-prune': {
    category: 'history_rewrite',
    operation: 'prune_objects',
    reason: 'Commits that no branch holds are deleted for good.',
    instead: 'Run `git gc` without --prune=now.',
  },
  'git-update-ref': {
    category: 'branch_deletion',
    operation: 'delete_ref',
    reason: 'A branch or tag is deleted without any check.',
    instead: 'Delete with `git branch -d`.',
  },
} as const;

type Id = keyof typeof PATTERNS;
type Verb = (git: GitCommand, hit: Hit<Id>) => void;

const MAIN = /^(?:refs\/heads\/)?(?:main|master|trunk)$/;

const branch: Verb = ({ rest }, hit) => {
  const options = readOptions(rest, '--delete --force --move --copy', {
    takes: '-u --set-upstream-to --contains --merged --no-merged --sort --format --points-at',
  });
  const force = options.has('-f', '--force');
  const main = options.operands.some(({ text }) => MAIN.test(text));
  const deletes = options.has('-D') || options.has('-d', '--delete');
  if (deletes && main) hit('git-branch-delete', { operation: 'delete_main_branch' });
  else if (options.has('-D') || (deletes && force)) {
    const listed = options.operands.some((word) => /reads$/.test(word.unknown ?? ''));
    hit('git-branch-delete', listed ? { operation: 'delete_many_branches' } : {});
  } else if (force && MAIN.test(options.operands[0]?.text ?? '')) hit('git-branch-force');
};

const gc: Verb = ({ rest, settings }, hit) => {
  const options = readOptions(rest, '--prune --aggressive');
  const now = options.values('--prune').some(({ text }) => /^(?:now|all)$/.test(text));
  const set = settings.some(
    ([key, value]) => /^gc\.(?:pruneexpire|reflogexpire\w*)$/.test(key) && /^(?:now|0)/.test(value),
  );
  if (now || set) hit('git-prune');
};

const VERBS: Readonly<Record<string, Verb>> = {
  branch,
  gc,
  'filter-branch': (_git, hit) => hit('git-filter'),
  'filter-repo': ({ rest }, hit) => {
    if (!readOptions(rest, '--analyze --dry-run').has('--analyze', '--dry-run')) hit('git-filter');
  },
  reflog: ({ rest }, hit) => {
    const options = readOptions(rest, '--dry-run');
    if (/^(?:expire|delete|drop)$/.test(rest[0]?.text ?? '') && !options.has('-n', '--dry-run'))
      hit('git-reflog');
  },
  prune: ({ rest }, hit) => {
    if (!readOptions(rest, '--dry-run').has('-n', '--dry-run')) hit('git-prune');
  },
  'update-ref': ({ rest }, hit) => {
    const options = readOptions(rest, '--stdin --no-deref', { takes: '-m' });
    const main = options.operands.some(({ text }) => MAIN.test(text));
    if (options.has('--stdin')) hit('git-update-ref');
    else if (options.has('-d')) hit('git-update-ref', main ? { operation: 'delete_main_branch' } : {});
    else if (main && options.operands.length > 1) hit('git-branch-force');
  },
  'symbolic-ref': ({ rest }, hit) => {
    if (readOptions(rest, '--delete').has('-d', '--delete')) hit('git-update-ref');
  },
};

export const gitHistory = theme(PATTERNS, {
  git: (run, hit) => {
    const git = gitOf(run);
    if (git !== undefined && Object.hasOwn(VERBS, git.verb)) VERBS[git.verb]?.(git, hit);
  },
  'git-filter-repo git-filter-branch bfg': (run, hit) => {
    if (!run.texts.includes('--analyze') && run.args.length > 0) hit('git-filter');
  },
  java: ({ texts }, hit) => {
    if (texts.some((text) => /(?:^|\/)bfg[\w.-]*\.jar$/.test(text))) hit('git-filter');
  },
  hg: ({ texts }, hit) => {
    if (/^(?:strip|rollback|histedit)$/.test(texts[0] ?? '')) hit('git-filter');
  },
});
