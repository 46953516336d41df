import { join } from 'node:path';
import { fingerprint } from '../../../kernel/fingerprint.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { stateFolder } from '../../../storage/state-folder.ts';
import type { BoardConfig } from '../files/agent-config.ts';
import type { Places } from './process/run-files.ts';

/**
 * Where this machine keeps the output of the board's agents: one folder per board, whichever process runs its
 * agents.
 */
export function boardPlacesOf(
  { store_url, project, workspace }: Coxswain,
  { folder }: Pick<BoardConfig, 'folder'>,
  env: NodeJS.ProcessEnv,
): Places | Refusal {
  const state = stateFolder(env);
  if (typeof state !== 'string') return state;
  const runs = join(state, 'runs', fingerprint(`${store_url}\n${project}`));
  return { runs, folder, repository: workspace.gitCommonDir === undefined ? undefined : workspace.root, env };
}
