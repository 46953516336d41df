import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './real-path.ts';

/** Written and on the disk; the name in its folder is not yet. */
export async function writeLasting(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'w', mode);
  try {
    await file.writeFile(bytes);
    // The umask has its say at creation only; an asset keeps the mode it had.
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The names in a folder are on the disk. Windows opens no folders, and has its names there without being asked. */
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

/** With all that is missing above it, each name on the disk. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let at = folder; at.length >= first.length; at = dirname(at)) await syncFolder(dirname(at));
}
