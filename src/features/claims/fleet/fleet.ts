import type { Fleet } from '../../../runtime/operation.ts';
import { DEFAULT_RULES } from '../claim-rules.ts';

/** Nothing is known of a fleet: the rules that go without a file, and no plan. */
export const noFleet: Fleet = {
  folder: '',
  rules: async () => DEFAULT_RULES,
  plan: async () => ({ features: [], modules: {}, problems: [] }),
};
