import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './real-path.ts';

/** Writes the file and syncs it to the disk; its name in the folder is not synced yet. */
export async function writeLasting(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'w', mode);
  try {
    await file.writeFile(bytes);
    // The umask applies at creation only; an asset keeps the mode it had.
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Syncs the names in a folder to the disk. Windows can't open folders, and stores names without being asked.
 */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EINVAL'].includes(errorCode(error))) throw error;
  }
}

/** Creates a folder and all missing parents, each name synced to the disk. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let at = folder; at.length >= first.length; at = dirname(at)) await syncFolder(dirname(at));
}
