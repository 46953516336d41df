import { fileURLToPath } from 'node:url';
import { GitFailure } from '../../../child-process/git.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { refuse } from '../../../kernel/refusal.ts';
import { invalid } from '../../../runtime/answer.ts';
import { anchored } from '../../../runtime/choose-store.ts';
import type { Terminal } from '../../cli/output/terminal.ts';
import type { CommonOptions } from '../../cli/program/common.ts';
import type { LockPolicy } from '../../shared/enforcement-policy.ts';
import type { Program } from '../git-hook-script.ts';
import { installHooks, reportHooks, uninstallHooks } from '../git-hooks.ts';
import { findHooksFolder, type HooksFolder, HooksProblem } from '../git-hooks-folder.ts';

export interface GitOptions extends CommonOptions {
  readonly locks?: LockPolicy;
}

/** The same relative path from src and from dist. */
export const COX = fileURLToPath(new URL('../../../../bin/cox', import.meta.url));

const CREDENTIALS = /^[a-z]+:\/\/[^/@]*:[^/@]*@|[?&]password=/i;

export async function installGitHooks(options: GitOptions, terminal: Terminal): Promise<JsonObject> {
  const { project, locks = 'auto' } = options;
  const store = options.store === undefined ? undefined : anchored(options.store, terminal.cwd);
  if (store !== undefined && CREDENTIALS.test(store))
    return invalid('store', 'an address without a password, for hooks can be read by others; set COX_STORE');
  const program: Program = { node: process.execPath, cox: COX, locks, store, project };
  return await managing(terminal, async (folder) => {
    const changed = await installHooks(folder, program);
    return { success: true, changed, ...(await stateOf(folder)) };
  });
}

export async function uninstallGitHooks(_options: GitOptions, terminal: Terminal): Promise<JsonObject> {
  return await managing(terminal, async (folder) => {
    const changed = await uninstallHooks(folder);
    return { success: true, changed, ...(await stateOf(folder)) };
  });
}

export async function describeGitHooks(_options: GitOptions, terminal: Terminal): Promise<JsonObject> {
  return await managing(terminal, async (folder) => ({ success: true, ...(await stateOf(folder)) }));
}

async function stateOf(folder: HooksFolder): Promise<JsonObject> {
  const hooks = await reportHooks(folder, { node: process.execPath, cox: COX });
  return { folder: folder.path, reach: folder.reach, hooks: hooks.map((hook) => ({ ...hook })) };
}

async function managing(
  terminal: Terminal,
  use: (folder: HooksFolder) => Promise<JsonObject>,
): Promise<JsonObject> {
  try {
    return await use(await findHooksFolder(terminal.cwd, terminal.env));
  } catch (error) {
    if (error instanceof HooksProblem || error instanceof GitFailure)
      return refuse('invalid_input', error.message, { field: 'repository' });
    // For example, a folder without write permission.
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return refuse('state_unavailable', `The hooks could not be changed: ${message}`);
  }
}
