import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Entities, EntityKey, EntityType, IndexKeys } from '../../ledger/entity.ts';
import type { Request, Unplaced } from '../../ledger/log.ts';
import { type Expectation, entityType, type Proposal, type RecordWrite } from '../../ledger/proposal.ts';
import { grantedChecks, grantedWrites } from './granted-items.ts';
import { type Item, keyOf, number, recordItem, text, ttl } from './item.ts';
import {
  type IndexName,
  indexPlace,
  operationPlace,
  outboxPlace,
  recordPlace,
  WITNESSES,
  witnessOf,
  witnessPlace,
} from './item-layout.ts';
import { rowItem } from './rows.ts';

/** DynamoDB's limit for one transaction. */
const ACTIONS_MAX = 100;
const DAY_MS = 24 * 3600 * 1000;

/** What an action of a transaction is about, to explain why the transaction was refused. */
export type About =
  | { readonly is: 'record'; readonly key: EntityKey }
  | { readonly is: 'witness'; readonly key: EntityKey }
  /** One of the two places of a record: what is at one says nothing for certain of the other. */
  | { readonly is: 'granted'; readonly key: EntityKey }
  /** `row`: no other caller writes under its name. */
  | { readonly is: 'operation' | 'row' | 'other' };

export interface Planned {
  readonly about: About;
  readonly action: TransactWriteItem;
}

export interface Plan {
  /**
   * Surplus index entries do no harm: readers compare an entry with its record. So new entries may be written
   * first …
   */
  readonly before: readonly Item[];
  readonly transaction: readonly Planned[];
  /** … and old ones removed afterwards, unless another commit has put them there again. */
  readonly after: readonly TransactWriteItem[];
}

export interface Commit {
  readonly request: Request;
  readonly proposal: Proposal;
  readonly row: Unplaced;
  readonly stamp: number;
  readonly commit_id: string;
  readonly now_ms: number;
}

export class Planner {
  readonly #table: string;
  readonly #entities: Entities;

  constructor(table: string, entities: Entities) {
    this.#table = table;
    this.#entities = entities;
  }

  plan(commit: Commit): Plan {
    const { request, proposal } = commit;
    const transaction = [
      ...proposal.writes.flatMap((write) => this.#write(commit, write)),
      ...proposal.expects.flatMap((expected) => this.#expect(request, expected)),
      this.#row(commit),
      ...(request.input_digest === '' ? [] : [this.#operation(commit)]),
    ];
    const puts: Item[] = [];
    const deletes: TransactWriteItem[] = [];
    for (const write of proposal.writes) this.#indexChanges(commit, write, puts, deletes);
    const other = { is: 'other' } as const;
    if (transaction.length + puts.length + deletes.length <= ACTIONS_MAX) {
      const changes = [...puts.map((put) => this.#put(put)), ...deletes];
      return {
        before: [],
        transaction: [...transaction, ...changes.map((action) => ({ about: other, action }))],
        after: [],
      };
    }
    return { before: puts, transaction, after: deletes };
  }

  #put(Item: Item): TransactWriteItem {
    return { Put: { TableName: this.#table, Item } };
  }

  #write({ request, stamp, now_ms, row }: Commit, write: RecordWrite): Planned[] {
    const { kind, id, version, born, state, expected } = write;
    const type = entityType(this.#entities, kind);
    if (type.granted !== undefined) {
      const writing = { table: this.#table, project: request.project, now_ms, at_ms: row.at_ms, stamp };
      const about = { is: 'granted', key: { kind, id } } as const;
      return grantedWrites(writing, write, type, type.granted).map((action) => ({ about, action }));
    }
    const record = { kind, id, version, born: born ?? stamp, state };
    const place = recordPlace(request.project, write);
    const Put = {
      TableName: this.#table,
      Item: recordItem(place, { record, stamp }, type),
      ...unchanged(expected),
    };
    const planned: Planned[] = [{ about: { is: 'record', key: { kind, id } }, action: { Put } }];
    if (type.everyones !== true) return planned;
    for (let witness = 0; witness < WITNESSES; witness += 1) {
      const item = { ...keyOf(witnessPlace(request.project, write, witness)), version: number(version) };
      planned.push({ about: { is: 'other' }, action: this.#put(item) });
    }
    return planned;
  }

  #expect({ project, actor }: Request, { kind, id, version }: Expectation): Planned[] {
    const key = { kind, id };
    const { everyones, granted } = entityType(this.#entities, kind);
    if (granted !== undefined) {
      const about = { is: 'granted', key } as const;
      return grantedChecks(this.#table, project, key, version).map((action) => ({ about, action }));
    }
    const shared = everyones === true;
    const place = shared ? witnessPlace(project, key, witnessOf(actor.agent_id)) : recordPlace(project, key);
    const ConditionCheck = { TableName: this.#table, Key: keyOf(place), ...unchanged(version) };
    return [{ about: { is: shared ? 'witness' : 'record', key }, action: { ConditionCheck } }];
  }

  #row({ request, row, stamp, commit_id }: Commit): Planned {
    const place = outboxPlace(request.project, stamp, commit_id);
    const Put = {
      TableName: this.#table,
      Item: rowItem(place, row),
      ConditionExpression: 'attribute_not_exists(PK)',
    };
    return { about: { is: 'row' }, action: { Put } };
  }

  #operation({ request, row, now_ms }: Commit): Planned {
    const Put = {
      TableName: this.#table,
      Item: {
        ...keyOf(operationPlace(request)),
        digest: text(request.input_digest),
        answer: text(JSON.stringify(row.result)),
        at_ms: number(now_ms),
        ttl: ttl(now_ms + limits.operation_kept_ms),
      },
      // An item that is swept late counts as gone.
      ConditionExpression: 'attribute_not_exists(PK) OR at_ms < :old',
      ExpressionAttributeValues: { ':old': number(now_ms - limits.operation_kept_ms) },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    return { about: { is: 'operation' }, action: { Put } };
  }

  #indexChanges(
    { request: { project }, stamp }: Commit,
    write: RecordWrite,
    puts: Item[],
    deletes: TransactWriteItem[],
  ): void {
    const { kind, id, version, keys, keys_before, state, state_before } = write;
    const type = entityType(this.#entities, kind);
    const swept_ms = entrySwept_ms(type, state);
    const lasts = state_before === undefined || entrySwept_ms(type, state_before) === swept_ms;
    const born = write.born ?? stamp;
    const entries = (all: IndexKeys) =>
      new Map(entriesOf(all).map(({ by, key }) => [`${by} ${key}`, { kind, id, born, by, key }]));
    const [now, then] = [entries(keys), entries(keys_before)];
    for (const [name, entry] of now)
      if (!then.has(name) || !lasts)
        puts.push({
          ...keyOf(indexPlace(project, entry)),
          id: text(id),
          version: number(version),
          ...(swept_ms === undefined ? {} : { ttl: ttl(swept_ms) }),
        });
    for (const [name, entry] of then)
      if (!now.has(name))
        deletes.push({
          Delete: {
            TableName: this.#table,
            Key: keyOf(indexPlace(project, entry)),
            // A newer entry comes from a later write and belongs there.
            ConditionExpression: 'attribute_not_exists(PK) OR version < :version',
            ExpressionAttributeValues: { ':version': number(version) },
          },
        });
  }
}

/**
 * Not before its record; and by whole days, so that extending a lease rewrites its entries only once a day.
 */
function entrySwept_ms({ over_ms }: EntityType, state: JsonObject): number | undefined {
  const over = over_ms?.(state);
  return over === undefined ? undefined : Math.ceil(over / DAY_MS) * DAY_MS;
}

function entriesOf({ sort, group, links = [] }: IndexKeys): { by: IndexName; key: string }[] {
  const entries: { by: IndexName; key: string }[] = links.map((key) => ({ by: 'link', key }));
  if (sort !== undefined) entries.push({ by: 'sort', key: sort });
  if (group !== undefined) entries.push({ by: 'group', key: group });
  return entries;
}

function unchanged(version: number) {
  const ReturnValuesOnConditionCheckFailure = 'ALL_OLD' as const;
  if (version === 0)
    return { ConditionExpression: 'attribute_not_exists(PK)', ReturnValuesOnConditionCheckFailure };
  return {
    ConditionExpression: 'version = :version',
    ExpressionAttributeValues: { ':version': number(version) },
    ReturnValuesOnConditionCheckFailure,
  };
}
