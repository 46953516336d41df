import type { JsonObject } from '../../kernel/json.ts';
import { command, type Taking } from '../../ledger/decision.ts';
import {
  cancelWork as decideCancelWork,
  reprioritiseWork as decideReprioritiseWork,
  retryWork as decideRetryWork,
} from './change-work.ts';
import {
  completeWork as decideCompleteWork,
  completeWorkBatch as decideCompleteWorkBatch,
} from './complete-work.ts';
import { fileQueuedWork as decideFileWork } from './file-work.ts';
import { getWork as decideGetWork, type GetWork } from './get-work.ts';
import { mirrorDeleted as decideMirrorDeleted, mirrorFile as decideMirrorFile } from './mirror-work.ts';
import { renewWork as decideRenewWork } from './renew-work.ts';
import { settleDue as decideSettleDue } from './settle-due.ts';
import { submitWork as decideSubmitWork } from './submit-work.ts';
import { joinLine as decideJoinLine, leaveLine as decideLeaveLine } from './work-line.ts';

export const submitWork = command('submit_work', decideSubmitWork);
export const completeWork = command('complete_work', decideCompleteWork);
export const completeWorkBatch = command('complete_work_batch', decideCompleteWorkBatch);
export const renewWork = command('renew_work', decideRenewWork);
export const cancelWork = command('cancel_work', decideCancelWork);
export const reprioritiseWork = command('reprioritise_work', decideReprioritiseWork);
export const retryWork = command('retry_work', decideRetryWork);
export const joinLine = command('join_line', decideJoinLine);
export const leaveLine = command('leave_line', decideLeaveLine);
export const settleDue = command('settle_due', decideSettleDue);
export const fileQueuedWork = command('file_work', decideFileWork);
export const mirrorFile = command('mirror_file', decideMirrorFile);
export const mirrorDeleted = command('mirror_deleted', decideMirrorDeleted);

const GET_WORK = 'get_work';

export const getWork = Object.assign(
  (wanted: GetWork): Taking<JsonObject> => {
    const { name, args, decision } = decideGetWork(wanted);
    return { name, args, decision: { ...decision, command: { name: GET_WORK, args: [wanted] } } };
  },
  { command_name: GET_WORK, build: (wanted: GetWork) => decideGetWork(wanted).decision },
);
