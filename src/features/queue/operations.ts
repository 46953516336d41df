/** The operations on the queue. */
export { cancelWork, reprioritiseWork, retryWork } from './operations/change-work-operation.ts';
export { completeWorkBatch } from './operations/complete-work-batch-operation.ts';
export { completeWork } from './operations/complete-work-operation.ts';
export { getWorkBatch } from './operations/get-work-batch-operation.ts';
export { getWork } from './operations/get-work-operation.ts';
export { renewWork } from './operations/renew-work-operation.ts';
export { listWork, showWork } from './operations/show-work-operation.ts';
export { submitWorkBatch } from './operations/submit-work-batch-operation.ts';
export { submitWork } from './operations/submit-work-operation.ts';
