import { answerOf } from '../../../ledger/decision.ts';
import type { InternalCommand } from '../../../runtime/operation.ts';
import { claimNotice as claim, concludeNotice as conclude } from '../commands.ts';

const OWN = { group: 'approval', mutates: true } as const;

/** The process that gets the notice is the one that tells this channel. */
export const claimNotice = {
  ...OWN,
  name: 'claim_notice',
  handle: async ({ notice_id, channel }, step) => answerOf(await step.run(claim(notice_id, channel))),
} satisfies InternalCommand<{ notice_id: string; channel: string }>;

/** The channel was told, or could not be. */
export const concludeNotice = {
  ...OWN,
  name: 'conclude_notice',
  handle: async ({ notice_id, channel, error }, step) =>
    answerOf(await step.run(conclude(notice_id, channel, error))),
} satisfies InternalCommand<{ notice_id: string; channel: string; error?: string | undefined }>;
