import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { fields, inputSchema, path, prose } from '../../runtime/input-schema.ts';

const file_path = path(
  'Relative to the repository or absolute inside it: a file, a folder/ or a glob (* ? **); or a logical key such as api:users.',
);

const several = z.array(path('As file_path.')).min(1).max(limits.paths_per_call);

const named = { file_path: file_path.optional(), file_paths: several.optional() };

interface Named {
  readonly file_path?: string | undefined;
  readonly file_paths?: string[] | undefined;
  readonly fencing_token?: number | undefined;
}

const isNamed = ({ file_path, file_paths }: Named) => file_path !== undefined || file_paths !== undefined;
const aPath = { path: ['file_path'], message: 'a path, or file_paths' };
const isNamedOnce = ({ file_path, file_paths }: Named) => file_path === undefined || file_paths === undefined;
const oneOfThem = { path: ['file_paths'], message: 'only one of file_path and file_paths' };
const tokenIsForOne = ({ file_paths, fencing_token }: Named) =>
  file_paths === undefined || fencing_token === undefined;
const oneGrant = { path: ['fencing_token'], message: 'a fencing_token only with file_path' };

export const acquireLock = inputSchema(
  z
    .strictObject({
      ...named,
      shared: z
        .boolean()
        .describe('For reading: others may hold it shared too, and nobody may change it.')
        .optional(),
      wait_seconds: fields.wait_seconds,
      reason: prose(limits.reason_chars_max, 'What you are about to do; others see it.').optional(),
      ttl_minutes: fields.minutes(
        'How long you need it; acquire again to extend. After 15 minutes without a sign of you it is free all the same.',
        limits.lock_ttl_minutes_default,
      ),
      fencing_token: fields.fencing_token,
      operation_id: fields.operation_id,
    })
    .refine(isNamed, aPath)
    .refine(isNamedOnce, oneOfThem)
    .refine(tokenIsForOne, oneGrant),
);

export const releaseLock = inputSchema(
  z
    .strictObject({ ...named, fencing_token: fields.fencing_token, operation_id: fields.operation_id })
    .refine(isNamed, aPath)
    .refine(isNamedOnce, oneOfThem)
    .refine(tokenIsForOne, oneGrant),
);

export const checkLocks = inputSchema(
  z.strictObject({
    file_paths: z
      .array(file_path)
      .min(1)
      .max(limits.paths_per_call)
      .describe('Default: all locks.')
      .optional(),
  }),
);
