import { realpathSync } from 'node:fs';
import { ownFiles } from '../../runtime/store-tools.ts';

/**
 * Says of a path whether it is the open store's own: Coxswain itself writes there, and a lock on it would keep every other agent from
 * the store.
 */
export function storeFilesOf(store_url: string): (path: string) => boolean {
  const files = ownFiles(store_url);
  if (files === undefined) return () => false;
  // Paths of the work tree come without links.
  const own = realpathSync(files.path);
  return (path) => path === own || path.startsWith(own + files.beside);
}
