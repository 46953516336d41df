import type { JsonObject } from '../../../kernel/json.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import { defineService } from '../../../runtime/service.ts';
import { type ClaimRules, DEFAULT_RULES } from '../claim-rules.ts';
import type { Feature, ModuleGraph } from '../routing/feature.ts';

/** The fleet's own folder (`.ai-workspace`): its rules and its planned work. */
export interface Fleet {
  /** Absolute; it need not exist. */
  readonly folder: string;
  /**
   * `COX_ASSETS`: the bucket that holds drafts and assets; else the rules say where they are, or they are on
   * this disk.
   */
  readonly assets?: string | undefined;
  /** `agent_roles.yml`, or the defaults without one; a refusal when the file has mistakes. */
  rules(): Promise<ClaimRules | Refusal>;
  plan(): Promise<FleetPlan>;
}

export interface FleetPlan {
  readonly features: readonly Feature[];
  readonly modules: ModuleGraph;
  /** Files that could not be read, each with its line; the other files still count. */
  readonly problems: readonly JsonObject[];
}

/** No fleet is known: the default rules, and no plan. */
export const noFleet: Fleet = {
  folder: '',
  rules: async () => DEFAULT_RULES,
  plan: async () => ({ features: [], modules: {}, problems: [] }),
};

export const fleetService = defineService<Fleet>('fleet', () => noFleet);
