import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import type { ClaimRules } from '../claim-rules.ts';
import { type ClaimState, claimId } from '../edge-claim.ts';
import type { Fleet, FleetPlan } from '../fleet/fleet.ts';
import { fleetService } from '../fleet/fleet.ts';
import type { Crew, FeatureRouting, Suggestion } from '../routing/feature.ts';
import { route } from '../routing/route-work.ts';
import { takenOf } from '../routing/taken-features.ts';
import { allClaims } from './all-claims.ts';
import { trySignalStale } from './stale-claim-operations.ts';

export interface RouteWorkInput {
  agents?: { agent_id: string; agent_role?: string | undefined }[] | undefined;
  limit: number;
}

export const routeWork = {
  name: 'route_work',
  group: 'claim',
  verb: 'route',
  summary: 'What each agent should take next, and why; what runs side by side, and what had better not.',
  route: { method: 'POST', path: '/claims/route' },
  aliases: [{ method: 'POST', path: '/api/start' }],
  mutates: false,
  standard: false,
  examples: [
    'cox start',
    'cox start --agents alice=architect bob=tdd_engineer',
    'cox claim route --agents \'[{"agent_id":"alice"},{"agent_id":"bob"}]\' --json',
  ],
  sample: { agents: [{ agent_id: 'alice', agent_role: 'architect' }] },
  input: async () => (await import('../schemas/routing-schemas.ts')).routeWork,
  async handle({ agents, limit }, step) {
    const situation = await look(step);
    if ('success' in situation) return situation;
    const named = agents ?? [{ agent_id: step.caller.agent_id, agent_role: step.agent_role }];
    const crew = named.map((agent) => crewMember(agent, situation));
    const twice = crew.find(
      ({ agent_id }, index) => crew.findIndex((each) => each.agent_id === agent_id) < index,
    );
    if (twice !== undefined)
      return refuse('invalid_input', `agents: ${JSON.stringify(twice.agent_id)} is there twice`, {
        field: 'agents',
      });
    return answerFor(routeCrew(crew, situation), situation, limit, step.use(fleetService).folder);
  },
} satisfies Operation<RouteWorkInput>;

/**
 * When many agents are turned away at once, reading all claims for each of them would cost more than all
 * their work.
 */
const SUGGESTED_MS = 1000;

interface Kept {
  readonly at_ms: number;
  readonly suggestion: Suggestion | undefined;
}

const kept = new WeakMap<Fleet, Map<string, Kept>>();

/**
 * What the agent should take instead of the refused edge; undefined when there is nothing for its role. The
 * answer is reused for a moment: it is only advice, and an agent that finds that edge taken too gets another
 * suggestion.
 */
export async function suggestNext(step: Step, agent: Crew, refused: Edge): Promise<Suggestion | undefined> {
  const ofFleet = kept.get(step.use(fleetService)) ?? new Map<string, Kept>();
  kept.set(step.use(fleetService), ofFleet);
  const key = `${step.project}\n${agent.agent_id}\n${agent.agent_role}`;
  const last = ofFleet.get(key);
  const now_ms = step.elapsed_ms();
  if (last !== undefined && now_ms - last.at_ms < SUGGESTED_MS && !isSame(last.suggestion, refused))
    return last.suggestion;
  const situation = await look(step);
  const suggestion = 'success' in situation ? undefined : routeCrew([agent], situation).assignments[0];
  if (ofFleet.size >= limits.routed_agents_max) ofFleet.clear();
  ofFleet.set(key, { at_ms: step.elapsed_ms(), suggestion });
  return suggestion;
}

type Edge = Pick<Suggestion, 'feature' | 'edge'>;

function isSame(suggestion: Suggestion | undefined, { feature, edge }: Edge): boolean {
  return suggestion !== undefined && claimId(suggestion.feature, suggestion.edge) === claimId(feature, edge);
}

interface Situation {
  readonly plan: FleetPlan;
  readonly rules: ClaimRules;
  readonly claims: readonly ClaimState[];
  readonly now_ms: number;
}

async function look(step: Step): Promise<Situation | Refusal> {
  const rules = await step.use(fleetService).rules();
  if ('success' in rules) return rules;
  await trySignalStale(step, rules);
  const plan = await step.use(fleetService).plan();
  return { rules, plan, ...(await allClaims(step)) };
}

function routeCrew(crew: readonly Crew[], { plan, rules, claims, now_ms }: Situation): FeatureRouting {
  const taken = claims.map((claim) => takenOf(claim, rules, now_ms));
  return route(plan, taken, crew, rules, now_ms);
}

/** The role that the file gives, else the one that was named, else the one the agent claims under now. */
function crewMember(
  { agent_id, agent_role }: { agent_id: string; agent_role?: string | undefined },
  situation: Situation,
): Crew {
  const { rules, claims } = situation;
  const bound = Object.hasOwn(rules.agents, agent_id) ? rules.agents[agent_id] : undefined;
  const current = claims.find(({ lease }) => lease?.agent_id === agent_id)?.agent_role;
  return { agent_id, agent_role: bound ?? agent_role ?? current ?? '' };
}

function answerFor(
  routing: FeatureRouting,
  { plan, rules }: Situation,
  limit: number,
  folder: string,
): JsonObject {
  const { assignments, warnings, groups, unassigned, held_up, waiting, waiting_for_person } = routing;
  const lists = { warnings, groups, held_up, waiting, problems: plan.problems };
  const cut = Object.entries(lists).filter(([, list]) => list.length > limit);
  const isEmpty = plan.features.length === 0;
  return {
    success: true,
    assignments: assignments.map((each) => ({ ...each })),
    unassigned: unassigned.map((each) => ({ ...each })),
    warnings: warnings.slice(0, limit).map(({ shared_modules, unknown_modules, order, ...pair }) => ({
      ...pair,
      shared_modules: [...shared_modules],
      ...(unknown_modules === undefined ? {} : { unknown_modules: [...unknown_modules] }),
      ...(order === undefined ? {} : { order: [...order] }),
    })),
    groups: groups.slice(0, limit).map((group) => [...group]),
    held_up: held_up.slice(0, limit).map((each) => ({ ...each })),
    waiting: waiting.slice(0, limit).map((each) => ({ ...each })),
    waiting_for_person,
    roles_file: rules.file ?? null,
    problems: plan.problems.slice(0, limit).map((problem) => ({ ...problem })),
    ...(cut.length === 0
      ? {}
      : { left_out: Object.fromEntries(cut.map(([name, list]) => [name, list.length - limit])) }),
    ...(isEmpty ? { message: `There are no feature files: add one as ${folder}/features/NAME.yml.` } : {}),
  };
}
