/** What the command line uses from trust. */
export { renderApproval } from './approval-screen.ts';
