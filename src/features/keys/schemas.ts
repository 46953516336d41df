import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { nameProblem, personId, reservedProblem } from '../../kernel/names.ts';
import { fields, inputSchema, someText } from '../../runtime/input-schema.ts';

/** A name that every door accepts: a key for a name that is refused would open nothing. */
function name(description: string, problem: (value: string) => string | undefined) {
  return someText(limits.agent_id_chars_max, description)
    .superRefine((value, context) => {
      const expected = nameProblem(value) ?? problem(value);
      if (expected !== undefined) context.addIssue({ code: 'custom', message: expected });
    })
    .optional();
}

const WHOSE = ['agent', 'person', 'service'] as const;

export const createKey = inputSchema(
  z
    .strictObject({
      agent: name('For this one agent, and no other.', (value) => reservedProblem('agent_id', value)),
      agent_type: name('With agent: what kind it is.', (value) => reservedProblem('agent_type', value)),
      person: name('For a person, who may also decide what agents may not.', (value) =>
        nameProblem(personId(value)),
      ),
      service: z.boolean().describe('For a service that acts for any agent it names.').optional(),
      name: name('What lists call the key; default: whose it is.', () => undefined),
      expires_days: z
        .number()
        .positive()
        .max(limits.key_days_max)
        .describe('After so many days it opens nothing; default: never.')
        .optional(),
      operation_id: fields.operation_id,
    })
    .superRefine((value, context) => {
      const [first, second] = WHOSE.filter((field) => value[field] !== undefined && value[field] !== false);
      const refuse = (field: string, message: string) =>
        context.addIssue({ code: 'custom', path: [field], message });
      if (first === undefined) refuse('agent', 'whose key it is: one of agent, person and service');
      else if (second !== undefined) refuse(second, 'only one of agent, person and service');
      else if (value.agent_type !== undefined && first !== 'agent')
        refuse('agent_type', 'a type only with agent');
    }),
);

export const listKeys = inputSchema(
  z.strictObject({ all: z.boolean().default(false).describe('Those that open nothing any more, too.') }),
);

export const revokeKey = inputSchema(
  z.strictObject({
    key_id: z
      .string()
      .regex(/^[0-9a-f]{12}$/, 'the twelve characters in the middle of a key, as key list shows them')
      .describe('The id of the key, as list_keys shows it.'),
    operation_id: fields.operation_id,
  }),
);
