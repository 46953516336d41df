import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { type Contender, hammer } from '../harness.ts';

const FILES_PER_CALLER = 50;

/** Lock and unlock of files by lock directories. Not durable: it is printed beside, never a goal. */
export async function openProperLockfile(dir: string, callers: number): Promise<Contender> {
  const fileOf = (caller: number, turn: number): string =>
    join(dir, `c${caller}-f${turn % FILES_PER_CALLER}`);
  for (let caller = 0; caller < callers; caller++)
    for (let turn = 0; turn < FILES_PER_CALLER; turn++) await writeFile(fileOf(caller, turn), '');
  const turns: number[] = [];
  let closed = false;
  return {
    name: 'proper-lockfile (not durable)',
    measure: (durationMs) =>
      hammer(callers, durationMs, async (caller) => {
        if (closed) throw new Error('closed');
        const turn = (turns[caller] ?? 0) + 1;
        turns[caller] = turn;
        const release = await lock(fileOf(caller, turn), { realpath: false });
        await release();
        return 1;
      }),
    async close() {
      closed = true;
    },
  };
}
