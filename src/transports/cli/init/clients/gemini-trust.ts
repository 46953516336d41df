import { dirname, join } from 'node:path';
import type { JsonObject } from '../../../../kernel/json.ts';
import { jsonIn } from '../json-text.ts';
import { homeOf } from '../wiring.ts';
import type { Reader } from './client-setup.ts';

export function geminiHome(env: NodeJS.ProcessEnv): string {
  return join(env.GEMINI_CLI_HOME || homeOf(env), '.gemini');
}

/** Where Gemini CLI records which folders a person trusts. */
export function trustedFoldersFile(env: NodeJS.ProcessEnv): string {
  return env.GEMINI_CLI_TRUSTED_FOLDERS_PATH || join(geminiHome(env), 'trustedFolders.json');
}

/** `everywhere`: it was told not to ask. `refused`: a person said no. */
export type GeminiTrust = 'everywhere' | 'trusted' | 'refused' | 'unasked';

export function geminiTrust(root: string, env: NodeJS.ProcessEnv, read: Reader): GeminiTrust {
  const settings = join(geminiHome(env), 'settings.json');
  const { security } = (jsonIn(read(settings), settings) ?? {}) as {
    security?: { folderTrust?: { enabled?: boolean } };
  };
  if (security?.folderTrust?.enabled === false || env.GEMINI_CLI_TRUST_WORKSPACE === 'true')
    return 'everywhere';
  const folders = trustedFoldersFile(env);
  const rule = geminiRule(jsonIn(read(folders), folders) ?? {}, root);
  return rule === undefined ? 'unasked' : rule ? 'trusted' : 'refused';
}

/** The rule for the nearest folder counts. TRUST_PARENT applies to the parent of the folder it names. */
export function geminiRule(rules: JsonObject, root: string): boolean | undefined {
  let best: { length: number; trusted: boolean } | undefined;
  for (const [path, rule] of Object.entries(rules)) {
    const folder = rule === 'TRUST_PARENT' ? dirname(path) : path;
    if (root !== folder && !root.startsWith(folder.endsWith('/') ? folder : `${folder}/`)) continue;
    if (best === undefined || folder.length >= best.length)
      best = { length: folder.length, trusted: rule !== 'DO_NOT_TRUST' };
  }
  return best?.trusted;
}
