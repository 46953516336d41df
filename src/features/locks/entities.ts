export { lockEntity, lockFoldersEntity } from './state.ts';
