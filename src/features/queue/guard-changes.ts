import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { Step } from '../../runtime/operation.ts';
import { type Changeset, changesetRange, commitService } from '../changesets/index.ts';
import { exactHash, type PlainGuard, subjectOf } from '../guardrails/index.ts';
import type { Finding } from '../trust/index.ts';
import { type TaskState, taskKey } from './state.ts';

const CHANGESETS_MAX = 20;
const COMMITS_MAX = 50;
const SHOWN_FILES_MAX = 500;
const SHOWN_DIFF_CHARS_MAX = 60_000;

/** What a completed task is said to have changed. */
interface Changes {
  readonly diff?: string | undefined;
  readonly files: readonly string[];
  readonly commits: readonly string[];
  readonly base?: string | undefined;
}

/** A task that a caller reports as ended. */
interface Ended {
  readonly task_id: string;
  readonly success: boolean;
  readonly result?: unknown;
}

export interface JudgedChanges {
  /** Set if the reported changes could not be read. */
  readonly refusal?: Refusal | undefined;
  /** The findings, for the guard; undefined if there are none. */
  readonly guard?: PlainGuard | undefined;
  /** By task: the full hash of the commit that contains the work. */
  readonly commits: ReadonlyMap<string, string>;
}

interface Reading {
  readonly diffs: readonly string[];
  /** Why a commit could not be read. */
  readonly unread?: string | undefined;
  readonly head?: string | undefined;
}

/**
 * Judges what completed tasks have changed according to their results; with `of_session` also what the
 * session has reported where a result says nothing.
 */
export async function judgeChanges(
  tasks: readonly Ended[],
  step: Step,
  of_session: boolean,
): Promise<JudgedChanges> {
  const guards: PlainGuard[] = [];
  const commits = new Map<string, string>();
  for (const { task_id, success, result } of tasks) {
    // An agent must be able to give a task up, whatever became of it.
    if (!success) continue;
    const changes = changesIn(result) ?? (of_session ? await changesOfSession(task_id, step) : undefined);
    if (changes === undefined) continue;
    const reading = await read(changes, step);
    if (reading.head !== undefined) commits.set(task_id, reading.head);
    if (reading.unread !== undefined && reading.diffs.length === 0 && changes.files.length === 0) {
      const refusal = refuse('changes_unreadable', reading.unread, { field: 'result.commit', task_id });
      return { refusal, commits };
    }
    const findings = await assess(changes, reading);
    if (findings.length > 0) guards.push(await shown(task_id, changes, reading, findings));
  }
  return { guard: together(guards), commits };
}

async function assess({ files }: Changes, { diffs }: Reading): Promise<Finding[]> {
  const { assessDiff, assessFiles } = await import('../guardrails/diff/assess-diff.ts');
  const findings = assessFiles(files);
  for (const diff of diffs) findings.push(...(await assessDiff(diff)));
  return findings;
}

/** The result itself says what was changed. */
export function saysChanges(result: unknown): boolean {
  return changesIn(result) !== undefined;
}

/** From `result`, if it says anything about changes. */
function changesIn(result: unknown): Changes | undefined {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return undefined;
  const { diff, patch, files, files_changed, commit, commit_sha, commits, base } = result as JsonObject;
  const text = [diff, patch].find((value) => typeof value === 'string');
  const names = [...textsIn(files), ...textsIn(files_changed)];
  // The last commit contains all the work.
  const shas = [...textsIn(commits), ...textsIn(commit_sha), ...textsIn(commit)].filter((sha) => sha !== '');
  if (text === undefined && names.length === 0 && shas.length === 0) return undefined;
  const changes = { files: names, commits: [...new Set(shas)], base: textsIn(base)[0] };
  return text === undefined ? changes : { ...changes, diff: text as string };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** What the session has reported as changed since it claimed the task. */
async function changesOfSession(task_id: string, step: Step): Promise<Changes | undefined> {
  const range = changesetRange(step.caller, CHANGESETS_MAX);
  const key = taskKey(task_id);
  const { loaded } = await step.find({ keys: [key], ranges: [range] });
  const changesets = loaded.list<Changeset>(range);
  const since_ms = loaded.get<TaskState>(key)?.state.lease?.granted_at_ms ?? Number.POSITIVE_INFINITY;
  const own = changesets.filter(({ state }) => state.created_at_ms >= since_ms).map(({ state }) => state);
  if (own.length === 0) return undefined;
  const commits = own.flatMap(({ commit_sha }) => commit_sha ?? []);
  return { files: own.flatMap(({ files }) => files), commits: [...new Set(commits)] };
}

async function read({ diff, commits, base }: Changes, step: Step): Promise<Reading> {
  const diffs = diff === undefined ? [] : [diff];
  if (commits.length > COMMITS_MAX)
    return {
      diffs,
      unread: `More than ${COMMITS_MAX} commits: name the last, and in result.base where it began.`,
    };
  let unread: string | undefined;
  let head = commits.at(-1)?.toLowerCase();
  for (const commit of commits) {
    const changes = await step.use(commitService).changes(commit, base);
    if (!changes.ok) unread ??= changes.reason;
    else {
      diffs.push(changes.diff);
      if (commit === commits.at(-1)) head = changes.commit_sha;
    }
  }
  return { diffs, unread, head };
}

async function shown(
  task_id: string,
  { diff, files, commits, base }: Changes,
  { diffs }: Reading,
  findings: readonly Finding[],
): Promise<PlainGuard> {
  const { maskSecrets } = await import('../../command-analysis/secrets.ts');
  const masked = maskSecrets(diffs.join('\n'));
  const isLong = masked.length > SHOWN_DIFF_CHARS_MAX;
  const what: JsonObject = { task_id, commits: [...commits], base };
  return {
    kind: 'change',
    hash: exactHash('change', { ...what, files: [...files], diff }),
    subject: subjectOf(`the changes of task ${task_id}`),
    context: {
      ...what,
      files: files.slice(0, SHOWN_FILES_MAX),
      diff: isLong ? `${masked.slice(0, SHOWN_DIFF_CHARS_MAX).toWellFormed()}…` : masked,
    },
    findings,
  };
}

/** Several tasks that end in one commit are shown to a person as one. */
function together(guards: readonly PlainGuard[]): PlainGuard | undefined {
  const [first] = guards;
  if (first === undefined || guards.length === 1) return first;
  return {
    kind: 'change',
    hash: exactHash('changes', { hashes: guards.map(({ hash }) => hash) }),
    subject: subjectOf(guards.map(({ subject }) => subject).join(', ')),
    context: { changes: guards.map(({ context }) => context) },
    findings: guards.flatMap(({ findings }) => findings),
  };
}
