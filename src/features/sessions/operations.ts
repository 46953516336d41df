import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { isRefusal, refuse } from '../../kernel/refusal.ts';
import { newSecret, secretHash } from '../../kernel/secret.ts';
import { answerOf } from '../../ledger/decision.ts';
import type { Operation, Step } from '../../runtime/operation.ts';
import { handoffRange, listHandoffs } from '../handoffs/index.ts';
import { inboxRanges } from '../mail/index.ts';
import { registerSession as register, touchSession } from './commands.ts';
import { cleanUp, end, free } from './reclaim.ts';
import { sessionToken } from './session-token.ts';
import { discoverAgents as discover, discoverNeeds, type SessionState, type SessionStatus } from './state.ts';

const DEFAULT_IDLE_MS = limits.session_idle_minutes_default * 60_000;

export interface Registration {
  capabilities?: string[] | undefined;
  current_task?: string | undefined;
}

export const registerSession = {
  name: 'register_session',
  group: 'session',
  verb: 'register',
  summary:
    'Say who you are and what you work on, first thing. Answers with the last hand-off and how much mail waits.',
  route: { method: 'POST', path: '/sessions/register' },
  mutates: true,
  standard: true,
  signs: 'here',
  examples: ['cox session register --capabilities typescript review --current-task "move the router"'],
  input: async () => (await import('./schemas.ts')).registerSession,
  async handle(input, step) {
    const secret = newSecret();
    const { capabilities, current_task } = input;
    const command = { caller: step.caller, capabilities, current_task, token_hash: secretHash(secret) };
    const outcome = await step.run(register(command));
    const answer = answerOf(outcome);
    if (isRefusal(answer) || outcome.status !== 'committed') return answer;
    // The secret is in no log; a repeated call gets the first call's result, and no second secret.
    const session_token = outcome.repeated ? undefined : sessionToken(step.caller, secret);
    return { ...answer, session_token, ...(await whatAwaits(step)) };
  },
} satisfies Operation<Registration>;

/** What a new session should know first: mail and the last hand-off, the agent's own before any other. */
async function whatAwaits(step: Step): Promise<JsonObject> {
  const { agent_id } = step.caller;
  const [own, any] = [handoffRange(agent_id, 1), handoffRange(undefined, 1)];
  const which = { all: false, limit: limits.messages_listed_max };
  const unread = inboxRanges(agent_id, which);
  const { loaded } = await step.find({ ranges: [own, any, ...unread] });
  const [handoff] = [...listHandoffs(own, loaded), ...listHandoffs(any, loaded)];
  const unread_messages = unread.reduce((count, range) => count + loaded.list(range).length, 0);
  return { handoff: handoff ?? null, unread_messages };
}

export const heartbeat = {
  name: 'heartbeat',
  group: 'session',
  verb: 'heartbeat',
  summary: 'Still there, during long work; any other call says so as well.',
  route: { method: 'POST', path: '/sessions/heartbeat' },
  mutates: true,
  proven: true,
  standard: true,
  signs: 'here',
  winds_down: true,
  examples: ['cox session heartbeat'],
  input: async () => (await import('./schemas.ts')).heartbeat,
  async handle(_input, step) {
    return answerOf(await step.run(touchSession(step.caller, { active: true, calls: 1 })));
  },
} satisfies Operation;

export const discoverAgents = {
  name: 'discover_agents',
  group: 'session',
  verb: 'list',
  summary: 'Who else is here, what they can do and what they work on.',
  route: { method: 'POST', path: '/agents/discover' },
  mutates: false,
  standard: true,
  examples: ['cox session list', 'cox session list --capability review --status active'],
  input: async () => (await import('./schemas.ts')).discoverAgents,
  async handle({ capability, status }, step) {
    const discovery = { capability, status, idle_ms: step.presence?.idle_ms ?? DEFAULT_IDLE_MS };
    const { loaded, now_ms } = await step.find(discoverNeeds(discovery));
    return discover(discovery, (range) => loaded.list<SessionState>(range), now_ms);
  },
} satisfies Operation<{
  capability?: string | undefined;
  status?: SessionStatus | undefined;
}>;

export const endSession = {
  name: 'end_session',
  group: 'session',
  verb: 'end',
  summary: 'You are done: releases all your locks and gives your tasks back.',
  route: { method: 'POST', path: '/sessions/end' },
  mutates: true,
  standard: false,
  signs: 'gone',
  winds_down: true,
  examples: ['cox session end'],
  input: async () => (await import('./schemas.ts')).endSession,
  async handle(_input, step) {
    const { session_id } = step.caller;
    if (!(await end(step, step.caller, 'ended')))
      return { success: true, session_id, locks_released: 0, tasks_returned: 0 };
    return { success: true, session_id, ...(await free(step, step.caller)) };
  },
} satisfies Operation;

export const cleanupDeadAgents = {
  name: 'cleanup_dead_agents',
  group: 'session',
  verb: 'cleanup',
  summary: 'End sessions that have been silent for too long; their locks and tasks become free.',
  route: { method: 'POST', path: '/sessions/cleanup' },
  mutates: true,
  standard: false,
  examples: ['cox session cleanup', 'cox session cleanup --stale-threshold-minutes 60'],
  input: async () => (await import('./schemas.ts')).cleanupDeadAgents,
  async handle({ stale_threshold_minutes }, step) {
    const stale_ms = stale_threshold_minutes * 60_000;
    const { presence, authority } = step;
    // A live agent is silent for up to one interval, and no agent may declare other agents dead before their
    // time.
    const least_ms = Math.max(
      2 * (presence?.touch_ms ?? 0),
      authority === 'agent' ? (presence?.stale_ms ?? 0) : 0,
    );
    if (stale_ms < least_ms)
      return refuse('invalid_input', `stale_threshold_minutes: expected at least ${least_ms / 60_000}`, {
        field: 'stale_threshold_minutes',
      });
    return { success: true, ...(await cleanUp(step, stale_ms)) };
  },
} satisfies Operation<{ stale_threshold_minutes: number }>;
