import { shellWord } from '../../kernel/shell-word.ts';
import type { LockPolicy } from '../shared/enforcement-policy.ts';

/** Identifies our own hooks. */
const MARK = '# coxswain-git-hook';
const MADE_FOLDER = `${MARK}: the folder was made for it`;

/** The hook that was there before is kept beside ours, with this suffix. */
export const KEPT = '.before-coxswain';

/**
 * Git runs pre-commit only for `git commit`. Merges, `git am`, rebases, and picks and reverts each have a hook of
 * their own.
 */
export const CHECKED_HOOKS = [
  'pre-commit',
  'pre-merge-commit',
  'pre-applypatch',
  'prepare-commit-msg',
  'pre-rebase',
  'pre-push',
] as const;

export type CheckedHook = (typeof CHECKED_HOOKS)[number];

/**
 * Hooks of `check-commit` for which git reports what is committed, and by which command, in a special way.
 */
export const TOLD_HOOKS = ['pre-merge-commit', 'prepare-commit-msg'] as const;

export type ToldHook = (typeof TOLD_HOOKS)[number];

/** Shell lines that avoid starting Node if there is nothing to check. */
const NOTHING_TO_ASK: Partial<Record<CheckedHook, string>> = {
  // A rebase repeats earlier commits, and was checked before it began.
  'pre-applypatch': `[ -f "$(git rev-parse --git-path rebase-apply/rebasing)" ] && exit 0\n`,
  // Git runs this hook for every commit, including those that pre-commit has checked or that skipped it.
  // Coxswain checks only what is left.
  'prepare-commit-msg': `maker=$({ tr '\\0' ' ' <"/proc/$PPID/cmdline" || ps -o args= -p "$PPID"; } 2>/dev/null)
case "\${GIT_REFLOG_ACTION-} $maker" in
  *cherry-pick*|*revert*) ;;
  *) exit 0 ;;
esac
`,
};

/** Hooks that ask another question than those of a commit, and the arguments that git gives them. */
const VERBS: Partial<Record<CheckedHook, readonly string[]>> = {
  'pre-push': ['check-push', 'remote'],
  'pre-rebase': ['check-rebase', 'upstream', 'branch'],
};

/** How a hook calls us: by absolute paths, independent of the user's PATH. */
export interface Program {
  readonly node: string;
  readonly cox: string;
  readonly locks: LockPolicy;
  readonly store?: string | undefined;
  readonly project?: string | undefined;
}

export interface HookPlan {
  readonly name: CheckedHook;
  readonly program: Program;
  /** Shell lines that run the earlier hook and return its exit code; `feed` passes it its input. */
  readonly before: (feed: string) => string;
  readonly madeFolder?: boolean;
}

export function isOurs(text: string): boolean {
  return text.includes(`\n${MARK}`);
}

export function madeFolder(text: string): boolean {
  return text.includes(`\n${MADE_FOLDER}\n`);
}

export function callsUs(text: string, program: Pick<Program, 'node' | 'cox'>): boolean {
  return text.includes(`\n${pathsOf(program)}\n`);
}

function pathsOf({ node, cox }: Pick<Program, 'node' | 'cox'>): string {
  return `node=${shellWord(node)}\ncox=${shellWord(cox)}`;
}

const READ_LINES = `lines=$(cat && printf x)\nlines=\${lines%x}\n`;

/** POSIX sh, as git runs it everywhere. Removing the Coxswain checkout must not block every commit. */
export function hookScript({ name, program, before, madeFolder = false }: HookPlan): string {
  const { locks, store, project } = program;
  const pushes = name === 'pre-push';
  const [verb = 'check-commit', ...given] = VERBS[name] ?? [];
  const words = ['git', verb, '--locks', locks];
  if (TOLD_HOOKS.some((told) => told === name)) words.push('--hook', name);
  if (store !== undefined) words.push('--store', store);
  if (project !== undefined) words.push('--project', project);
  const question = words.map(shellWord).join(' ');
  const kept = given.map((each, index) => `${each}=\${${index + 1}-}\n`).join('');
  const passed = given.length === 0 ? '' : ` -- ${given.map((each) => `"$${each}"`).join(' ')}`;
  const fed = 'printf %s "$lines" 2>/dev/null |';
  return `#!/bin/sh
# Asks Coxswain whether another agent holds a file that this changes; \`cox git uninstall\` removes it.
${madeFolder ? MADE_FOLDER : MARK}
${kept}${pushes ? READ_LINES : ''}${before(pushes ? `${fed} ` : '')}
[ "\${COX_GIT-}" = off ] && exit 0
${NOTHING_TO_ASK[name] ?? ''}${pathsOf(program)}
if [ -x "$node" ] && [ -f "$cox" ]; then
  set -- "$node" "$cox"
elif command -v cox >/dev/null 2>&1; then
  set -- cox
else
  echo "coxswain: $cox is gone, so locks were not checked; \\\`cox git install\\\` or remove $0" >&2
  exit 0
fi
${pushes ? `${fed} ` : ''}"$@" ${question}${passed}
`;
}

/** The hook that was installed before ours, kept beside it. */
export function runKept(kept: Buffer): (feed: string) => string {
  const command = runsUnderOwnName(kept) ?? `"$0${KEPT}" "$@"`;
  return (feed) => `if [ -x "$0${KEPT}" ]; then\n  ${feed}${command} || exit\nfi`;
}

const SHELLS = new Set(['sh', 'bash', 'dash', 'ksh', 'ash']);

/**
 * Hook managers such as husky read from \`$0\` which hook runs and where their helpers are. Under another
 * name they would silently do nothing. Such a script is run by its own shell under the old name.
 */
function runsUnderOwnName(kept: Buffer): string | undefined {
  const text = kept.toString('latin1');
  const [interpreter = '', ...flags] = (/^#![ \t]*([^\n\r]*)/.exec(text)?.[1] ?? '').trim().split(/[ \t]+/);
  const words = /\/env$/.test(interpreter) ? flags.filter((word) => word !== '-S') : [interpreter, ...flags];
  const shell = (words[0] ?? '').split('/').at(-1) ?? '';
  if (!SHELLS.has(shell) || !/\$(?:0|\{0)/.test(text)) return undefined;
  return `${words.map(shellWord).join(' ')} -c '. "$0${KEPT}"' "$0" "$@"`;
}
