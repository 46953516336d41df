import { GIT_TAKES_WORD } from '../../command-analysis/git-options.ts';
import type { Permission } from '../../runtime/access.ts';

/** Options of `git push` that consume the next word. */
const PUSH_TAKES = new Set(['-o', '--push-option', '--receive-pack', '--exec', '--repo']);
const GIT_TAKES: ReadonlySet<string> = new Set(GIT_TAKES_WORD);

const MAIN = /^(?:refs\/heads\/)?(?:main|master)$/;
const ALL = new Set(['--all', '--mirror', '--branches']);

/**
 * The permission that a command needs, in the words of profiles: pushes have permissions of their own,
 * everything else is `execute`. A plain push destroys nothing and so is no finding; the agent's profile
 * decides whether it may push. `branch` is the checked-out branch, for a push that does not say what it
 * pushes; if it is unknown, the widest permission applies: `git_push`.
 */
export function permissionOfCommand(words: readonly string[], branch?: string): Permission {
  const args = afterGit(words);
  if (args?.[0] !== 'push') return 'execute';
  const forced = isForced(args) ? '_force' : '';
  const targets = targetsOf(args, branch);
  if (targets === undefined) return forced === '' ? 'git_push' : 'git_push_force';
  if (targets.some((target) => MAIN.test(target))) return `git_push${forced}_main`;
  return forced === '' ? 'git_push_branch' : 'git_push_force';
}

/** The subcommand and what follows it; undefined for what is not git. */
function afterGit(words: readonly string[]): readonly string[] | undefined {
  const [program = '', ...rest] = words;
  if (program.slice(program.lastIndexOf('/') + 1) !== 'git') return undefined;
  let index = 0;
  while (rest[index]?.startsWith('-') === true) index += GIT_TAKES.has(rest[index] ?? '') ? 2 : 1;
  return rest.slice(index);
}

function isForced(args: readonly string[]): boolean {
  return args.some((arg) => /^(?:--force|-\w*f|\+)/.test(arg) || arg === '--mirror');
}

/** The target branches; undefined if the command does not say. */
function targetsOf([, ...args]: readonly string[], branch: string | undefined): string[] | undefined {
  if (args.some((arg) => ALL.has(arg))) return ['main'];
  const words: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (PUSH_TAKES.has(arg)) index += 1;
    else if (!arg.startsWith('-')) words.push(arg);
  }
  const refs = words.slice(1);
  if (refs.length === 0) return branch === undefined ? undefined : [branch];
  const targets = refs.map((ref) => target(ref.replace(/^\+/, ''), branch));
  return targets.every((each) => each !== undefined) ? targets : undefined;
}

function target(ref: string, branch: string | undefined): string | undefined {
  const colon = ref.indexOf(':');
  const name = colon === -1 ? ref : ref.slice(colon + 1);
  return name === 'HEAD' || name === '@' || name === '' ? branch : name;
}
