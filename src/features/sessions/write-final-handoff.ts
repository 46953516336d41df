import type { SessionName } from '../../ledger/log.ts';
import type { Step } from '../../runtime/operation.ts';
import { leaveHandoff } from './reclaim-commands.ts';
import { type SessionState, sessionKey } from './state.ts';

/** How many of its last completions are looked for. */
const COMPLETIONS_MAX = 20;

/**
 * What an ended session leaves for the agent that continues its work, unless it has left a hand-off itself or
 * there is nothing to say.
 */
export async function leaveFinalHandoff(step: Step, session: SessionName): Promise<void> {
  await step.chore('write_handoff', leaveHandoff(session, await completedBy(step, session)));
}

/** No record says who completed a task: the log does. */
async function completedBy(step: Step, session: SessionName): Promise<string[]> {
  const key = sessionKey(session);
  const { loaded } = await step.find({ keys: [key] });
  const since_ms = loaded.get<SessionState>(key)?.state.started_at_ms;
  if (since_ms === undefined) return [];
  const ids = new Set<string>();
  for (const operation of ['complete_work', 'complete_work_batch']) {
    const query = { agent_id: session.agent_id, operation, since_ms, limit: COMPLETIONS_MAX };
    for (const { session_id, events } of (await step.search(query)).entries)
      if (session_id === session.session_id)
        for (const { type, id } of events) if (type === 'task_completed') ids.add(id);
  }
  return [...ids].slice(0, COMPLETIONS_MAX);
}
