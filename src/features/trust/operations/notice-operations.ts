import { answerOf, type Operation } from '../../../runtime/operation.ts';
import { claimNotice as claim, concludeNotice as conclude } from '../commands.ts';

/**
 * What both have in common. They are not listed: only our own code calls them, with an input it has built.
 */
const OWN = {
  group: 'approval',
  verb: 'notify',
  route: { method: 'POST', path: '/approvals/notify' },
  mutates: true,
  standard: false,
  examples: [],
  input: () => Promise.reject(new Error('only our own code asks for this')),
} as const;

export const claimNotice = {
  ...OWN,
  name: 'claim_notice',
  summary: 'Whoever gets it is the one that tells this channel.',
  handle: async ({ notice_id, channel }, step) => answerOf(await step.run(claim(notice_id, channel))),
} satisfies Operation<{ notice_id: string; channel: string }>;

export const concludeNotice = {
  ...OWN,
  name: 'conclude_notice',
  summary: 'It was told, or could not be.',
  handle: async ({ notice_id, channel, error }, step) =>
    answerOf(await step.run(conclude(notice_id, channel, error))),
} satisfies Operation<{ notice_id: string; channel: string; error?: string | undefined }>;
