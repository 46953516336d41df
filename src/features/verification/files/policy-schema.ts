import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { EXECUTORS, TIERS, type Tier } from '../verification-policy.ts';

/** One line that a shell, a terminal and every store can take. */
const line = (max: number) =>
  z
    .string()
    .min(1, 'at least one character')
    .max(max, `at most ${max} characters`)
    .refine((value) => value.isWellFormed() && !/\p{Cc}/u.test(value), 'one line without control characters');

const globs = z.array(line(500)).max(limits.verification_patterns_max);

/** A number, or the name that people use for it. */
const tier = z
  .int()
  .min(0)
  .max(TIERS.length - 1)
  .transform((value) => value as Tier)
  .describe('0 static, 1 unit, 2 integration, 3 system, 4 manual');

/** Inside the repository, and not the repository itself. */
const folder = line(200).regex(
  /^(?!\.\.?(?:\/|$))[\w.@-]+(?:\/(?!\.\.?(?:\/|$))[\w.@-]+)*$/,
  'a folder inside it',
);

/** The fields of a policy, for the operation and for the file. */
export const policyFields = {
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'a short name: a to z, 0 to 9, - and _')
    .describe('What lists and run ids call it.'),
  tier,
  executor: z.enum(EXECUTORS).describe('Who does it.'),
  fallback: z.enum(EXECUTORS).describe('Who does it where the first is not set up.').optional(),
  patterns: globs.min(1, 'at least one pattern').describe('Files it applies to: src/**, **/*.sql'),
  exclude_patterns: globs.default([]).describe('Files that do not count.'),
  required_environment: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'the name of a variable'))
    .max(50)
    .default([])
    .describe('Variables the command gets from the runner; without one of them it is not run.'),
  timeout_seconds: z.int().min(1).max(limits.verification_timeout_seconds_max).default(900),
  requires_approval: z.boolean().default(false).describe('A person says yes first.'),
  command: line(4000).describe('For a shell, in a clean work tree of the commit.').optional(),
  workflow: z
    .string()
    .regex(/^[\w.-]{1,100}\.ya?ml$/, 'the name of a file in .github/workflows')
    .describe('GitHub: which workflow.')
    .optional(),
  ref: z
    .string()
    .regex(/^(?!-)[\w./-]{1,200}$/, 'a branch or tag')
    .describe('GitHub: the branch whose version of the workflow counts.')
    .optional(),
  link: z.array(folder).max(10).describe('Ignored folders to link, such as node_modules.').optional(),
};

/** What each field allows and the whole does not. */
export function checkVerificationPolicy(
  { tier, executor, fallback }: { tier: number; executor: string; fallback?: string | undefined },
  context: z.core.$RefinementCtx,
): void {
  if (tier === 4 && executor !== 'human')
    context.addIssue({ code: 'custom', path: ['executor'], message: 'human: tier 4 is for a person' });
  if (fallback === 'human' || (executor === 'human' && fallback !== undefined))
    context.addIssue({
      code: 'custom',
      path: ['fallback'],
      message: 'no person stands in, and nobody for one',
    });
}

export const policySchema = z.strictObject(policyFields).superRefine(checkVerificationPolicy);
