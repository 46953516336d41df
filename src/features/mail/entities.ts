export { messageEntity } from './state.ts';
