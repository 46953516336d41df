import fs from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** Called before each thing that changes a disk; what it throws is what the disk says. */
export type Watcher = (step: string, cut: () => Promise<void>) => Promise<void>;

let watcher: Watcher | undefined;

export function watchDisk(next: Watcher | undefined): void {
  watcher = next;
}

const nothing = async () => {};

type Changing = 'rename' | 'link' | 'rm' | 'rmdir' | 'mkdir';

function wrap(name: Changing): void {
  const original = fs.promises[name] as (...args: unknown[]) => Promise<unknown>;
  const wrapped = async (...args: unknown[]) => {
    await watcher?.(name, nothing);
    return await original(...args);
  };
  Object.assign(fs.promises, { [name]: wrapped });
}

function wrapHandle(handle: FileHandle): FileHandle {
  const [writeFile, sync] = [handle.writeFile.bind(handle), handle.sync.bind(handle)];
  handle.writeFile = async (data, options) => {
    // Stopped amid it: half of it is there.
    await watcher?.('write', async () => {
      await writeFile((data as Uint8Array).subarray(0, (data as Uint8Array).length >> 1), options);
    });
    await writeFile(data, options);
  };
  handle.sync = async () => {
    await watcher?.('sync', nothing);
    await sync();
  };
  return handle;
}

const open = fs.promises.open;
fs.promises.open = async (path, flags, mode) => {
  if (flags === 'w') await watcher?.('open', nothing);
  return wrapHandle(await open(path, flags, mode));
};
for (const name of ['rename', 'link', 'rm', 'rmdir', 'mkdir'] as const) wrap(name);
// What is imported by name goes through the wrapped ones, too.
syncBuiltinESMExports();
