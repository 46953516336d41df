import { isRefusal } from '../../../kernel/refusal.ts';
import { housekeeperOf } from '../../../runtime/housekeeper.ts';
import { type Terminal, viewOf } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  conclude,
  type Result,
  withStoreThere,
} from '../../../transports/cli/program/common.ts';
import { pictureBoard } from '../runner/picture.ts';
import { settleIfDue } from '../runner/settle-quietly.ts';
import { boardLines } from './board-screen.ts';

/** `cox board` alone. */
export async function showBoard(options: CommonOptions, terminal: Terminal, result: Result): Promise<void> {
  const answer = await withStoreThere(options, terminal, async (coxswain) => {
    await settleIfDue(coxswain, housekeeperOf(coxswain));
    return { success: true, ...(await pictureBoard(coxswain)).seen };
  });
  if (options.json === true || isRefusal(answer)) return await conclude(terminal, answer, options, result);
  const view = viewOf(terminal, { color: options.color, now_ms: Date.parse(String(answer.seen_at)) });
  await terminal.out(`${boardLines(answer, view).join('\n')}\n`);
}
