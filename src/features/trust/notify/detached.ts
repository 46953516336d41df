import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { hasChannels } from './channels.ts';

export interface Errand {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly store_url: string;
  readonly project: string;
  /** Default: the `cox` beside this file. */
  readonly program?: string | undefined;
}

/**
 * For a process that is about to end: another process notifies people, and the caller does not wait for it.
 * The store's URL is passed in the environment, where no process list shows it.
 */
export function sendDetached({ env, cwd, store_url, project, program }: Errand): boolean {
  if (!hasChannels(env) || store_url === 'memory:') return false;
  const cox = program ?? fileURLToPath(new URL('../../../../bin/cox', import.meta.url));
  const child = spawn(process.execPath, [cox, 'approval', 'notify'], {
    cwd,
    env: { ...env, COX_STORE: store_url, COX_PROJECT: project },
    detached: true,
    stdio: 'ignore',
  });
  // If it can't be started, the next process that delivers notices sends them.
  child.once('error', () => {});
  child.unref();
  return true;
}
