import type { Operation } from '../../../runtime/operation.ts';
import { fleetService } from '../fleet/fleet.ts';

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
  input: async () => (await import('../schemas/routing-schemas.ts')).rebuildViews,
  async handle(_input, step) {
    const { refreshViews } = await import('../views/refresh.ts');
    const { written, problems } = await refreshViews({ fleet: step.use(fleetService), find: step.find });
    return {
      success: true,
      written: [...written],
      ...(problems.length === 0 ? {} : { problems: [...problems] }),
    };
  },
} satisfies Operation;
