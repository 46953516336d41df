export { policyBookEntity } from './policy-book.ts';
export { runEntity } from './verification-run.ts';
