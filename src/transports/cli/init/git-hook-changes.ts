import { planGitHooks } from '../../git/git-hooks.ts';
import { findHooksFolder, HooksProblem } from '../../git/git-hooks-folder.ts';
import type { FileChange } from './changes.ts';
import type { Request } from './setup-request.ts';
import { Unusable } from './unusable.ts';
import { ownPrograms } from './wiring.ts';

/** The repository's git hooks as they will be, planned by the module that knows them. */
export async function gitHookChanges({ site, locks, store }: Request): Promise<FileChange[]> {
  const { node, cox } = ownPrograms();
  try {
    return await planGitHooks(await findHooksFolder(site.root, site.env), { node, cox, locks, store });
  } catch (error) {
    if (!(error instanceof HooksProblem)) throw error;
    throw new Unusable(site.root, undefined, `gets no git hooks: ${error.message}`, 'Leave --git-hooks out.');
  }
}
