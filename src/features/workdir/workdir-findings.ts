import { isoTime } from '../../kernel/clock.ts';
import { conflictsOf } from './conflicts.ts';
import { compare, type TaskFile, taskLastSign_ms } from './task-file.ts';
import type { WorkdirSettings } from './workdir-settings.ts';

/** What a person should know. With a moment it is an occurrence: told once. Without one it is simply so, as long as it is. */
export interface WorkdirFinding {
  readonly kind: 'waiting' | 'conflict' | 'stalled' | 'silent' | 'misplaced' | 'blocked' | 'error' | 'frozen';
  readonly id?: string | undefined;
  readonly agent?: string | undefined;
  readonly text: string;
  /** From the files, never from the clock: a later look finds the same. */
  readonly at_ms?: number | undefined;
}

export function findings(
  files: readonly TaskFile[],
  agents: ReadonlySet<string>,
  now_ms: number,
  settings: WorkdirSettings,
): WorkdirFinding[] {
  const working = files.filter(({ shelf, task }) => shelf === 'assigned' && task.status === 'in_progress');
  return [
    ...conflicts(working),
    ...stalled(working, now_ms, settings),
    ...silent(files, agents, now_ms, settings),
    ...misplaced(files),
    ...blocked(files),
    ...errors(files),
  ];
}

function conflicts(working: readonly TaskFile[]): WorkdirFinding[] {
  const started = new Map(working.map((file) => [file.task.id, taskLastSign_ms(file)]));
  return conflictsOf(working).map(({ artefact, tasks }) => ({
    kind: 'conflict',
    text: `Conflict: ${artefact} targeted by ${tasks.join(', ')}`,
    // It started when the last of them was started.
    at_ms: Math.max(0, ...tasks.map((id) => started.get(id) ?? 0)),
  }));
}

/** [DIR-4] */
function stalled(
  working: readonly TaskFile[],
  now_ms: number,
  { timeout_ms }: WorkdirSettings,
): WorkdirFinding[] {
  return working.flatMap((file): WorkdirFinding[] => {
    const { id, agent } = file.task;
    const since_ms = file.task.started_at_ms ?? taskLastSign_ms(file);
    if (since_ms === undefined || now_ms - since_ms < timeout_ms) return [];
    const hours = timeout_ms / 3_600_000;
    return [
      { kind: 'stalled', id, agent, text: `Task ${id} stalled (>${hours}h)`, at_ms: since_ms + timeout_ms },
    ];
  });
}

/**
 * Agents that have had something to do for long and given no sign of life. Being given more tasks does not
 * count as one.
 */
function silent(
  files: readonly TaskFile[],
  agents: ReadonlySet<string>,
  now_ms: number,
  { silent_ms }: WorkdirSettings,
): WorkdirFinding[] {
  const signs = lastSigns(files);
  const since = new Map<string, number>();
  for (const file of files) {
    const { assigned_at_ms, status } = file.task;
    const isIdle = status === 'error' || status === 'done' || status === 'blocked';
    if (file.shelf !== 'assigned' || isIdle || assigned_at_ms === undefined) continue;
    const agent = file.folder ?? file.task.agent;
    since.set(agent, Math.min(assigned_at_ms, since.get(agent) ?? assigned_at_ms));
  }
  return [...agents].sort(compare).flatMap((agent): WorkdirFinding[] => {
    const waits_ms = since.get(agent);
    if (waits_ms === undefined) return [];
    const sign_ms = Math.max(waits_ms, signs.get(agent) ?? 0);
    if (now_ms - sign_ms < silent_ms) return [];
    const text = `Agent ${agent} without activity since ${minuteOf(sign_ms)}`;
    return [{ kind: 'silent', agent, text, at_ms: sign_ms + silent_ms }];
  });
}

function minuteOf(at_ms: number): string {
  return `${isoTime(at_ms).slice(0, 16).replace('T', ' ')} UTC`;
}

/** By agent: its last action, according to its tasks. */
export function lastSigns(files: readonly TaskFile[]): Map<string, number> {
  const signs = new Map<string, number>();
  for (const { folder, task } of files) {
    const { started_at_ms = 0, completed_at_ms = 0, error } = task;
    const { agent } = task;
    const sign_ms = Math.max(started_at_ms, completed_at_ms, folder === undefined ? 0 : (error?.at_ms ?? 0));
    if (sign_ms > 0) signs.set(agent, Math.max(sign_ms, signs.get(agent) ?? 0));
  }
  return signs;
}

/** Done where its agent worked on it. Moving it is for the agent or a person: it may have been put back on purpose. */
function misplaced(files: readonly TaskFile[]): WorkdirFinding[] {
  return files
    .filter(({ shelf, task }) => shelf === 'assigned' && task.status === 'done')
    .sort((a, b) => compare(a.task.id, b.task.id))
    .map(({ task: { id, agent }, path }) => ({
      kind: 'misplaced',
      id,
      agent,
      text: `Task ${id} is done and lies in ${path}: move it to done/, or set its status to assigned to have it done again`,
    }));
}

function blocked(files: readonly TaskFile[]): WorkdirFinding[] {
  return files
    .filter(({ shelf, task }) => shelf === 'assigned' && task.status === 'blocked')
    .sort((a, b) => compare(a.task.id, b.task.id))
    .map(({ task: { id, agent } }) => ({
      kind: 'blocked',
      id,
      agent,
      text: `Task ${id} is blocked, as its file says`,
    }));
}

function errors(files: readonly TaskFile[]): WorkdirFinding[] {
  return files
    .filter(({ shelf, task }) => task.status === 'error' && (shelf === 'assigned' || shelf === 'inbox'))
    .sort((a, b) => compare(a.task.id, b.task.id))
    .map(({ task, path, ...file }) => ({
      kind: 'error',
      id: task.id,
      agent: task.agent,
      text: `Task ${task.id} in error: ${task.error?.message ?? 'no message'}`,
      at_ms: task.error?.at_ms ?? taskLastSign_ms({ task, ...file }) ?? task.created_at_ms ?? 0,
    }));
}
