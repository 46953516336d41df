import { checkLocksNeeds, checkLocks as describe } from '../domain/locks/check-locks.ts';
import type { Operation } from '../operation.ts';

interface Input {
  file_paths?: string[] | undefined;
}

export const checkLocks: Operation<Input> = {
  name: 'check_locks',
  group: 'lock',
  verb: 'check',
  summary: 'Who holds which files, why and until when.',
  route: { method: 'POST', path: '/locks/check' },
  mutates: false,
  standard: true,
  positional: ['file_paths'],
  examples: ['cox lock check', 'cox lock check src/app.ts src/router.ts --json'],
  input: async () => (await import('./schemas/locks.ts')).checkLocks,
  async handle(input, step) {
    let paths: string[] | undefined;
    for (const [index, file_path] of (input.file_paths ?? []).entries()) {
      const path = step.path(file_path, `file_paths.${index}`);
      if (typeof path !== 'string') return path;
      paths = [...new Set(paths).add(path)];
    }
    const { loaded, now_ms } = await step.find(checkLocksNeeds(paths));
    return describe(paths, loaded, now_ms);
  },
};
