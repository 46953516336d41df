import { StoreFailure } from '../../kernel/refusal.ts';
import { keyOf, number, numberOf } from './item.ts';
import { META_PLACE } from './item-layout.ts';
import type { TableClient } from './table-client.ts';

/** Raised when an older Coxswain would misunderstand what is kept in the table. */
const EPOCH = 1;

export async function checkEpoch(table: TableClient, token: string): Promise<void> {
  const epoch = numberOf(await table.get(META_PLACE), 'epoch');
  if (epoch === undefined) {
    const Item = { ...keyOf(META_PLACE), epoch: number(EPOCH) };
    const isNew = { ConditionExpression: 'attribute_not_exists(PK)' };
    // The second process to try finds it there.
    const { done } = await table.transact(
      [{ Put: { TableName: table.address.table, Item, ...isNew } }],
      token,
    );
    if (!done) await checkEpoch(table, token);
  } else if (epoch > EPOCH)
    throw new StoreFailure('upgrade_required', `This store is at epoch ${epoch}, this Coxswain at ${EPOCH}.`);
}
