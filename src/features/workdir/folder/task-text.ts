import { parseDocument, stringify } from 'yaml';
import { isoTime } from '../../../kernel/clock.ts';
import { isObject, type JsonObject } from '../../../kernel/json.ts';
import type { Setting } from '../../../storage/yaml-splices.ts';
import { type Rewritten, rewriteYaml } from '../../../storage/yaml-text.ts';
import type { FollowUp } from '../task-actions.ts';
import type { NewTaskFile, ResultGiven, VerbChanges } from '../verbs.ts';

/** New keys of a task are inserted after the last of these. */
const OURS = [
  'agent',
  'status',
  'created_at',
  'assigned_at',
  'started_at',
  'started_by',
  'completed_at',
  'archived_at',
];

/** To the second; more is of no use to readers. */
function timeText(at_ms: number): string {
  return `${isoTime(at_ms).slice(0, 19)}Z`;
}

/** What a pass writes, and what the verbs write. */
export type TextChanges = VerbChanges;

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
  set('started_by', changes.started_by);
  set('completed_at', time(changes.completed_at_ms));
  set('archived_at', time(changes.archived_at_ms));
  set('follow_up', changes.follow_up);
  set('result', changes.result === undefined ? undefined : resultText(changes.result));
  settings.push(...errorSettings(file, changes));
  return settings;
}

function resultText({ completed_at_ms, ...result }: ResultGiven): JsonObject {
  return { ...result, completed_at: timeText(completed_at_ms) };
}

function errorSettings({ error: now }: JsonObject, { error, retry_count }: TextChanges): Setting[] {
  const wanted: JsonObject = {
    ...(error === undefined ? {} : { message: error.message }),
    ...(error?.at_ms === undefined ? {} : { timestamp: timeText(error.at_ms) }),
    ...(error?.agent === undefined ? {} : { agent: error.agent }),
    ...(retry_count === undefined ? {} : { retry_count }),
  };
  if (Object.keys(wanted).length === 0) return [];
  if (isObject(now))
    return Object.entries(wanted).map(([key, value = null]) => ({ path: ['error', key], value }));
  // An error that was only a sentence becomes a block with that sentence in it.
  const value = typeof now === 'string' ? { message: now, ...wanted } : wanted;
  return [{ path: ['error'], value, after: OURS }];
}

/** A new task, with its keys in the order in which people write them. */
function newTaskText(task: JsonObject): string {
  return stringify(task, { lineWidth: 0 });
}

/** As the caller asks for it. */
export function newTaskFileText(task: NewTaskFile): string {
  const { id, agent, title, priority, artefacts, notes, dependencies, created_by, created_at_ms, work_id } =
    task;
  const context = {
    ...(notes.length === 0 ? {} : { notes: [...notes] }),
    ...(dependencies.length === 0 ? {} : { dependencies: [...dependencies] }),
  };
  return newTaskText({
    id,
    agent,
    status: 'new',
    title,
    ...(priority === 'normal' ? {} : { priority }),
    artefacts: [...artefacts],
    ...(Object.keys(context).length === 0 ? {} : { context }),
    created_at: timeText(created_at_ms),
    created_by,
    ...(work_id === undefined ? {} : { work_id }),
  });
}

/** Everything in a task's file, whatever its author; values that are not plain data are left out. */
export function wholeTask(text: string): JsonObject | undefined {
  try {
    const read: unknown = JSON.parse(JSON.stringify(parseDocument(text, { schema: 'core' }).toJS()));
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
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
