import { command } from '../../ledger/decision.ts';
import { writeHandoff as decideWriteHandoff, writeHandoffOnce as decideWriteHandoffOnce } from './state.ts';

export const writeHandoff = command('write_handoff', decideWriteHandoff);
export const writeHandoffOnce = command('write_handoff_once', decideWriteHandoffOnce);
