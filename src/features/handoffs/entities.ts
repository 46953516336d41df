export { handoffEntity } from './state.ts';
