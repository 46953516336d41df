import type { Executor } from './executor.ts';
import { inCleanTree } from './in-clean-tree.ts';
import { cleanEnvironment } from './runner-environment.ts';
import { runSupervised } from './supervised.ts';

/** Here and now, by this process. */
export const inline: Executor = {
  name: 'inline',
  missing: async () => (process.platform === 'win32' ? 'a POSIX shell' : undefined),
  run: (job, signal) =>
    inCleanTree(job, async (command, { tree, home, mark }) => {
      const env = cleanEnvironment(job, home, mark);
      const { timeout_seconds } = job.policy;
      return await runSupervised({ command, cwd: tree, env, timeout_seconds }, signal);
    }),
};
