import type { Connection } from '../../../runtime/coordinator.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { dueNow, settleDueBoard } from '../operations/settle-operations.ts';

/**
 * Every process that looks at the board settles what is due. It looks first, so that a quiet board leaves no
 * row. Answers in how long something falls due.
 */
export async function settleIfDue({ store, project }: Coxswain, housekeeper: Connection): Promise<number> {
  const { due, next_ms } = await dueNow({ find: (needs) => store.find(project, needs) });
  if (due.length === 0) return next_ms;
  await housekeeper.performBuilt(settleDueBoard, {});
  return 0;
}
