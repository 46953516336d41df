/** What the command line uses of trust. */
export { renderApproval } from './approval-screen.ts';
