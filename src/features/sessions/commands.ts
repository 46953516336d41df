import { command } from '../../ledger/decision.ts';
import {
  endSession as decideEndSession,
  registerSession as decideRegisterSession,
  touchSession as decideTouchSession,
} from './change-session.ts';

export const touchSession = command('touch_session', decideTouchSession);
export const registerSession = command('register_session', decideRegisterSession);
export const endSession = command('end_session', decideEndSession);
