/** What was started or created, undone in reverse order, whether the run ends, fails or is interrupted. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Cleanup {
  defer(undo: () => Promise<unknown>): void;
  tempDir(name: string): Promise<string>;
  run(): Promise<void>;
}

export function openCleanup(): Cleanup {
  const undos: (() => Promise<unknown>)[] = [];
  let running: Promise<void> | undefined;
  const runAll = async (): Promise<void> => {
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
      try {
        await undo();
      } catch (error) {
        process.stderr.write(`clean-up: ${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
  };
  return {
    defer(undo) {
      undos.push(undo);
    },
    async tempDir(name) {
      const path = await mkdtemp(join(tmpdir(), `cox-bench-${name}-`));
      // Retried: an interrupted process may still be creating its last file.
      undos.push(() => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
      return path;
    },
    run() {
      running ??= runAll().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}
