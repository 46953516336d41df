import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import {
  fields,
  inputSchema,
  path,
  payload,
  prose,
  someProse,
  someText,
} from '../../runtime/input-schema.ts';

// The type is part of an index key whose parts are separated by slashes.
const task_type = z
  .string()
  .regex(/^[\w.:-]{1,64}$/, 'letters, digits and _ . : - only, at most 64')
  .describe('A short word such as test, review, refactor.');

const key = someText(256, 'Submitting again with the same key gives the first task.');

const task = {
  task_type,
  task_description: someProse(limits.task_description_chars_max, 'What is to be done.'),
  input_data: payload('Anything the worker needs, as JSON.'),
  priority: fields.priority.default(5),
  files: z
    .array(path('A file the task will change.'))
    .max(limits.task_files_max)
    .default([])
    .describe('Files it will change; it waits while another agent has one locked.'),
  on_dependency_failure: z
    .enum(['block', 'skip', 'run'])
    .describe(
      'If a dependency ends without success: block (default, until it is retried), skip, or run anyway.',
    )
    .optional(),
  not_before: z.iso
    .datetime({ offset: true })
    .describe('ISO time before which it is not handed out.')
    .optional(),
  max_attempts: z
    .int()
    .min(1)
    .max(limits.task_attempts_max)
    .default(limits.task_attempts_default)
    .describe('So many claims may run out before it is given up.'),
  idempotency_key: key.optional(),
};

const dependencies = (item: z.ZodType<string, string>, description: string) =>
  z.array(item).max(limits.task_dependencies_max).default([]).describe(description);

export const submitWork = inputSchema(
  z.strictObject({
    ...task,
    depends_on: dependencies(fields.task_id, 'Ids of tasks that must be completed first.'),
    operation_id: fields.operation_id,
  }),
  { description: 'task_description' },
);

export const submitWorkBatch = inputSchema(
  z.strictObject({
    tasks: z
      .array(
        z.strictObject({
          ...task,
          depends_on: dependencies(
            someText(256, 'a task id, or the idempotency_key of a task in this batch'),
            'Ids of existing tasks, or idempotency keys of tasks in this batch.',
          ),
        }),
      )
      .min(1)
      .max(limits.task_batch_max),
    operation_id: fields.operation_id,
  }),
);

const claim = {
  task_types: z.array(task_type).min(1).max(20).describe('Default: any type.').optional(),
  lease_minutes: fields.minutes(
    'How long you may stay silent; renew_work extends it.',
    limits.task_lease_minutes_default,
  ),
};

export const getWork = inputSchema(
  z.strictObject({ ...claim, wait_seconds: fields.wait_seconds, operation_id: fields.operation_id }),
);

export const getWorkBatch = inputSchema(
  z.strictObject({
    ...claim,
    count: z.int().min(1).max(limits.task_batch_max).default(10),
    wait_seconds: fields.wait_seconds,
    operation_id: fields.operation_id,
  }),
);

const completion = {
  task_id: fields.task_id,
  success: z.boolean().describe('Whether the task was done.'),
  result: payload('What came out of it, as JSON.'),
  error_message: prose(limits.reason_chars_max, 'Why it failed.').optional(),
  fencing_token: fields.fencing_token,
};

export const completeWork = inputSchema(z.strictObject({ ...completion, operation_id: fields.operation_id }));

export const completeWorkBatch = inputSchema(
  z.strictObject({
    items: z
      .array(z.strictObject(completion))
      .min(1)
      .max(limits.task_batch_max)
      .refine(
        (items) => new Set(items.map((item) => item.task_id)).size === items.length,
        'each task only once',
      ),
    operation_id: fields.operation_id,
  }),
);

export const renewWork = inputSchema(
  z.strictObject({
    task_id: fields.task_id,
    lease_minutes: claim.lease_minutes,
    fencing_token: fields.fencing_token,
    operation_id: fields.operation_id,
  }),
);

export const cancelWork = inputSchema(
  z.strictObject({
    task_id: fields.task_id,
    reason: prose(limits.reason_chars_max, 'Why it is no longer wanted.').optional(),
    operation_id: fields.operation_id,
  }),
);

export const reprioritiseWork = inputSchema(
  z.strictObject({ task_id: fields.task_id, priority: fields.priority, operation_id: fields.operation_id }),
);

export const retryWork = inputSchema(
  z.strictObject({ task_id: fields.task_id, operation_id: fields.operation_id }),
);

export const showWork = inputSchema(z.strictObject({ task_id: fields.task_id }));

export const listWork = inputSchema(
  z.strictObject({ limit: z.int().min(1).max(200).default(50).describe('At most so many of each.') }),
);
