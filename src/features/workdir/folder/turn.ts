import { open, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../../../storage/lasting.ts';
import { errorCode, realPath, unlessMissing } from '../../../storage/real-path.ts';
import { Meanwhile } from './task-folder.ts';

/** A verb takes milliseconds: a process that has held its turn for this long was killed. */
const TURN_MS_MAX = 30_000;

/**
 * One verb at a time on one file: if two agents start a task at the same moment, one of them is told that the
 * other one has it. The lock file beside the task blocks nothing else; a pass does not look at it.
 */
export async function inTurn<T>(
  root: string,
  path: string,
  now_ms: number,
  act: () => Promise<T>,
): Promise<T> {
  const file = await realPath(root, path);
  const turn = join(dirname(file), `.${basename(file).slice(0, 200)}.turn.cox`);
  await makeFolder(dirname(file));
  await takeTurn(turn, now_ms);
  try {
    return await act();
  } finally {
    await rm(turn, { force: true });
  }
}

async function takeTurn(turn: string, now_ms: number): Promise<void> {
  for (let again = false; ; again = true)
    try {
      await (await open(turn, 'wx', 0o644)).close();
      return;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
      const taken = await unlessMissing(stat(turn));
      const isOver = taken === undefined || now_ms - taken.mtimeMs > TURN_MS_MAX;
      if (again || !isOver) throw new Meanwhile('somebody else is changing it at this moment');
      await rm(turn, { force: true });
    }
}
