import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { JsonObject } from '../../kernel/json.ts';
import type { EntityKey, EntityType, GrantedItem } from '../../ledger/entity.ts';
import type { RecordWrite } from '../../ledger/proposal.ts';
import { type Item, keyOf, number, recordItem, recordOf, type Stamped } from './item.ts';
import { freePlace, recordPlace } from './item-layout.ts';

// An item under the record's key means that it is granted, to programs that know nothing else of the table:
// they put theirs there if there is none, and delete it when they are done. So ours lies there only while it is
// held, and elsewhere while it is free, with its version, so that its tokens keep growing.

const ReturnValuesOnConditionCheckFailure = 'ALL_OLD' as const;
const ABSENT = 'attribute_not_exists(PK)';

/** The parts of a table's client that the actions need. */
interface Writing {
  readonly table: string;
  readonly project: string;
  readonly now_ms: number;
  /** The commit's. */
  readonly at_ms: number;
  readonly stamp: number;
}

function checked(condition: string, version: number, now_ms?: number) {
  const values = {
    ...(condition.includes(':version') ? { ':version': number(version) } : {}),
    ...(now_ms === undefined ? {} : { ':now': number(Math.floor(now_ms / 1000)) }),
  };
  return {
    ConditionExpression: condition,
    ...(now_ms === undefined ? {} : { ExpressionAttributeNames: { '#ttl': 'ttl' } }),
    ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: values }),
    ReturnValuesOnConditionCheckFailure,
  };
}

/** The actions of one write: the record moves to where its state belongs, and nothing of it stays behind. */
export function grantedWrites(
  { table: TableName, project, now_ms, at_ms, stamp }: Writing,
  write: RecordWrite,
  type: EntityType,
  granted: GrantedItem,
): TransactWriteItem[] {
  const { kind, id, version, born, expected, state, state_before } = write;
  const [held, free] = [recordPlace(project, write), freePlace(project, write)];
  const record = (own: JsonObject) => ({
    record: { kind, id, version, born: born ?? stamp, state: own },
    stamp,
  });
  const put = (place: typeof held, own: JsonObject) => recordItem(place, record(own), type);
  const wasForeign = state_before !== undefined && granted.isForeign(state_before);
  const wasHeld = state_before !== undefined && granted.isHeld(state_before) && !wasForeign;
  const isHeld = granted.isHeld(state) && !granted.isForeign(state);
  const same = 'version = :version';
  const sameOrGone = expected === 0 ? ABSENT : `${ABSENT} OR ${same}`;
  if (isHeld) {
    if (wasHeld) return [{ Put: { TableName, Item: put(held, state), ...checked(same, expected) } }];
    const lapsed = wasForeign ? ' OR (attribute_not_exists(version) AND #ttl <= :now)' : '';
    // An older Coxswain left free records under this key.
    const older = expected === 0 ? '' : ' OR version <= :version';
    const condition = checked(`${ABSENT}${older}${lapsed}`, expected, wasForeign ? now_ms : undefined);
    return [
      { Put: { TableName, Item: put(held, state), ...condition } },
      { Delete: { TableName, Key: keyOf(free), ...checked(sameOrGone, expected) } },
    ];
  }
  const Item = put(free, granted.own(state, at_ms));
  if (wasHeld)
    return [
      { Delete: { TableName, Key: keyOf(held), ...checked(same, expected) } },
      { Put: { TableName, Item } },
    ];
  const freed = wasForeign && !granted.isForeign(state);
  const isThere = 'attribute_exists(PK) AND attribute_not_exists(version)';
  const notHeld = `attribute_not_exists(version)${expected === 0 ? '' : ' OR version <= :version'}`;
  // What was decided over another program's item holds only while that item is there.
  const notOurs = granted.isForeign(state) ? isThere : notHeld;
  const beside = { TableName, Key: keyOf(held), ...checked(notOurs, expected) };
  return [
    { Put: { TableName, Item, ...checked(sameOrGone, expected) } },
    freed ? { Delete: beside } : { ConditionCheck: beside },
  ];
}

/** That a record is still as it was read, wherever that was. */
export function grantedChecks(TableName: string, project: string, key: EntityKey, version: number) {
  const condition = checked(version === 0 ? ABSENT : `${ABSENT} OR version = :version`, version);
  return [recordPlace(project, key), freePlace(project, key)].map((place) => ({
    ConditionCheck: { TableName, Key: keyOf(place), ...condition },
  }));
}

/** One record from the two items that there may be. */
export function grantedRecord(
  key: EntityKey,
  held: Item | undefined,
  free: Item | undefined,
  granted: GrantedItem,
): Stamped | undefined {
  const rest = free === undefined ? undefined : recordOf(key, free);
  if (held === undefined) return rest;
  if (held.version !== undefined) {
    const record = recordOf(key, held);
    return rest !== undefined && rest.record.version > record.record.version ? rest : record;
  }
  const state = granted.foreign(key.id, plain(held), rest?.record.state);
  const { version = 0, born = 0 } = rest?.record ?? {};
  return { record: { ...key, version, born, state }, stamp: rest?.stamp ?? 0 };
}

function plain(item: Item): JsonObject {
  const values: Record<string, string | number> = {};
  for (const [name, { S, N }] of Object.entries(item)) {
    if (S !== undefined) values[name] = S;
    else if (N !== undefined) values[name] = Number(N);
  }
  return values;
}
