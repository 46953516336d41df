import type { Operation } from '../../../runtime/operation.ts';

export const rebuildViews = {
  name: 'rebuild_views',
  group: 'views',
  verb: 'rebuild',
  summary: 'Write the feature files and the views anew from the log. What is right already stays untouched.',
  route: { method: 'POST', path: '/views/rebuild' },
  mutates: true,
  repeatable: true,
  standard: false,
  examples: ['cox views rebuild'],
  input: async () => (await import('../../promotion/schemas.ts')).rebuildViews,
  async handle(_input, step) {
    const { refreshViews } = await import('../views/refresh.ts');
    const { written, problems } = await refreshViews({ fleet: step.fleet, find: step.find });
    return {
      success: true,
      written: [...written],
      ...(problems.length === 0 ? {} : { problems: [...problems] }),
    };
  },
} satisfies Operation;
