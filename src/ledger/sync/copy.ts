import type { Clock } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse, StoreFailure } from '../../kernel/refusal.ts';
import { type Decision, refused } from '../decision.ts';
import { type Entities, type EntityRecord, keyText } from '../entity.ts';
import type { LogEntry, Request } from '../log.ts';
import { apply, isOver, type State } from '../replay.ts';
import type { Store } from '../store-port.ts';
import { hexOf, Identities, isOfTheStore, unplaced } from './row-identity.ts';
import type { Source, Survey } from './survey.ts';

/** Rows sent at once to a store that keeps their order: one transaction and one sync of the disk for all. */
const ROWS_AT_ONCE = 64;
/** How long until a committed row can be read, in a store that orders its log after the commits. */
const READABLE_MS_MAX = 2000;
const LOOK_AGAIN_MS = 50;

/** A row, and the state before it of the records that it changes, at its source. */
interface Copy {
  readonly entry: LogEntry;
  readonly identity: string;
  readonly before: State;
}

export interface Copied {
  readonly copied: number;
  /** Rows that another sync has copied meanwhile. */
  readonly overtaken: number;
  /** The fold of the source's log. */
  readonly state: State;
  readonly identities: Identities;
}

export interface Copying {
  readonly from: Source;
  readonly to: { readonly store: Store };
  readonly project: string;
  readonly entities: Entities;
  readonly clock: Clock;
  readonly onProgress?: ((rows: number) => void) | undefined;
}

/**
 * Adds each row that the target lacks, after the rows it followed at its source. A row with events is
 * committed only on exactly the versions that it followed there, so it can't be applied twice or out of
 * order. A row without events is recognised by its id.
 */
export async function copyRows(copying: Copying, { last, target }: Survey): Promise<Copied> {
  const { from, to, entities, clock, onProgress = () => {} } = copying;
  const identities = new Identities();
  const state: State = new Map();
  const counted = { copied: 0, overtaken: 0 };
  const at_once = to.store.inOrder === true ? ROWS_AT_ONCE : 1;
  let window: Copy[] = [];
  const send = async () => {
    const copies = window;
    window = [];
    const outcomes = await Promise.allSettled(copies.map((copy) => copyOne(copying, copy)));
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'rejected') throw outcome.reason;
      const copy = copies[index] as Copy;
      if (outcome.value === 'copied') counted.copied += 1;
      else if (outcome.value === 'known') counted.overtaken += 1;
      else if (outcome.value !== 'elsewhere') throw unfit(copy, outcome.value);
      else if (await hasCome(copy.identity, target, clock)) counted.overtaken += 1;
      else throw gone(copy, counted.copied);
    }
    onProgress(counted.copied + counted.overtaken);
  };
  for await (const entry of from.rows(last)) {
    if (isOfTheStore(entry)) continue;
    const identity = identities.next(entry);
    const before = recordsBefore(entry, state);
    apply(entities, state, entry);
    if (target.has(identity)) continue;
    window.push({ entry, identity, before });
    if (window.length >= at_once) await send();
  }
  await send();
  return { ...counted, state, identities };
}

/**
 * `elsewhere`: the target is not in the state that the source had before this row. A refusal: the target does
 * not accept the row at all.
 */
async function copyOne(
  { to, project, entities }: Copying,
  { entry, identity, before }: Copy,
): Promise<'copied' | 'known' | 'elsewhere' | Refusal> {
  const row = unplaced(entry);
  const { agent_id, agent_type, session_id, sequence, operation, parameters, events, result } = row;
  const request: Request = {
    project,
    actor: { agent_id, agent_type, session_id },
    ...{ sequence, operation, parameters },
    operation_id: `sync:${hexOf(identity)}`,
    // For a row with events the versions ensure that it is applied once, for ever: no id has to be kept for
    // it.
    input_digest: events.length === 0 ? hexOf(identity) : '',
    started_ms: 0,
  };
  const keys = [...new Map(events.map(({ kind, id }) => [keyText({ kind, id }), { kind, id }])).values()];
  let fits = true;
  const decision: Decision<JsonObject> = {
    needs: { keys },
    decide(loaded, now_ms) {
      fits = keys.every((key) => {
        const record = before.get(keyText(key));
        const there = loaded.get(key);
        // The target may have swept away records that are over: there they are created again.
        return (
          there?.version === record?.version || (there === undefined && isOver(entities, record, now_ms))
        );
      });
      if (!fits) return refused(refuse('histories_diverged', 'The target has gone on.'));
      return { verdict: 'commit', events, answer: result, copied: row };
    },
  };
  const outcome = await to.store.run(request, decision);
  if (outcome.status === 'committed') return outcome.repeated ? 'known' : 'copied';
  return outcome.status === 'refused' && fits ? outcome.refusal : 'elsewhere';
}

function recordsBefore({ events }: LogEntry, state: State): State {
  const records = new Map<string, EntityRecord>();
  for (const event of events) {
    const key = keyText(event);
    const record = state.get(key);
    if (record !== undefined) records.set(key, record);
  }
  return records;
}

/** Another sync may be ahead of this one. */
async function hasCome(identity: string, target: Survey['target'], clock: Clock): Promise<boolean> {
  const until_ms = clock.elapsed_ms() + READABLE_MS_MAX;
  for (;;) {
    await target.catchUp();
    if (target.has(identity)) return true;
    if (clock.elapsed_ms() >= until_ms) return false;
    await clock.sleep(LOOK_AGAIN_MS);
  }
}

function gone({ entry }: Copy, copied: number): StoreFailure {
  const keys = [...new Set(entry.events.map(keyText))];
  const [first = ''] = keys;
  const message = `While this copied, somebody else went on with ${first} in the target; row ${entry.position} can't follow that. ${copied} rows were copied.`;
  const details = { position: entry.position, entities: keys.slice(0, 10), copied };
  return new StoreFailure('histories_diverged', message, { details });
}

function unfit({ entry }: Copy, refusal: Refusal): StoreFailure {
  const message = `The target does not take row ${entry.position} (${entry.operation}): ${refusal.message}`;
  return new StoreFailure('too_large', message, { details: { position: entry.position } });
}
