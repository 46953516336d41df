/** What other slices, the runtime and the transports may use of handoffs. */

export { writeHandoffOnce } from './commands.ts';
export {
  type Handoff,
  handoffKey,
  handoffRange,
  handoffWritten,
  listHandoffs,
  type NewHandoff,
} from './state.ts';
