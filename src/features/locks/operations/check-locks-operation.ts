import { namedAreas } from '../../../runtime/call.ts';
import type { Operation } from '../../../runtime/operation.ts';
import { checkLocksMore, checkLocksNeeds, checkLocks as describe } from '../check-locks.ts';

export interface CheckLocksInput {
  file_paths?: string[] | undefined;
}

export const checkLocks = {
  name: 'check_locks',
  group: 'lock',
  verb: 'check',
  also: ['list'],
  summary: 'Who holds or waits for which files, folders and globs, why and until when.',
  route: { method: 'POST', path: '/locks/check' },
  aliases: [{ method: 'GET', path: '/locks/active' }],
  mutates: false,
  standard: true,
  positional: ['file_paths'],
  examples: ['cox lock check', 'cox lock check src/app.ts src/router.ts --json'],
  sample: { file_paths: ['src/app.ts'] },
  input: async () => (await import('../schemas.ts')).checkLocks,
  async handle(input, step) {
    const named = namedAreas(input, step);
    if ('success' in named) return named;
    const areas = input.file_paths === undefined ? undefined : named.areas;
    let found = await step.find(checkLocksNeeds(areas));
    const more = checkLocksMore(areas, found.loaded);
    if (more !== undefined) found = await step.find(more);
    return describe(areas, found.loaded, found.now_ms);
  },
} satisfies Operation<CheckLocksInput>;
