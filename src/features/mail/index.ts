/** What other slices, the runtime and the transports may use of mail. */
export {
  capableAgentsService,
  type Inbox,
  inboxRanges,
  listMessages,
  MESSAGE,
  type Message,
  unreadRange,
} from './state.ts';
