import { compare, type TaskFile } from './task-file.ts';
import type { WorkdirFinding } from './workdir-findings.ts';

/** Something that happened, or was found, at a time that the files themselves give. So it is reported once. */
export interface Occurrence {
  readonly at_ms: number;
  readonly type:
    | 'assigned'
    | 'started'
    | 'completed'
    | 'handed_over'
    | 'archived'
    | 'error'
    | WorkdirFinding['kind'];
  readonly task?: string | undefined;
  readonly agent?: string | undefined;
  readonly text: string;
  readonly follow_up?: string | undefined;
}

const TOLD: ReadonlySet<Occurrence['type']> = new Set(['conflict', 'stalled', 'silent', 'error']);

/** It is a finding, and is reported as long as it holds. */
export function isFound({ type }: Occurrence): boolean {
  return TOLD.has(type);
}

/** All there are in a tree, in the order of time. */
export function occurrencesIn(files: readonly TaskFile[], findings: readonly WorkdirFinding[]): Occurrence[] {
  const found = files.flatMap((file) => (file.shelf === 'fridge' ? [] : occurrencesOf(file)));
  for (const { kind, id, agent, text, at_ms } of findings)
    if (TOLD.has(kind) && at_ms !== undefined) found.push({ at_ms, type: kind, task: id, agent, text });
  found.push(...handOvers(files));
  return found.sort(
    (a, b) => a.at_ms - b.at_ms || compare(a.task ?? '', b.task ?? '') || compare(a.text, b.text),
  );
}

function occurrencesOf({ task, shelf }: TaskFile): Occurrence[] {
  const { id, agent, assigned_at_ms, started_at_ms, completed_at_ms, archived_at_ms } = task;
  const common = { task: id, agent };
  const found: Occurrence[] = [];
  if (assigned_at_ms !== undefined && shelf !== 'inbox')
    found.push({ ...common, at_ms: assigned_at_ms, type: 'assigned', text: `Assigned ${id} to ${agent}` });
  if (started_at_ms !== undefined && shelf !== 'inbox')
    found.push({ ...common, at_ms: started_at_ms, type: 'started', text: `Started ${id} by ${agent}` });
  if (shelf !== 'done') return found;
  if (completed_at_ms !== undefined)
    found.push({
      ...common,
      at_ms: completed_at_ms,
      type: 'completed',
      text: `Completed ${id} by ${agent}`,
    });
  if (archived_at_ms !== undefined && task.status === 'archived')
    found.push({ ...common, at_ms: archived_at_ms, type: 'archived', text: `Archived ${id}` });
  return found;
}

export interface HandOver {
  readonly at_ms: number;
  readonly from: TaskFile;
  readonly to: TaskFile;
}

/** Only of tasks whose follow-up still exists and says when it was made. */
export function handOversIn(files: readonly TaskFile[]): HandOver[] {
  const byId = new Map(files.map((file) => [file.task.id, file]));
  return files
    .flatMap((from) => {
      const to = from.task.follow_up === undefined ? undefined : byId.get(from.task.follow_up);
      const at_ms = to?.task.created_at_ms;
      return to === undefined || at_ms === undefined ? [] : [{ at_ms, from, to }];
    })
    .sort((a, b) => a.at_ms - b.at_ms || compare(a.to.task.id, b.to.task.id));
}

function handOvers(files: readonly TaskFile[]): Occurrence[] {
  return handOversIn(files).map(({ at_ms, from, to }) => ({
    at_ms,
    type: 'handed_over',
    task: from.task.id,
    agent: to.task.agent,
    follow_up: to.task.id,
    text: `Handed over ${from.task.id} from ${from.task.agent} to ${to.task.agent}: ${to.task.id}`,
  }));
}
