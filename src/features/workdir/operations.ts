import type { JsonObject } from '../../kernel/json.ts';
import type { Operation, Step } from '../../runtime/operation.ts';
import type { CreateTaskFileInput } from './operations/create-task-file.ts';
import type { FileWorkInput } from './operations/file-work-operation.ts';
import type { ListTaskFilesInput } from './operations/show-task-files.ts';

// The code for work directories is loaded only when it is called: most commands don't need it.

export interface Named {
  task_id: string;
}

export interface FinishInput extends Named {
  summary: string;
  artefacts?: string[] | undefined;
  next_agent?: string | undefined;
  next_task_title?: string | undefined;
  next_artefacts?: string[] | undefined;
  next_task_notes?: string[] | undefined;
  operation_id?: string | undefined;
}

const schemas = async () => await import('./schemas.ts');
const verbs = async () => await import('./verbs.ts');
const acting = async (
  ...[step, task_id, action, decide]: Parameters<typeof import('./operations/act-on-task-file.ts').act>
) => shown(step, await (await import('./operations/act-on-task-file.ts')).act(step, task_id, action, decide));

/** Updates the store as well, if the directory is mirrored. */
const shown = async (step: Step, answer: JsonObject) =>
  (await import('./operations/mirrored-verb.ts')).mirrored(step, answer);

const EXAMPLE = '2026-03-01T0930-coder-fix-the-login';

export const createTaskFile = {
  name: 'create_task_file',
  group: 'task',
  verb: 'new',
  summary: 'Put a task for an agent into the inbox of the work directory.',
  route: { method: 'POST', path: '/tasks/new' },
  mutates: true,
  standard: false,
  positional: ['agent', 'title'],
  examples: [
    'cox task new coder "Fix the login" --artefacts src/login.ts test/login.test.ts',
    `cox task new reviewer "Review the login" --priority high --dependencies ${EXAMPLE}`,
  ],
  input: async () => (await schemas()).createTaskFile,
  handle: async (input, step) =>
    shown(step, await (await import('./operations/create-task-file.ts')).createTaskFile(input, step)),
} satisfies Operation<CreateTaskFileInput>;

export const listTaskFiles = {
  name: 'list_task_files',
  group: 'task',
  verb: 'list',
  summary: 'The tasks of the work directory, and files that need mending.',
  route: { method: 'POST', path: '/tasks/list' },
  mutates: false,
  standard: false,
  examples: ['cox task list', 'cox task list --agent coder --status assigned'],
  input: async () => (await schemas()).listTaskFiles,
  handle: async (input, step) => (await import('./operations/show-task-files.ts')).listTaskFiles(input, step),
} satisfies Operation<ListTaskFilesInput>;

export const showTaskFile = {
  name: 'show_task_file',
  group: 'task',
  verb: 'show',
  summary: 'One task: all that stands in its file, where it lies, what it waits for.',
  route: { method: 'POST', path: '/tasks/show' },
  mutates: false,
  standard: false,
  positional: ['task_id'],
  examples: [`cox task show ${EXAMPLE}`],
  input: async () => (await schemas()).showTaskFile,
  handle: async ({ task_id }, step) =>
    (await import('./operations/show-task-files.ts')).showTaskFile(task_id, step),
} satisfies Operation<Named>;

export const startTaskFile = {
  name: 'start_task_file',
  group: 'task',
  verb: 'start',
  summary: 'Say that you work on a task that was assigned to you.',
  route: { method: 'POST', path: '/tasks/start' },
  mutates: true,
  repeatable: true,
  standard: false,
  positional: ['task_id'],
  examples: [`cox task start ${EXAMPLE}`],
  input: async () => (await schemas()).startTaskFile,
  handle: async ({ task_id }, step) => acting(step, task_id, 'started', (await verbs()).startTask),
} satisfies Operation<Named>;

export const finishTaskFile = {
  name: 'finish_task_file',
  group: 'task',
  verb: 'done',
  summary: 'Finish your task: its result is written down, and who is next gets a follow-up.',
  route: { method: 'POST', path: '/tasks/done' },
  mutates: true,
  repeatable: true,
  winds_down: true,
  standard: false,
  positional: ['task_id'],
  examples: [
    `cox task done ${EXAMPLE} --summary "The session is renewed now"`,
    `cox task done ${EXAMPLE} --summary "Fixed" --next-agent reviewer --next-task-title "Review the login"`,
  ],
  input: async () => (await schemas()).finishTaskFile,
  handle: (input, step) => finish(input, step),
} satisfies Operation<FinishInput>;

async function finish({ task_id, operation_id: _, ...result }: FinishInput, step: Step) {
  const { finishTask } = await verbs();
  return await acting(step, task_id, 'finished', (call) => finishTask(call, result));
}

export const failTaskFile = {
  name: 'fail_task_file',
  group: 'task',
  verb: 'error',
  summary: 'Say that your task failed, and why; a person hears of it.',
  route: { method: 'POST', path: '/tasks/error' },
  mutates: true,
  repeatable: true,
  winds_down: true,
  standard: false,
  positional: ['task_id', 'message'],
  examples: [`cox task error ${EXAMPLE} "The test server is down"`],
  input: async () => (await schemas()).failTaskFile,
  handle: async ({ task_id, message }, step) => {
    const { failTask } = await verbs();
    return await acting(step, task_id, 'failed', (call) => failTask(call, message));
  },
} satisfies Operation<Named & { message: string }>;

export const freezeTaskFile = {
  name: 'freeze_task_file',
  group: 'task',
  verb: 'freeze',
  summary: 'Put a task into the fridge: nobody works on it until it is retried.',
  route: { method: 'POST', path: '/tasks/freeze' },
  mutates: true,
  repeatable: true,
  standard: false,
  positional: ['task_id'],
  examples: [`cox task freeze ${EXAMPLE}`],
  input: async () => (await schemas()).freezeTaskFile,
  handle: async ({ task_id }, step) => acting(step, task_id, 'frozen', (await verbs()).freezeTask),
} satisfies Operation<Named>;

export const retryTaskFile = {
  name: 'retry_task_file',
  group: 'task',
  verb: 'retry',
  summary: 'Try a task again that failed, or take one out of the fridge.',
  route: { method: 'POST', path: '/tasks/retry' },
  mutates: true,
  standard: false,
  positional: ['task_id'],
  examples: [`cox task retry ${EXAMPLE}`],
  input: async () => (await schemas()).retryTaskFile,
  handle: async ({ task_id }, step) => acting(step, task_id, 'retried', (await verbs()).retryTask),
} satisfies Operation<Named>;

export const fileWork = {
  name: 'file_work',
  group: 'task',
  verb: 'file',
  summary: 'Turn a pending task of the queue into a task file for an agent.',
  route: { method: 'POST', path: '/tasks/file' },
  mutates: true,
  repeatable: true,
  standard: false,
  positional: ['work_id', 'agent'],
  examples: ['cox task file 01926f… coder'],
  input: async () => (await schemas()).fileWork,
  handle: async (input, step) => (await import('./operations/file-work-operation.ts')).fileWork(input, step),
} satisfies Operation<FileWorkInput>;
