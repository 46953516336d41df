import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { fields, inputSchema, name, someText } from '../../runtime/input-schema.ts';

const feature = name('The feature, as its file calls it.', limits.feature_chars_max);
const edge = name('The edge you work on, such as design→code.', limits.edge_chars_max);
const paths = z
  .array(someText(4096, 'A draft or a folder of drafts, from the drafts folder.'))
  .min(1)
  .max(limits.promotion_files_max, `at most ${limits.promotion_files_max} of them`)
  .describe('Drafts or folders of them; default: all of yours.')
  .optional();
const evaluators = z
  .union([
    z.string().regex(/^\d{1,4}\/\d{1,4}$/, 'passed/total, such as 3/3'),
    z
      .array(z.strictObject({ name: name('What was run.'), passed: z.boolean() }))
      .max(limits.evaluators_max, `at most ${limits.evaluators_max} of them`),
  ])
  .describe('What was run on the drafts: [{name, passed}], or how many passed: "3/3".')
  .optional();

export const draftStatus = inputSchema(
  z.strictObject({ agent_id: name('Whose drafts; default: yours.').optional() }),
);

export const promoteDraft = inputSchema(
  z.strictObject({
    feature,
    edge,
    paths,
    evaluators,
    fencing_token: fields.fencing_token,
    operation_id: fields.operation_id,
  }),
);

export const discardDrafts = inputSchema(z.strictObject({ paths, operation_id: fields.operation_id }));
