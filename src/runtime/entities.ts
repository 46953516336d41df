import * as board from '../features/board/entities.ts';
import * as changesets from '../features/changesets/entities.ts';
import * as claims from '../features/claims/entities.ts';
import * as handoffs from '../features/handoffs/entities.ts';
import * as keys from '../features/keys/entities.ts';
import * as locks from '../features/locks/entities.ts';
import * as mail from '../features/mail/entities.ts';
import * as promotion from '../features/promotion/entities.ts';
import * as queue from '../features/queue/entities.ts';
import * as sessions from '../features/sessions/entities.ts';
import * as trust from '../features/trust/entities.ts';
import * as verification from '../features/verification/entities.ts';
import { defineEntities } from '../ledger/entity.ts';

/** Every kind of record there is: a slice lists its own in its entities.ts. */
export const entities = defineEntities(
  ...Object.values(locks),
  ...Object.values(queue),
  ...Object.values(sessions),
  ...Object.values(handoffs),
  ...Object.values(mail),
  ...Object.values(changesets),
  ...Object.values(keys),
  ...Object.values(trust),
  ...Object.values(verification),
  ...Object.values(claims),
  ...Object.values(promotion),
  ...Object.values(board),
);
