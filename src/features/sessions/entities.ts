export { sessionEntity } from './state.ts';
