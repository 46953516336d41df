import { command } from '../../ledger/decision.ts';
import { closeFreeing as decideCloseFreeing } from './change-session.ts';
import { leaveHandoff as decideLeaveHandoff } from './final-handoff.ts';
import { freeLocks as decideFreeLocks, freeTasks as decideFreeTasks } from './free-leases.ts';

export const closeFreeing = command('close_freeing', decideCloseFreeing);
export const freeLocks = command('free_locks', decideFreeLocks);
export const freeTasks = command('free_tasks', decideFreeTasks);
export const leaveHandoff = command('leave_handoff', decideLeaveHandoff);
