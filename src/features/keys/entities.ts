export { keyEntity } from './state.ts';
