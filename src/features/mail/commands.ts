import { command } from '../../ledger/decision.ts';
import {
  acknowledgeMessages as decideAcknowledgeMessages,
  sendMessage as decideSendMessage,
} from './state.ts';

export const sendMessage = command('send_message', decideSendMessage);
export const acknowledgeMessages = command('acknowledge_messages', decideAcknowledgeMessages);
