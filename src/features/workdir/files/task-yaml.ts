import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { parseMoment } from '../../../kernel/moment.ts';
import { isUnprintable } from '../../../kernel/names.ts';
import { present } from '../../../kernel/present.ts';
import type { FileProblem } from '../../../storage/file-problem.ts';
import { readPlain } from '../../../storage/plain-yaml.ts';
import { depthProblem } from '../../../storage/yaml-depth.ts';
import { readYaml } from '../../../storage/yaml-file.ts';
import { PRIORITIES, TASK_STATUSES, type TaskFileStatus, type WorkTask } from '../task-file.ts';

export type ParsedTask =
  /** The problems are in optional fields, which count as left out. */
  | { readonly ok: true; readonly task: WorkTask; readonly problems?: readonly FileProblem[] | undefined }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/** Part of a path and of a file name: nothing that leads to another folder. */
export const AGENT_NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;
export const TASK_ID = /^[A-Za-z0-9][\w.:+@-]{0,199}$/;

const text = (max: number) =>
  z
    .string()
    .max(max, `at most ${max} characters`)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'no NUL, no unpaired surrogates');
const blank = (given: unknown) => (given === null || given === '' ? undefined : given);
/** `a` where a list is expected is a list of one. */
const list = z.preprocess(
  (given) => (typeof given === 'string' ? [given] : given),
  z.array(text(limits.task_description_chars_max)).max(1000, 'at most 1000 of them'),
);
const agent = z.string().regex(AGENT_NAME, 'a name of letters, digits, dots, dashes and underscores');
const id = z.string().regex(TASK_ID, 'an id without spaces and slashes, such as 2026-03-01T0930-coder-login');
const moment = z.string().transform((given, context) => {
  const at_ms = momentOf(given);
  if (at_ms !== undefined) return at_ms;
  context.addIssue({ code: 'custom', message: 'expected a time such as 2026-03-01T09:30:00Z' });
  return z.NEVER;
});

/** A time without a zone is UTC: the same file is read by machines in all zones. */
function momentOf(given: string): number | undefined {
  const trimmed = given.trim();
  if (!/^\d{4}-\d\d-\d\d/.test(trimmed)) return undefined;
  const isDay = /^\d{4}-\d\d-\d\d$/.test(trimmed);
  const zoned = isDay
    ? `${trimmed}T00:00:00Z`
    : /(?:Z|[+-]\d\d(?::?\d\d)?)$/.test(trimmed)
      ? trimmed
      : `${trimmed}Z`;
  const found = parseMoment(zoned, 0);
  return found !== undefined && 'at_ms' in found ? found.at_ms : undefined;
}

/** `inbox` is another coordinator's word for a task that is new. */
const status = z
  .enum([...TASK_STATUSES, 'inbox'], `one of ${[...TASK_STATUSES, 'inbox'].join(', ')}`)
  .transform((given): TaskFileStatus => (given === 'inbox' ? 'new' : given));

/** Also becomes the title of a follow-up: a task must not produce one that can't be read. */
const title = text(2000).refine((value) => !isUnprintable(value), 'printable characters only');

/**
 * `lenient`: what is wrong in an optional field counts as left out, so that the task itself is not held up. An
 * unreadable dependency stays one that is not met, and an unreadable follow-up one that is there.
 */
function schemaFor(lenient: boolean) {
  const optional = <S extends z.ZodType>(schema: S) => {
    const given = z.preprocess(blank, schema.optional());
    return lenient ? given.catch(undefined) : given;
  };
  const named = lenient
    ? z
        .unknown()
        .transform((given) => (typeof given === 'string' ? given : JSON.stringify(given)).slice(0, 200))
    : id;
  const result = z.object({
    summary: optional(text(limits.task_description_chars_max)),
    next_agent: optional(agent),
    next_task_title: optional(title),
    next_artefacts: optional(list),
    next_artifacts: optional(list),
    next_task_notes: optional(list),
    completed_at: optional(moment),
  });
  const context = z.object({
    repo: optional(text(2000)),
    branch: optional(text(2000)),
    dependencies: optional(
      z.preprocess((given) => (Array.isArray(given) || !given ? given : [given]), z.array(named)),
    ),
    previous_task: optional(text(200)),
  });
  return z.object({
    id,
    agent,
    status,
    artefacts: z.preprocess(blank, list.optional()),
    artifacts: z.preprocess(blank, list.optional()),
    title: optional(title),
    priority: optional(z.enum(PRIORITIES, `one of ${PRIORITIES.join(', ')}`)),
    context: optional(context),
    created_at: optional(moment),
    assigned_at: optional(moment),
    started_at: optional(moment),
    started_by: text(200).optional().catch(undefined),
    completed_at: optional(moment),
    archived_at: optional(moment),
    follow_up: optional(named),
    // The task it names is looked up before the value is used.
    work_id: text(200).optional().catch(undefined),
    // A sentence is its summary.
    result: optional(
      lenient
        ? z.preprocess((given) => (typeof given === 'string' ? { summary: given } : given), result)
        : result,
    ),
    error: optional(
      z.union([
        text(limits.task_description_chars_max).transform((message) => ({
          message,
          timestamp: undefined,
          retry_count: undefined,
        })),
        z.object({
          message: optional(text(limits.task_description_chars_max)),
          timestamp: optional(moment),
          // An invalid value must not block the task.
          retry_count: z.int().min(0).optional().catch(undefined),
        }),
      ]),
    ),
  });
}

const schema = schemaFor(false);
const lenient = schemaFor(true);

type TaskYaml = z.output<typeof schema>;

const WANTED = new Set(Object.keys(schema.shape));

/**
 * A task's file. Keys that we don't know may hold anything; a mistake in the other keys is reported with its
 * line, and makes the file unusable only in a required one.
 */
export function parseTask(given: string): ParsedTask {
  const read = schema.safeParse(readPlain(given, WANTED));
  if (read.success) return taskOf(read.data, []);
  const deep = depthProblem(given);
  if (deep !== undefined) return { ok: false, problems: [deep] };
  // Full YAML, with the line of each problem.
  const { value, problems } = readYaml(given, schema, lenient, { key_lines: true });
  return value === undefined ? { ok: false, problems } : taskOf(value, problems);
}

function taskOf(read: TaskYaml, problems: readonly FileProblem[]): ParsedTask {
  const { artefacts, artifacts } = read;
  if (artefacts === undefined && artifacts === undefined) {
    const missing = { line: 1, field: 'artefacts', reason: 'expected a list of files' };
    return { ok: false, problems: [...problems, missing] };
  }
  const { context, result, error, priority } = read;
  return {
    ok: true,
    ...(problems.length === 0 ? {} : { problems }),
    task: {
      id: read.id,
      agent: read.agent,
      status: read.status,
      artefacts: [...(artefacts ?? []), ...(artifacts ?? [])],
      priority: priority ?? 'normal',
      dependencies: context?.dependencies ?? [],
      ...present({
        title: read.title,
        repo: context?.repo,
        branch: context?.branch,
        previous_task: context?.previous_task,
        created_at_ms: read.created_at,
        assigned_at_ms: read.assigned_at,
        started_at_ms: read.started_at,
        started_by: read.started_by,
        completed_at_ms: read.completed_at,
        completed_at_unread: problems.some(({ field }) => field === 'completed_at') || undefined,
        archived_at_ms: read.archived_at,
        follow_up: read.follow_up,
        work_id: read.work_id,
        result: result && resultOf(result),
        error: error && {
          message: error.message ?? 'no message',
          at_ms: error.timestamp,
          ...present({ retry_count: error.retry_count }),
        },
      }),
    },
  };
}

function resultOf(result: NonNullable<TaskYaml['result']>): WorkTask['result'] {
  const { summary, next_agent, next_task_title, next_artefacts, next_artifacts, next_task_notes } = result;
  return present({
    summary,
    next_agent,
    next_task_title,
    next_artefacts: next_artefacts ?? next_artifacts,
    next_task_notes,
    completed_at_ms: result.completed_at,
  });
}
