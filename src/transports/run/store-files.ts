import { realpathSync } from 'node:fs';
import { layoutOf } from '../../stores/files/folder-layout.ts';

/** Says of a path whether it is the open store's own: what is written there is our doing, and whoever locked it would lock all others out. */
export function storeFilesOf(store_url: string): (path: string) => boolean {
  const [, kind, named = ''] = /^(sqlite|files):(.+)$/s.exec(store_url) ?? [];
  if (kind === undefined) return () => false;
  // Paths of the work tree come without links.
  const own = realpathSync(kind === 'files' ? layoutOf(named).events : named);
  // Beside a database stand `-wal` and `-shm`; a log, its inbox and what follows from it have a folder to themselves.
  const more = kind === 'files' ? '/' : '-';
  return (path) => path === own || path.startsWith(own + more);
}
