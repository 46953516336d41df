import { isRefusal } from '../../../kernel/refusal.ts';
import { pictureBoard } from '../../board/picture.ts';
import { settleIfDue } from '../../board/settle.ts';
import { housekeeperOf } from '../../tending.ts';
import { type CommonOptions, conclude, type Result, withStore } from '../common.ts';
import { type Terminal, viewOf } from '../terminal.ts';
import { boardLines } from './board-screen.ts';

/** `cox board` alone. */
export async function showBoard(options: CommonOptions, terminal: Terminal, result: Result): Promise<void> {
  const answer = await withStore(options, terminal, async (coxswain) => {
    await settleIfDue(coxswain, housekeeperOf(coxswain));
    return { success: true, ...(await pictureBoard(coxswain)).seen };
  });
  if (options.json === true || isRefusal(answer)) return await conclude(terminal, answer, options, result);
  const view = viewOf(terminal, { color: options.color, now_ms: Date.parse(String(answer.seen_at)) });
  await terminal.out(`${boardLines(answer, view).join('\n')}\n`);
}
