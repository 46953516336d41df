import { areaName } from '../../kernel/area.ts';
import { uuidFromKey } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { refuse } from '../../kernel/refusal.ts';
import { type Decision, type Loaded, need, refused } from '../../ledger/decision.ts';
import type { Lease } from '../../ledger/lease.ts';
import type { SessionName } from '../../ledger/log.ts';
import { type Changeset, changesetRange } from '../changesets/index.ts';
import {
  type Handoff,
  handoffKey,
  handoffRange,
  handoffWritten,
  type NewHandoff,
} from '../handoffs/index.ts';
import { AUTOMATIC, areaOf, heldLocks, type LockState, placeOf } from '../locks/index.ts';
import { type TaskState, taskKey } from '../queue/index.ts';
import { refuseToFree } from './change-session.ts';
import { claimedTasks } from './free-leases.ts';
import { type SessionState, sessionKey } from './state.ts';

const HANDOFFS_LOOKED_AT = 20;
const CHANGESETS_LOOKED_AT = 100;
const WORDS_CHARS_MAX = 200;

/**
 * The hand-off of a session that has ended, from what the log knows: what it changed and finished since its
 * last one, and what it was in the middle of. It is written before its locks and tasks are freed, under an id
 * derived from its end: a process that continues a killed clean-up writes no second one.
 */
export function leaveHandoff(
  session: SessionName,
  completed: readonly string[],
  acted = 0,
): Decision<JsonObject> {
  const handoffs = handoffRange(session.agent_id, HANDOFFS_LOOKED_AT);
  const changesets = changesetRange(session, CHANGESETS_LOOKED_AT);
  return {
    needs: {
      keys: [sessionKey(session), ...completed.map(taskKey)],
      ranges: [handoffs, changesets, heldLocks.range, claimedTasks.range],
    },
    decide(loaded) {
      const back = refuseToFree(session, loaded);
      const state = loaded.get<SessionState>(sessionKey(session))?.state;
      if (back !== undefined || state === undefined) return refused(back ?? nothingToSay);
      const id = uuidFromKey(`handoff\n${session.agent_id}\n${session.session_id}\n${state.ended_at_ms}`);
      if (!loaded.hasKey(handoffKey(id))) return need({ keys: [handoffKey(id)] });
      if (loaded.get(handoffKey(id)) !== undefined) return refused(nothingToSay);
      const own = loaded
        .list<Handoff>(handoffs)
        .filter((each) => each.state.session_id === session.session_id);
      const since_ms = Math.max(0, ...own.map((each) => each.state.created_at_ms));
      const changed = loaded
        .list<Changeset>(changesets)
        .filter((each) => each.state.created_at_ms > since_ms);
      const relevant_files = unique(changed.flatMap((each) => each.state.files));
      const completed_work = finished(completed, since_ms, loaded);
      const in_progress = unfinished(session, since_ms, loaded);
      // Giving back a lock after its own hand-off must not hide what the agent wrote.
      const acts = own.length > 0 ? 0 : acted;
      if (relevant_files.length + completed_work.length + in_progress.length + acts === 0)
        return refused(nothingToSay);
      const counts = { files: relevant_files.length, done: completed_work.length, begun: in_progress.length };
      const summary = summaryOf(state, { ...counts, acts });
      const handoff = { summary, completed_work, in_progress, decisions: [], next_steps: [], relevant_files };
      return handoffWritten(id, session, short(handoff));
    },
  };
}

const nothingToSay = refuse('wrong_status', 'There is nothing to hand over.');

function unique(items: readonly string[]): string[] {
  return [...new Set(items)];
}

function words(text: string): string {
  return text.length > WORDS_CHARS_MAX ? `${text.slice(0, WORDS_CHARS_MAX).toWellFormed()}…` : text;
}

function short(handoff: NewHandoff): NewHandoff {
  const few = (items: readonly string[]) => items.slice(0, limits.handoff_items_max);
  return {
    ...handoff,
    completed_work: few(handoff.completed_work),
    in_progress: few(handoff.in_progress),
    relevant_files: few(handoff.relevant_files),
  };
}

function described(id: string, { task_type, description }: TaskState): string {
  return `task ${id} (${words(task_type)}): ${words(description)}`;
}

function finished(task_ids: readonly string[], since_ms: number, loaded: Loaded): string[] {
  return task_ids.flatMap((id) => {
    const task = loaded.get<TaskState>(taskKey(id))?.state;
    return task?.ended_at_ms === undefined || task.ended_at_ms <= since_ms ? [] : [described(id, task)];
  });
}

/**
 * What it took since its own last hand-off: what it knew then is in that hand-off, which must not be hidden
 * by a poorer one. The first page of held leases is enough: a session that holds more has other problems.
 */
function unfinished(session: SessionName, since_ms: number, loaded: Loaded): string[] {
  const isNew = (lease: Lease | undefined) => lease !== undefined && lease.granted_at_ms > since_ms;
  const claimed = loaded.list<TaskState>(claimedTasks.range);
  const ids = new Set(claimedTasks.heldBy(claimed, session));
  const tasks = claimed
    .filter(({ id, state }) => ids.has(id) && isNew(state.lease))
    .map(({ id, state }) => described(id, state));
  const locks = loaded.list<LockState>(heldLocks.range).flatMap(({ id, state }) =>
    placeOf(state)
      .leases.filter(
        (lease) => lease.agent_id === session.agent_id && lease.session_id === session.session_id,
      )
      .filter(isNew)
      .filter(({ reason }) => reason !== AUTOMATIC)
      .map(({ reason, ...lease }) => {
        const area = areaName(areaOf(id, lease));
        return reason === undefined ? `${area} was locked` : `${area} was locked: ${words(reason)}`;
      }),
  );
  return [...tasks, ...locks];
}

interface Counts {
  readonly files: number;
  readonly done: number;
  readonly begun: number;
  /** Everything else, too: a lock that was given back, a letter, a bid. */
  readonly acts: number;
}

function summaryOf(state: SessionState, { files, done, begun, acts }: Counts): string {
  const end = state.end_reason === 'silent' ? 'fell silent and was ended' : 'ended';
  const task = state.current_task === undefined ? '' : ` It worked on: ${words(state.current_task)}.`;
  const counts = [
    files > 0 ? `${files} ${files === 1 ? 'file' : 'files'} changed` : '',
    done > 0 ? `${done} ${done === 1 ? 'task' : 'tasks'} completed` : '',
    begun > 0 ? `${begun} ${begun === 1 ? 'thing' : 'things'} left begun` : '',
  ].filter((part) => part !== '');
  if (counts.length === 0)
    counts.push(`${acts} ${acts === 1 ? 'change' : 'changes'} in the log, nothing left begun`);
  return `Written from the log: the session of ${state.agent_id} ${end}.${task} ${counts.join(', ')}.`;
}
