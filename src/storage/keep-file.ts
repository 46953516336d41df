import { readFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder, syncFolder, writeLasting } from './lasting.ts';
import { errorCode, lstatIfThere, realPath } from './real-path.ts';
import { PlaceProblem } from './storage-place.ts';

/** Computes a file's new text; undefined leaves it as it is. */
export type Edit = (text: string | undefined) => string | undefined;

const ROUNDS_MAX = 20;
let count = 0;

/**
 * Reads, changes and replaces a file in one step. If another program has changed it meanwhile, most likely a
 * person's editor, it is read again instead of being overwritten. True: it was written. `named` syncs the
 * name to the disk; a caller that writes many files does that once. Reads are synchronous: handing each one
 * to a thread would take longer than the read.
 */
export async function keepFile(
  folder: string,
  path: string,
  edit: Edit,
  named: (folder: string) => Promise<void> | void = syncFolder,
): Promise<boolean> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const file = await realPath(folder, path);
    const before = readText(file);
    const after = edit(before);
    if (after === undefined || after === before) return false;
    count += 1;
    const aside = join(dirname(file), `.${basename(file).slice(0, 100)}.${process.pid}.${count}.cox`);
    const mode = lstatIfThere(file)?.mode ?? 0o644;
    try {
      await makeFolder(dirname(file));
      await writeLasting(aside, Buffer.from(after), mode & 0o777);
      if (readText(file) !== before) continue;
      await rename(aside, file);
      await named(dirname(file));
      return true;
    } finally {
      await rm(aside, { force: true });
    }
  }
  return false;
}

/** The current text, for callers that don't change it. */
export async function readKept(folder: string, path: string): Promise<string | undefined> {
  return readText(await realPath(folder, path));
}

function readText(file: string): string | undefined {
  const found = lstatIfThere(file);
  // Reading a pipe of that name would wait for ever.
  if (found?.isFile() === false) throw new PlaceProblem('not a file');
  const bytes = found === undefined ? undefined : readIfThere(file);
  const text = bytes?.toString('utf8');
  // Text that is not UTF-8 would be written back as something else.
  if (bytes !== undefined && !bytes.equals(Buffer.from(text ?? ''))) throw new PlaceProblem('no UTF-8 text');
  return text;
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
