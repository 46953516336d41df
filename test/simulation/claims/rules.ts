import { type ClaimRules, DEFAULT_RULES } from '../../../src/features/claims/claim-rules.ts';
import { type Fleet, noFleet } from '../../../src/features/claims/fleet/fleet.ts';

export const MINUTE_MS = 60_000;
export const STALE_MS = 10 * MINUTE_MS;
export const TTL_MS = 25 * MINUTE_MS;

export const FEATURES = ['F-1', 'F-2', 'F-3'];
/** Each edge as different people write it. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  design_code: ['design→code', 'design_code', 'Design -> Code'],
  code_unit_tests: ['code↔unit_tests', 'code-unit-tests'],
};
export const EDGES = Object.values(SPELLINGS).flat();

/** What the model takes an edge for; a table of its own, not the product's rule. */
function edgeNamed(spelling: string): string {
  const [name] = Object.entries(SPELLINGS).find(([, all]) => all.includes(spelling)) ?? [];
  return name ?? spelling;
}

export const pairNamed = (feature: string, edge: string) => `${feature}#${edgeNamed(edge)}`;

/** Who may converge what without asking. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  architect: ['design_code'],
  tdd_engineer: ['code_unit_tests'],
  full_stack: ['design_code', 'code_unit_tests'],
};
export const ROLE_NAMES = [...Object.keys(ROLES), 'nobody_knows_it'];

export function mayConvergeAlone(agent_role: string, edge: string): boolean {
  return ROLES[agent_role]?.includes(edgeNamed(edge)) === true;
}

/** The rules of one run: with a hard end or without, freeing by itself or not. */
export interface Terms {
  readonly ttl_ms: number | undefined;
  readonly auto_release: boolean;
}

export function fleetOf({ ttl_ms, auto_release }: Terms): Fleet {
  const rules: ClaimRules = {
    ...DEFAULT_RULES,
    file: 'agent_roles.yml',
    roles: Object.fromEntries(
      Object.entries(ROLES).map(([name, converge_edges]) => [name, { converge_edges }]),
    ),
    stale_ms: STALE_MS,
    stale_action: auto_release ? 'auto_release' : 'emit_signal',
    ttl_ms,
  };
  return { ...noFleet, rules: async () => rules };
}
