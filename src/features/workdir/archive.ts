import { isoTime } from '../../kernel/clock.ts';
import type { TaskAction, TreeDraft } from './task-actions.ts';
import { compare, doneAt_ms, fileName } from './task-file.ts';
import type { WorkdirSettings } from './workdir-settings.ts';

/**
 * Moves tasks that have been done for long enough to their month. First the file says so, then it is
 * reported, then it is moved: wherever this is interrupted, the file is still in `done/` and says what is to
 * be done with it. [DIR-5]
 */
export function archiveOld(draft: TreeDraft, now_ms: number, { archive_ms }: WorkdirSettings): TaskAction[] {
  const old = draft.on('done').filter(({ task }) => {
    const done_ms = doneAt_ms(task);
    return done_ms !== undefined && now_ms - done_ms >= archive_ms;
  });
  const taken = new Set<string>();
  return old
    .sort((a, b) => compare(a.task.id, b.task.id))
    .flatMap((file): TaskAction[] => {
      const { task, path } = file;
      const done_ms = doneAt_ms(task) ?? now_ms;
      const month = `archive/${isoTime(done_ms).slice(0, 7)}`;
      // The name that people gave it; its id only where another file there has that name.
      const to = [`${month}/${fileName(path)}`, `${month}/${task.id}.yaml`].find(
        (each) => !draft.isOccupied(each) && !taken.has(each),
      );
      if (to === undefined) return [];
      taken.add(to);
      const why = `it has been done since ${isoTime(done_ms).slice(0, 10)}`;
      if (task.status !== 'archived' || task.archived_at_ms === undefined)
        draft.update(file, { status: 'archived', archived_at_ms: now_ms }, why);
      return [{ kind: 'move', id: task.id, from: path, to, why }];
    });
}
