import { isoTime } from '../../kernel/clock.ts';
import { crc32 } from '../../kernel/crc32.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { agentOfEvent, type LogEntry, type Unplaced } from '../../ledger/log.ts';
import { type Item, keyOf, number, numberOf, text, textOf } from './item.ts';
import { type ItemPlace, positionOf } from './item-layout.ts';

/** An item holds 400 KB; keys and the readable attributes come on top of the row. */
const ROW_BYTES_MAX = 390_000;

/** A row of the log, with the fields that people search by as attributes of their own. */
export function rowItem(place: ItemPlace, row: Unplaced): Item {
  const json = JSON.stringify(row);
  if (json.length * 3 > ROW_BYTES_MAX && Buffer.byteLength(json) > ROW_BYTES_MAX)
    throw new StoreFailure('too_large', 'The row of this commit would need more than one item of DynamoDB.');
  return {
    ...keyOf(place),
    ...shown(row),
    row: text(json),
    sum: number(crc32(json)),
  };
}

/** A commit may begin with an event of the project's: what people and programs look for is what it says of a feature. */
function shown({ at_ms, operation, agent_id, events }: Unplaced): Item {
  const event = events.find(({ data }) => isText(data.feature)) ?? events[0];
  const { feature, edge } = event?.data ?? {};
  const agent = (event === undefined || !isText(feature) ? undefined : agentOfEvent(event)) ?? agent_id;
  return {
    timestamp: text(isoTime(at_ms)),
    operation: text(operation),
    ...(agent === '' ? {} : { agent_id: text(agent) }),
    ...(event === undefined ? {} : { event_type: text(event.type) }),
    ...(isText(feature) ? { feature_id: text(feature) } : {}),
    ...(isText(edge) ? { edge: text(edge) } : {}),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** The same row at its position in the log. */
export function placed(item: Item, place: ItemPlace): Item {
  return { ...item, ...keyOf(place) };
}

export function entryOf(item: Item): LogEntry {
  const row = JSON.parse(textOf(item, 'row') ?? '') as Unplaced;
  return { position: positionOf(textOf(item, 'SK') ?? ''), ...row };
}

export function isIntact(item: Item): boolean {
  return numberOf(item, 'sum') === crc32(textOf(item, 'row') ?? '');
}
