import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { type Refusal, refuse } from '../kernel/refusal.ts';

/** XDG base directories don't exist on Windows; there it is the folder for machine-local data. */
export function stateFolder(env: NodeJS.ProcessEnv): string | Refusal {
  const { COX_STATE_DIR, XDG_STATE_HOME, LOCALAPPDATA } = env;
  if (COX_STATE_DIR) {
    // A relative path would give two agents in two folders a state folder each, and they would get the same
    // ports.
    if (isAbsolute(COX_STATE_DIR)) return COX_STATE_DIR;
    const expected = `an absolute path, the same for all, not ${JSON.stringify(COX_STATE_DIR.slice(0, 200))}`;
    return refuse('invalid_input', `COX_STATE_DIR: expected ${expected}`, {
      field: 'COX_STATE_DIR',
      expected,
    });
  }
  if (process.platform === 'win32')
    return join(LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'coxswain');
  // The XDG specification says to ignore a relative path.
  if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'coxswain');
  return join(env.HOME || homedir(), '.local', 'state', 'coxswain');
}
