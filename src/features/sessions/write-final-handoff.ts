import type { SessionName } from '../../ledger/log.ts';
import type { Step } from '../../runtime/operation.ts';
import { leaveHandoff } from './reclaim-commands.ts';
import { type SessionState, sessionKey } from './state.ts';

/** How many of its last completions, and of its last acts, are looked for. */
const COMPLETIONS_MAX = 20;
const ACTS_MAX = 100;

/** What every session leaves in the log is no act of the agent's. */
const NO_ACTS: ReadonlySet<string> = new Set(['session', 'agent', 'handoff', 'usage']);

/**
 * What an ended session leaves for the agent that continues its work, unless it has left a hand-off itself or
 * there is nothing to say.
 */
export async function leaveFinalHandoff(step: Step, session: SessionName): Promise<void> {
  const key = sessionKey(session);
  const { loaded } = await step.find({ keys: [key] });
  const since_ms = loaded.get<SessionState>(key)?.state.started_at_ms;
  if (since_ms === undefined) return;
  const completed = await completedBy(step, session, since_ms);
  const acted = await countActs(step, session, since_ms);
  await step.chore('write_handoff', leaveHandoff(session, completed, acted));
}

/** How often it changed anything. */
async function countActs(step: Step, session: SessionName, since_ms: number): Promise<number> {
  const { entries } = await step.search({ agent_id: session.agent_id, since_ms, limit: ACTS_MAX });
  return entries.filter(
    ({ session_id, events }) =>
      session_id === session.session_id && events.some(({ kind }) => !NO_ACTS.has(kind)),
  ).length;
}

/** No record says who completed a task: the log does. */
async function completedBy(step: Step, session: SessionName, since_ms: number): Promise<string[]> {
  const ids = new Set<string>();
  for (const operation of ['complete_work', 'complete_work_batch']) {
    const query = { agent_id: session.agent_id, operation, since_ms, limit: COMPLETIONS_MAX };
    for (const { session_id, events } of (await step.search(query)).entries)
      if (session_id === session.session_id)
        for (const { type, id } of events) if (type === 'task_completed') ids.add(id);
  }
  return [...ids].slice(0, COMPLETIONS_MAX);
}
