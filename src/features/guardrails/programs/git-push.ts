import { isKnown, type Word } from '../../../command-analysis/shell/word.ts';
import { UNNAMED_PUSH } from '../../trust/index.ts';
import { type Detail, type Hit, type Run, readOptions, theme } from '../pattern.ts';
import { type GitCommand, gitOf } from './git-command.ts';

const PATTERNS = {
  'git-push-force': {
    category: 'git_force',
    operation: 'force_push',
    reason: 'A forced push replaces commits on the remote that others may have built on.',
    instead: 'Push a new branch, or merge the remote branch first.',
  },
  [UNNAMED_PUSH]: {
    category: 'git_force',
    operation: 'force_push',
    reason:
      'A forced push replaces commits on the remote that others may have built on. Where to is not said: it may be main.',
    instead: 'Push a new branch, or merge the remote branch first; name the branch.',
  },
  'git-push-lease': {
    category: 'git_force',
    operation: 'force_push_with_lease',
    reason: 'A forced push replaces the remote branch, unless somebody pushed to it since the last fetch.',
    instead: 'Push a new branch, or merge the remote branch first.',
  },
  'git-push-mirror': {
    category: 'git_force',
    operation: 'mirror_push',
    reason:
      'A mirror push overwrites every branch and tag of the remote and deletes those that are not here.',
    instead: 'Push the branches that are meant, by name.',
  },
  'git-push-prune': {
    category: 'branch_deletion',
    operation: 'prune_remote_branches',
    reason: 'Branches of the remote that are not here are deleted.',
    instead: 'Delete branches by name, after looking at them.',
  },
  'git-push-delete': {
    category: 'branch_deletion',
    operation: 'delete_branch',
    reason: 'The branch is deleted for everybody.',
    instead: 'Leave the branch until somebody has confirmed that it is merged.',
  },
  'git-push-deploy': {
    category: 'production_deployment',
    operation: 'deploy',
    reason: 'A push to this remote replaces what users see.',
    instead: 'Push to origin and let a person or the pipeline deploy.',
  },
  'git-push-no-verify': {
    category: 'git_force',
    operation: 'skip_hooks',
    reason: 'The hooks that check a push are skipped.',
    instead: 'Push without --no-verify and mend what the hooks complain about.',
  },
} as const;

type Id = keyof typeof PATTERNS;

/** Remotes that deploy what is pushed to them. */
const DEPLOYS =
  /^(?:heroku|dokku|production|prod|live|clever|piku|scalingo|acquia|platform|pantheon|wpengine)$/i;
const MAIN = /^(?:refs\/heads\/)?(?:main|master|trunk)$/;
const LONGS =
  '--force --force-with-lease --force-if-includes --delete --mirror --prune --dry-run --no-verify --all --tags';

interface Refspec {
  readonly plus: boolean;
  readonly source: string;
  readonly target: string;
  /** Only known to the running shell. */
  readonly isUnknown: boolean;
}

function refspecOf(word: Word): Refspec {
  const { text } = word;
  const isUnknown = !isKnown(word) && !isCurrent(word);
  const plus = text.startsWith('+');
  const bare = plus ? text.slice(1) : text;
  const colon = bare.indexOf(':');
  return colon === -1
    ? { plus, source: bare, target: bare, isUnknown }
    : { plus, source: bare.slice(0, colon), target: bare.slice(colon + 1), isUnknown };
}

const ofMain = (refs: readonly Refspec[], operation: string): Detail =>
  refs.some(({ target }) => MAIN.test(target)) ? { operation } : {};

/** The checked-out branch, under any of its names. */
const CURRENT = /^(?:HEAD|@)?$/;
const SAYS_CURRENT =
  /^\$\(git (?:branch --show-current|rev-parse --abbrev-ref (?:HEAD|@)|symbolic-ref (?:-q )?--short (?:-q )?HEAD)\)$/;

/** `"$(git branch --show-current)"` and nothing around it. */
export function isCurrent({ unknown = '', source }: Word): boolean {
  return source === unknown && SAYS_CURRENT.test(unknown);
}

interface Aim {
  /** Would main be replaced? Undefined: unknown. */
  readonly isMain: boolean | undefined;
  /** The checked-out branch, where it was looked up. */
  readonly branch?: string | undefined;
}

/** A push without a target goes where the checked-out branch goes, if that is known. */
function aimOf(refs: readonly Refspec[], isEvery: boolean, run: Run): Aim {
  if (isEvery || refs.some(({ target }) => MAIN.test(target))) return { isMain: true };
  if (refs.some(({ isUnknown }) => isUnknown)) return { isMain: undefined };
  if (refs.length > 0 && !refs.some(({ target }) => CURRENT.test(target))) return { isMain: false };
  const branches = run.branches();
  return { isMain: branches?.some((branch) => MAIN.test(branch)), branch: branches?.join(', ') };
}

function forcedOver({ isMain, branch }: Aim, hit: Hit<Id>): void {
  if (isMain === undefined) hit(UNNAMED_PUSH);
  else hit('git-push-force', isMain ? { operation: 'force_push_main', branch } : { branch });
}

function leasedOver({ isMain, branch }: Aim, hit: Hit<Id>): void {
  hit('git-push-lease', isMain === false ? { branch } : { operation: 'force_push_main', branch });
}

/** What the setting makes every later push do. */
function configured({ rest }: GitCommand, hit: Hit<Id>): void {
  const at = rest.findIndex(({ text }) => /^remote\..*\.(?:push|mirror)$/.test(text));
  const [key, value] = [rest[at]?.text ?? '', rest[at + 1]?.text ?? ''];
  if (key.endsWith('.push') && value.startsWith('+')) hit('git-push-force');
  else if (key.endsWith('.mirror') && value === 'true') hit('git-push-mirror');
}

function push(run: Run, hit: Hit<Id>): void {
  const git = gitOf(run);
  if (git === undefined) return;
  if (git.verb === 'config') configured(git, hit);
  if (!/^(?:push|send-pack)$/.test(git.verb)) return;
  const options = readOptions(git.rest, LONGS, {
    takes: '-o --push-option --receive-pack --exec --repo --recurse-submodules',
  });
  if (options.has('--dry-run', '-n')) return;
  const remote = options.has('--repo') ? 0 : 1;
  const refs = options.operands.slice(remote).map(refspecOf);
  const set = git.settings.some(([key, value]) => /^remote\..*\.push$/.test(key) && value.startsWith('+'));
  const forced = options.has('-f', '--force') || set || refs.some(({ plus }) => plus);
  const isEvery = options.has('--all', '--branches');
  if (forced) forcedOver(aimOf(refs, isEvery, run), hit);
  else if (options.has('--force-with-lease')) leasedOver(aimOf(refs, isEvery, run), hit);
  if (
    options.has('--mirror') ||
    git.settings.some(([key, value]) => /^remote\..*\.mirror$/.test(key) && value !== 'false')
  )
    hit('git-push-mirror');
  if (options.has('--prune')) hit('git-push-prune');
  const deleted = options.has('-d', '--delete')
    ? refs
    : refs.filter(({ source, target }) => source === '' && target !== '');
  if (deleted.length > 0)
    hit(
      'git-push-delete',
      listed(options.operands)
        ? { operation: 'delete_many_branches' }
        : ofMain(deleted, 'delete_main_branch'),
    );
  if (DEPLOYS.test(options.operands[0]?.text ?? '')) hit('git-push-deploy');
  if (options.has('--no-verify')) hit('git-push-no-verify');
}

/** Only the running shell knows which ones: main may be among them. */
function listed(operands: readonly Word[]): boolean {
  return operands.some((word) => !isKnown(word) && /reads$/.test(word.unknown ?? ''));
}

export const gitPush = theme(PATTERNS, { 'git hub': push });
