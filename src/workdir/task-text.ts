import { stringify } from 'yaml';
import type { FollowUp, TaskChanges } from '../domain/workdir/actions.ts';
import { isoTime } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { type Rewritten, rewriteYaml, type Setting } from '../places/yaml-text.ts';

/** What is new in a task stands behind the last of these. */
const OURS = ['agent', 'status', 'created_at', 'assigned_at', 'started_at', 'completed_at', 'archived_at'];

/** To the second: nobody reads more of it. */
function timeText(at_ms: number): string {
  return `${isoTime(at_ms).slice(0, 19)}Z`;
}

export interface TextChanges extends TaskChanges {
  readonly started_at_ms?: number;
  readonly result?: JsonObject;
}

/** The text with these values; every other byte stays as it is. */
export function rewriteTask(text: string, changes: TextChanges): Rewritten {
  return rewriteYaml(text, (file) => settingsFor(isObject(file) ? file : {}, changes));
}

function settingsFor(file: JsonObject, changes: TextChanges): Setting[] {
  const settings: Setting[] = [];
  const set = (key: string, value: Setting['value'] | undefined) => {
    if (value !== undefined && file[key] !== value) settings.push({ path: [key], value, after: OURS });
  };
  const time = (at_ms: number | undefined) => (at_ms === undefined ? undefined : timeText(at_ms));
  set('agent', changes.agent);
  set('status', changes.status);
  set('assigned_at', time(changes.assigned_at_ms));
  set('started_at', time(changes.started_at_ms));
  set('completed_at', time(changes.completed_at_ms));
  set('archived_at', time(changes.archived_at_ms));
  set('follow_up', changes.follow_up);
  set('result', changes.result);
  const { error } = changes;
  if (error === undefined) return settings;
  const timestamp = time(error.at_ms);
  const wanted = { message: error.message, ...(timestamp === undefined ? {} : { timestamp }) };
  if (!isObject(file.error)) settings.push({ path: ['error'], value: wanted, after: OURS });
  else for (const [key, value] of Object.entries(wanted)) settings.push({ path: ['error', key], value });
  return settings;
}

/** A new task, with its keys in the order in which people write them. */
function newTaskText(task: JsonObject): string {
  return stringify(task, { lineWidth: 0 });
}

export function followUpText({ created_at_ms, ...task }: FollowUp): string {
  const { id, agent, title, artefacts, priority, repo, branch, notes, previous_task, previous_agent } = task;
  return newTaskText({
    id,
    agent,
    status: 'new',
    title,
    ...(priority === 'normal' ? {} : { priority }),
    artefacts: [...artefacts],
    context: {
      ...(repo === undefined ? {} : { repo }),
      ...(branch === undefined ? {} : { branch }),
      ...(notes.length === 0 ? {} : { notes: [...notes] }),
      previous_task,
      previous_agent,
    },
    created_at: timeText(created_at_ms),
    created_by: 'coordinator',
  });
}
