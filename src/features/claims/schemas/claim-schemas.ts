import { z } from 'zod';
import { isScore, SCORE } from '../../../kernel/evaluators.ts';
import { limits } from '../../../kernel/limits.ts';
import { fields, inputSchema, name, prose } from '../../../runtime/input-schema.ts';
import { CLAIM_MODES, SECOND_AGENT } from '../claim-mode.ts';
import { normEdge } from '../edge.ts';

const feature = name('The feature, such as REQ-F-AUTH-001.', limits.feature_chars_max);
const edge = name(
  'The edge of it: design→code, design->code and design_code are one.',
  limits.edge_chars_max,
).refine((value) => normEdge(value) !== '', 'a name with letters or digits in it');
const agent_role = name('The role you act in; default: AGENT_ROLE.', limits.agent_role_chars_max);
const about = { feature, edge };
const iteration = z.int().min(0).max(1_000_000).describe('Which iteration is done.');

const evaluator = z.strictObject({
  name: name('Which evaluator.', limits.evaluator_name_chars_max),
  passed: z.boolean(),
});
const EVALUATORS = 'a list of {"name": …, "passed": true}, or passed/total such as "3/3"';
const score = z.string().regex(SCORE);
const evaluators = z
  .union([z.array(evaluator).max(limits.evaluators_max), score], { error: EVALUATORS })
  .refine((value) => typeof value !== 'string' || isScore(value), EVALUATORS)
  .describe(`What was evaluated: ${EVALUATORS}.`);

export const claimEdge = inputSchema(
  z.strictObject({
    ...about,
    agent_role: agent_role.optional(),
    wait_seconds: z
      .number()
      .min(0)
      .max(limits.wait_seconds_max)
      .describe('Wait so long for it to become free instead of being rejected.')
      .optional(),
    operation_id: fields.operation_id,
  }),
);

export const heartbeatClaim = inputSchema(
  z.strictObject({
    ...about,
    iteration: iteration.optional(),
    note: prose(limits.reason_chars_max, 'What it brought, in a few words.').optional(),
    fencing_token: fields.fencing_token,
    operation_id: fields.operation_id,
  }),
);

export const releaseEdge = inputSchema(
  z.strictObject({
    ...about,
    reason: prose(limits.reason_chars_max, 'Why; whoever takes it next reads it.').optional(),
    fencing_token: fields.fencing_token,
    operation_id: fields.operation_id,
  }),
);

export const convergeEdge = inputSchema(
  z.strictObject({
    ...about,
    agent_role: agent_role.optional(),
    iteration: iteration.optional(),
    evaluators: evaluators.optional(),
    convergence_type: name('What kind of convergence, such as standard.', 64).optional(),
    fencing_token: fields.fencing_token,
    operation_id: fields.operation_id,
  }),
);

export const claimsStatus = inputSchema(
  z.strictObject({
    feature: feature.describe('Only of this one.').optional(),
    agent_id: name('Only what this agent holds.').optional(),
  }),
);

export const resolveStaleClaim = inputSchema(
  z.strictObject({
    ...about,
    decision: z.enum(['release', 'keep']).describe('Free it, or leave it with its holder.'),
    reason: prose(limits.reason_chars_max, 'Why; it stands in the log.').optional(),
    even_if_active: z.boolean().default(false).describe('Also if its holder has given a sign lately.'),
    operation_id: fields.operation_id,
  }),
);

export const setClaimMode = inputSchema(
  z.strictObject({
    mode: z.enum(CLAIM_MODES).describe('One agent that need not claim first, or many.'),
    second_agent: z
      .enum(SECOND_AGENT)
      .default('switch')
      .describe('In single mode, when another one comes: refuse it, or switch to many.'),
    operation_id: fields.operation_id,
  }),
);
