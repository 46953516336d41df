import { defineEntities } from '../ledger/entity.ts';
import { changesetEntity } from './changesets/changeset.ts';
import { handoffEntity } from './handoffs/handoff.ts';
import { keyEntity } from './keys/key.ts';
import { lockFoldersEntity } from './locks/folders.ts';
import { lockEntity } from './locks/lock.ts';
import { messageEntity } from './mail/message.ts';
import { lineEntity } from './queue/line.ts';
import { taskEntity } from './queue/task.ts';
import { holderEntity } from './queue/terms.ts';
import { sessionEntity } from './sessions/session.ts';

/** Every kind of entity the product knows. Adding a capability adds its kinds here. */
export const entities = defineEntities(
  lockEntity,
  lockFoldersEntity,
  taskEntity,
  lineEntity,
  holderEntity,
  sessionEntity,
  handoffEntity,
  messageEntity,
  changesetEntity,
  keyEntity,
);
