import type { FiledAs, FileStatus } from '../../../src/features/queue/filed.ts';
import type { SeenFile } from '../../../src/features/queue/mirror-work.ts';

/** Where a file lies, and what it says. */
export function lyingAt(path: string, status: FileStatus, more: Partial<FiledAs> = {}): FiledAs {
  return { directory: 'work', id: 'x', path, agent: 'ann', status, ...more };
}

/** A file as a mirroring pass has seen it. */
export function seenAs(
  task_id: string,
  status: SeenFile['status'],
  more: Partial<SeenFile> & Pick<SeenFile, 'file'>,
): SeenFile {
  const priority = { least: 4, usual: 5, most: 6 };
  return { task_id, status, title: 'x', priority, files: [], may_begin: task_id !== 'queued', ...more };
}
