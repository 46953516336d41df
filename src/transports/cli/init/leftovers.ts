import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { chooseStore } from '../../../runtime/choose-store.ts';
import { defaultStore } from '../../../runtime/open-ledger.ts';
import { DELIVERED, FAILURES, OLDER_FAILURES, STARTED } from '../../hooks/left-behind.ts';
import type { Manifest } from './manifest.ts';
import type { Request } from './setup-request.ts';

/**
 * Notes that the hooks keep in the user's state folder. All repositories share them, so undoing the last
 * repository removes them.
 */
export function hookNotes(state: string, manifestPath: string): string[] {
  if (recordsIn(dirname(manifestPath)).some((name) => name !== basename(manifestPath))) return [];
  return [DELIVERED, STARTED, FAILURES, OLDER_FAILURES]
    .map((name) => join(state, name))
    .filter((path) => existsSync(path));
}

export function removeHookNotes(paths: readonly string[]): void {
  for (const path of paths) rmSync(path, { recursive: true, force: true });
}

/** Counted by name: a record that can't be read still belongs to a repository. */
function recordsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}

/** The log records people's work, so we don't delete it. */
export function storeNote({ workspace, site }: Request, { store }: Manifest): string[] {
  let url: string;
  try {
    url = chooseStore(store, site.env).url ?? defaultStore(workspace);
  } catch {
    return []; // An undo does not decide which store is meant.
  }
  if (!url.startsWith('sqlite:'))
    return ['The log of what agents did stays where it is, in the database of your store.'];
  const file = url.slice('sqlite:'.length);
  return existsSync(file)
    ? [`The log of what agents did stays: ${file}. Remove ${dirname(file)} if you want it gone.`]
    : [];
}
