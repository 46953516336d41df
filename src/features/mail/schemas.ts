import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { fields, inputSchema, name, prose, someProse } from '../../runtime/input-schema.ts';

const message_id = z.guid('a message id as send_message returns it');

export const sendMessage = inputSchema(
  z
    .strictObject({
      to: z
        .array(name('An agent id; or team, reviewers.'))
        .max(limits.message_recipients_max)
        .default([])
        .describe('Agent ids; team: all of your team; reviewers: who reviews you.'),
      capability: name('To everybody who is here and can do this.', 64).optional(),
      subject: prose(200, 'In a few words.').optional(),
      body: someProse(limits.message_chars_max, 'What you want to say.'),
      in_reply_to: message_id.describe('The message you answer; it stays in its thread.').optional(),
      operation_id: fields.operation_id,
    })
    .refine(
      ({ to, capability, in_reply_to }) =>
        to.length > 0 || capability !== undefined || in_reply_to !== undefined,
      {
        path: ['to'],
        message: 'at least one recipient, a capability, or in_reply_to',
      },
    ),
);

export const readInbox = inputSchema(
  z.strictObject({
    all: z.boolean().default(false).describe('Also what you have acknowledged.'),
    thread_id: z.guid().describe('One thread, with what you sent.').optional(),
    limit: z.int().min(1).max(limits.messages_listed_max).default(20),
  }),
);

export const acknowledgeMessage = inputSchema(
  z.strictObject({
    message_ids: z.array(message_id).min(1).max(50),
    operation_id: fields.operation_id,
  }),
);
