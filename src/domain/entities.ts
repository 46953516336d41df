import { defineEntities } from '../ledger/entity.ts';
import { keyEntity } from './keys/key.ts';
import { lockFoldersEntity } from './locks/folders.ts';
import { lockEntity } from './locks/lock.ts';
import { lineEntity } from './queue/line.ts';
import { taskEntity } from './queue/task.ts';

/** Every kind of entity the product knows. Adding a capability adds its kinds here. */
export const entities = defineEntities(lockEntity, lockFoldersEntity, taskEntity, lineEntity, keyEntity);
