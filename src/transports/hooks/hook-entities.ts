import { createRequire } from 'node:module';
import { lockEntity, lockFoldersEntity } from '../../features/locks/entities.ts';
import { sessionEntity } from '../../features/sessions/entities.ts';
import { rulebookEntity } from '../../features/trust/index.ts';
import { defineEntities, type Entities } from '../../ledger/entity.ts';

const few = defineEntities(lockEntity, lockFoldersEntity, sessionEntity, rulebookEntity);
let all: Entities | undefined;

/** Folding a row is synchronous, so the other kinds are required, not imported. */
function loadAll(): Entities {
  const { url } = import.meta;
  const file = `../../runtime/entities${url.slice(url.lastIndexOf('.'))}`;
  return (createRequire(url)(file) as typeof import('../../runtime/entities.ts')).entities;
}

function rest(): Entities {
  all ??= loadAll();
  return all;
}

/**
 * The kinds a hook decides about. The other kinds are loaded with the first log row about one of them. That
 * hardly ever happens, because another process has usually brought the records up to date before.
 */
export const hookEntities: Entities = { get: (kind) => few.get(kind) ?? rest().get(kind) };
