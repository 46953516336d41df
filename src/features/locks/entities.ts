export { lockFoldersEntity } from './locked-folders.ts';
export { lockEntity } from './state.ts';
