import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { fields, inputSchema, name, someProse } from '../../runtime/input-schema.ts';
import { AGENT_NAME, TASK_ID } from './files/task-yaml.ts';
import { PRIORITIES, TASK_STATUSES } from './task-file.ts';

const { task_file_title_chars_max, task_file_items_max, task_file_item_chars_max, task_files_listed_max } =
  limits;

const agent = (description: string) =>
  z
    .string()
    .regex(AGENT_NAME, 'a name of letters, digits, dots, dashes and underscores')
    .describe(description);
const id = (description: string) =>
  z.string().regex(TASK_ID, 'the id of a task, such as 2026-03-01T0930-coder-login').describe(description);
const task_id = id('The task: the name of its file without .yaml, or as much of it as only one has.');
const title = (description: string) => name(description, task_file_title_chars_max);
const items = (item: z.ZodType<string, string>, description: string) =>
  z.array(item).max(task_file_items_max, `at most ${task_file_items_max} of them`).describe(description);
const files = (description: string) =>
  items(name('A file, a folder or a pattern.', task_file_item_chars_max), description);
const notes = (description: string) => items(someProse(task_file_item_chars_max, 'A note.'), description);

export const createTaskFile = inputSchema(
  z.strictObject({
    agent: agent('Who is to do it: an agent with a folder in assigned/.'),
    title: title('What is to be done, in a line.'),
    artefacts: files('Files it will change.').default([]),
    priority: z
      .enum(PRIORITIES, `one of ${PRIORITIES.join(', ')}`)
      .default('normal')
      .describe('How urgent it is.'),
    notes: notes('Whatever else its agent should know.').default([]),
    dependencies: items(id('A task.'), 'Tasks that have to be done first, by their full ids.').default([]),
    operation_id: fields.operation_id,
  }),
);

export const listTaskFiles = inputSchema(
  z.strictObject({
    agent: agent('Only this agent’s.').optional(),
    status: z
      .enum(TASK_STATUSES, `one of ${TASK_STATUSES.join(', ')}`)
      .describe('Only those.')
      .optional(),
    shelf: z.enum(['inbox', 'assigned', 'done', 'fridge']).describe('Only what lies there.').optional(),
    limit: z
      .int()
      .min(1)
      .max(task_files_listed_max)
      .default(50)
      .describe('At most so many; total says how many there are.'),
  }),
);

export const showTaskFile = inputSchema(z.strictObject({ task_id }));

const { operation_id } = fields;
const verb = () => inputSchema(z.strictObject({ task_id, operation_id }));

export const startTaskFile = verb();
export const freezeTaskFile = verb();
export const retryTaskFile = verb();

export const finishTaskFile = inputSchema(
  z.strictObject({
    task_id,
    summary: someProse(limits.handoff_chars_max, 'What was done.'),
    artefacts: files('Files that were changed or made.').optional(),
    next_agent: agent('Who goes on from here: gets a follow-up task.').optional(),
    next_task_title: title('The title of the follow-up.').optional(),
    next_artefacts: files('Files the follow-up is about; default: those of this task.').optional(),
    next_task_notes: notes('What the next agent should know.').optional(),
    operation_id,
  }),
);

export const fileWork = inputSchema(
  z.strictObject({
    work_id: fields.task_id,
    agent: agent('Who is to do it: an agent with a folder in assigned/.'),
    operation_id,
  }),
);

export const failTaskFile = inputSchema(
  z.strictObject({
    task_id,
    message: someProse(limits.reason_chars_max, 'What went wrong.'),
    operation_id,
  }),
);
