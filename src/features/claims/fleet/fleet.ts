import type { JsonObject } from '../../../kernel/json.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import { defineService } from '../../../runtime/service.ts';
import { type ClaimRules, DEFAULT_RULES } from '../claim-rules.ts';
import type { Feature, ModuleGraph } from '../routing/feature.ts';

/** The fleet's own folder (`.ai-workspace`): its rules, and what there is to do. */
export interface Fleet {
  /** Absolute; it need not exist. */
  readonly folder: string;
  /** `COX_ASSETS`: the bucket in which agents draft and the assets are; else the rules say, or they are on this disk. */
  readonly assets?: string | undefined;
  /** `agent_roles.yml`, or what goes without one; a refusal when the file has mistakes in it. */
  rules(): Promise<ClaimRules | Refusal>;
  plan(): Promise<FleetPlan>;
}

export interface FleetPlan {
  readonly features: readonly Feature[];
  readonly modules: ModuleGraph;
  /** Files that could not be read, each with its line; the others count all the same. */
  readonly problems: readonly JsonObject[];
}

/** Nothing is known of a fleet: the rules that go without a file, and no plan. */
export const noFleet: Fleet = {
  folder: '',
  rules: async () => DEFAULT_RULES,
  plan: async () => ({ features: [], modules: {}, problems: [] }),
};

export const fleetService = defineService<Fleet>('fleet', () => noFleet);
