import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { type Loaded, need, type Range, refused, type Verdict } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { Caller } from '../../ledger/lease.ts';
import { heardSince, type SessionState } from '../sessions/index.ts';
import { agentChanged, claimModeIn, isModeOpen, modeChanged, type SingleAgent } from './claim-mode.ts';
import type { ClaimRules } from './claim-rules.ts';
import { type ClaimState, claimsOf, heldClaims, staleClaims } from './edge-claim.ts';

/**
 * The caller that asks about a feature on an edge, and the rules that apply. Plain JSON, because another
 * process may make the decision.
 */
export interface ClaimCommand {
  readonly caller: Caller;
  /** No identity is configured for the caller; its door made up the name. */
  readonly unnamed?: boolean | undefined;
  readonly agent_role?: string | undefined;
  readonly feature: string;
  readonly edge: string;
  readonly rules: ClaimRules;
}

/** The name the caller acts under here, and how that changes the project's mode. */
export interface Acting {
  readonly caller: Caller;
  readonly single: boolean;
  readonly events: readonly EventBody[];
}

export function actingIn(command: ClaimCommand, loaded: Loaded, now_ms: number): Acting | Verdict<never> {
  const { caller, unnamed, rules } = command;
  if (isModeOpen(loaded) && unnamed === true && rules.file === undefined)
    return lonePrimary(command, loaded, now_ms);
  const mode = claimModeIn(loaded);
  const isKnown = mode.agent?.caller_id === caller.agent_id;
  const as = (agent_id: string) => ({ ...caller, agent_id });
  if (mode.mode === 'many') {
    const agent_id = unnamed === true && isKnown ? mode.agent?.agent_id : undefined;
    return { caller: as(agent_id ?? caller.agent_id), single: false, events: [] };
  }
  if (isKnown) return { caller: as(mode.agent?.agent_id ?? caller.agent_id), single: true, events: [] };
  const newcomer = {
    agent_id: unnamed === true ? rules.single.agent_id : caller.agent_id,
    caller_id: caller.agent_id,
  };
  if (mode.agent !== undefined) {
    const ranges = signsOf(mode.agent, now_ms);
    if (ranges.some((range) => !loaded.hasList(range))) return need({ ranges });
    if (isLive(mode.agent, rules, loaded, now_ms)) {
      if (mode.second_agent === 'refuse') return refused(secondAgent(mode.agent));
      const { second_agent } = mode;
      const event = modeChanged({ mode: 'many', second_agent }, 'second_agent', caller.agent_id);
      return { caller, single: false, events: [event] };
    }
  }
  // An agent that has a name was configured, and claims as among many.
  if (mode.by_default === true && unnamed !== true) return { caller, single: false, events: [] };
  return { caller: as(newcomer.agent_id), single: true, events: [agentChanged(newcomer)] };
}

/**
 * Nothing is configured: neither roles, nor the mode, nor the caller's name. If no other agent is there, the
 * caller is the one agent of the project.
 */
function lonePrimary(
  { caller, rules }: ClaimCommand,
  loaded: Loaded,
  now_ms: number,
): Acting | Verdict<never> {
  const ranges = [heardSince(now_ms - SILENT_MS), heldClaims, staleClaims];
  if (ranges.some((range) => !loaded.hasList(range))) return need({ ranges });
  const { agent_id } = rules.single;
  const own = [caller.agent_id, agent_id];
  const [here = [], ...held] = ranges.map((range) => loaded.list<SessionState | ClaimState>(range));
  const holders = held.flat().map(({ state }) => (state as ClaimState).lease?.agent_id);
  const sessions = here.map(({ state }) => (state as SessionState).agent_id);
  const isAlone =
    here.length < limits.sessions_listed_max &&
    [...sessions, ...holders].every((each) => each === undefined || own.includes(each));
  if (!isAlone) return { caller, single: false, events: [] };
  // What it has claimed under its own name before stays its own.
  const as = holders.includes(caller.agent_id) ? caller.agent_id : agent_id;
  const agent = { agent_id: as, caller_id: caller.agent_id };
  const event = modeChanged(
    { mode: 'single', second_agent: 'switch', agent },
    'unconfigured',
    caller.agent_id,
  );
  return { caller: { ...caller, agent_id: as }, single: true, events: [event] };
}

const SILENT_MS = limits.session_stale_minutes_default * 60_000;

function signsOf({ agent_id }: SingleAgent, now_ms: number): Range[] {
  return [heardSince(now_ms - SILENT_MS), claimsOf(agent_id)];
}

/**
 * The agent has a session that is not silent, or has recently worked on one of its claims. Searches all current
 * sessions and not the agent's own: over the months most of an agent's own sessions have ended.
 */
function isLive(agent: SingleAgent, { stale_ms }: ClaimRules, loaded: Loaded, now_ms: number): boolean {
  const here = loaded.list<SessionState>(heardSince(now_ms - SILENT_MS));
  // More sessions than one listing shows: no agent is alone here.
  if (here.length === limits.sessions_listed_max) return true;
  const hasSession = here.some(
    ({ state }) => state.agent_id === agent.caller_id && now_ms - state.last_heartbeat_ms < SILENT_MS,
  );
  if (hasSession) return true;
  return loaded
    .list<ClaimState>(claimsOf(agent.agent_id))
    .some(({ state }) => now_ms - state.last_active_ms < stale_ms);
}

function secondAgent({ agent_id }: SingleAgent): Refusal {
  const message = `${agent_id} works on this project alone, and is there.`;
  return refuse('single_agent_mode', message, { agent_id });
}

/**
 * The role an agent acts in: the one the file binds it to, else the one it names, else the one it claimed the
 * edge in. A role can't be changed on the way: an agent that could name another role at convergence would
 * have every role.
 */
export function roleOf(
  { rules, agent_role }: ClaimCommand,
  { caller, single }: Acting,
  granted: string | undefined,
): { readonly agent_role: string | undefined } | Refusal {
  const { agent_id } = caller;
  const bound = Object.hasOwn(rules.agents, agent_id) ? rules.agents[agent_id] : undefined;
  const fixed = bound ?? granted;
  if (fixed !== undefined && agent_role !== undefined && agent_role !== fixed) {
    const why = bound === undefined ? 'has claimed it as' : 'is bound by agent_roles.yml to';
    const message = `${agent_id} ${why} ${fixed}, not ${agent_role}.`;
    return refuse('role_mismatch', message, { agent_id, agent_role: fixed });
  }
  return { agent_role: fixed ?? agent_role ?? (single ? rules.single.agent_role : undefined) };
}
