import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shellWord } from '../../kernel/shell-word.ts';
import { CHECKED_HOOKS, hookScript, type Program } from '../git/git-hook-script.ts';

/**
 * A hooks folder hides all hooks of a repository, so each has a stand-in that calls it. Those that run at every change of a
 * reference or of the index are left out: a stand-in for a hook that few repositories have would slow down every git command.
 */
const OTHER_HOOKS = [
  'applypatch-msg',
  'post-applypatch',
  'commit-msg',
  'post-commit',
  'post-checkout',
  'post-merge',
  'post-rewrite',
  'pre-auto-gc',
  'push-to-checkout',
  'sendemail-validate',
];

export interface HooksForOne {
  /** To be added to the environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/** Git hooks for one command and what it starts: nothing is installed anywhere, and the repository's own hooks run first. */
export async function hooksForOne(env: NodeJS.ProcessEnv, program: Program): Promise<HooksForOne> {
  const folder = await mkdtemp(join(tmpdir(), 'cox-hooks-'));
  const count = Number(env.GIT_CONFIG_COUNT) || 0;
  const find = findOwn(folder, count);
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    await chmod(join(folder, name), 0o755);
  };
  for (const name of CHECKED_HOOKS) {
    // Of the two checks that the command would meet where hooks are installed as well, ours is enough.
    const own = (feed: string) =>
      `${find}\nif [ -n "$own" ] && [ -x "$own/${name}" ]; then\n  ${feed}COX_GIT=off "$own/${name}" "$@" || exit\nfi`;
    await write(name, hookScript({ name, program, before: own }));
  }
  for (const name of OTHER_HOOKS)
    await write(
      name,
      `#!/bin/sh\n${find}\n[ -n "$own" ] && [ -x "$own/${name}" ] || exit 0\nexec "$own/${name}" "$@"\n`,
    );
  return {
    env: {
      GIT_CONFIG_COUNT: String(count + 1),
      [`GIT_CONFIG_KEY_${count}`]: 'core.hooksPath',
      [`GIT_CONFIG_VALUE_${count}`]: folder,
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Which hooks git would run without us, in whatever repository the command is by then. */
function findOwn(folder: string, count: number): string {
  return `own=$(GIT_CONFIG_COUNT=${count} git rev-parse --git-path hooks 2>/dev/null)
[ "$own" = ${shellWord(folder)} ] && own=`;
}
