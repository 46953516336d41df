import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { type Refusal, refuse } from '../kernel/refusal.ts';

/** The XDG base directories have no Windows; there it is the folder for what belongs to this machine. */
export function stateFolder(env: NodeJS.ProcessEnv): string | Refusal {
  const { COX_STATE_DIR, XDG_STATE_HOME, LOCALAPPDATA } = env;
  if (COX_STATE_DIR) {
    // Two agents in two folders would each have their own, and get the same ports.
    if (isAbsolute(COX_STATE_DIR)) return COX_STATE_DIR;
    const expected = `an absolute path, the same for all, not ${JSON.stringify(COX_STATE_DIR.slice(0, 200))}`;
    return refuse('invalid_input', `COX_STATE_DIR: expected ${expected}`, {
      field: 'COX_STATE_DIR',
      expected,
    });
  }
  if (process.platform === 'win32')
    return join(LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'coxswain');
  // A relative one is to be ignored, says its specification.
  if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'coxswain');
  return join(env.HOME || homedir(), '.local', 'state', 'coxswain');
}
