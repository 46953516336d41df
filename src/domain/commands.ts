import type { JsonObject } from '../kernel/json.ts';
import type { Commands, Decision, Taking } from '../ledger/decision.ts';
import { submitChangeset as change } from './changesets/changeset.ts';
import { leaveHandoff as leaveBehind } from './handoffs/final-handoff.ts';
import { writeHandoff as handOff } from './handoffs/handoff.ts';
import { createKey as create, revokeKey as revoke } from './keys/change-keys.ts';
import { acquireLock as acquire } from './locks/acquire-lock.ts';
import { tidyLocks as tidy, awaitLock as wait, withdrawLock as withdraw } from './locks/await-lock.ts';
import { releaseLock as release, releaseLocks as releaseAll } from './locks/release-lock.ts';
import { acknowledgeMessages as acknowledge, sendMessage as send } from './mail/message.ts';
import {
  cancelWork as cancel,
  reprioritiseWork as reprioritise,
  retryWork as retry,
} from './queue/change-work.ts';
import { completeWork as complete, completeWorkBatch as completeBatch } from './queue/complete-work.ts';
import { type GetWork, getWork as take } from './queue/get-work.ts';
import { joinLine as join, leaveLine as leave } from './queue/line.ts';
import { renewWork as renew } from './queue/renew-work.ts';
import { settleDue as settle } from './queue/settle-due.ts';
import { submitWork as submit } from './queue/submit-work.ts';
import {
  endSession as end,
  closeFreeing as freed,
  registerSession as register,
  touchSession as touch,
} from './sessions/change-session.ts';
import { freeLocks as free, freeTasks as giveUp } from './sessions/free-leases.ts';

type Build = (...args: never[]) => Decision<JsonObject>;

const registry = new Map<string, Build>();

/** Every decision that changes something has a name here, so that a neighbour can make it for us (stores/sqlite/seat). */
function command<A extends unknown[]>(name: string, build: (...args: A) => Decision<JsonObject>) {
  registry.set(name, build as unknown as Build);
  return (...args: A): Decision<JsonObject> => ({ ...build(...args), command: { name, args } });
}

export const acquireLock = command('acquire_lock', acquire);
export const awaitLock = command('await_lock', wait);
export const withdrawLock = command('withdraw_lock', withdraw);
export const tidyLocks = command('tidy_locks', tidy);
export const releaseLock = command('release_lock', release);
export const releaseLocks = command('release_locks', releaseAll);
export const submitWork = command('submit_work', submit);
export const completeWork = command('complete_work', complete);
export const completeWorkBatch = command('complete_work_batch', completeBatch);
export const renewWork = command('renew_work', renew);
export const cancelWork = command('cancel_work', cancel);
export const reprioritiseWork = command('reprioritise_work', reprioritise);
export const retryWork = command('retry_work', retry);
export const joinLine = command('join_line', join);
export const leaveLine = command('leave_line', leave);
export const settleDue = command('settle_due', settle);
export const touchSession = command('touch_session', touch);
export const registerSession = command('register_session', register);
export const endSession = command('end_session', end);
export const closeFreeing = command('close_freeing', freed);
export const freeLocks = command('free_locks', free);
export const freeTasks = command('free_tasks', giveUp);
export const writeHandoff = command('write_handoff', handOff);
export const leaveHandoff = command('leave_handoff', leaveBehind);
export const submitChangeset = command('submit_changeset', change);
export const sendMessage = command('send_message', send);
export const acknowledgeMessages = command('acknowledge_messages', acknowledge);
export const createKey = command('create_key', create);
export const revokeKey = command('revoke_key', revoke);

const claim = command('get_work', (wanted: GetWork) => take(wanted).decision);

export function getWork(wanted: GetWork): Taking<JsonObject> {
  return { ...take(wanted), decision: claim(wanted) };
}

export const commands: Commands = registry;
