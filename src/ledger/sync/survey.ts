import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { type EntityKey, keyText } from '../entity.ts';
import { EVENT_SCHEMA, type LogEntry } from '../log.ts';
import type { Store } from '../store-port.ts';
import { Identities, isOfTheStore } from './row-identity.ts';
import { TargetLog } from './sync-target.ts';

/** A log from its first row on, including its archived rows; up to a position if one is given. */
export interface Source {
  rows(last?: number): AsyncIterable<LogEntry>;
}

export interface Target extends Source {
  readonly store: Store;
}

/** An entity for which each of the two logs has rows that the other lacks. */
interface Contradiction extends EntityKey {
  readonly from: LogEntry;
  readonly to: LogEntry;
}

const CONTRADICTIONS_NAMED = 10;

export interface Survey {
  /** The source's end when it was first read: later rows are left for the next sync. */
  readonly last: number;
  readonly rows: number;
  readonly missing: number;
  readonly target: TargetLog;
  /** The source's entities that the target has continued by itself. */
  readonly goneOn: ReadonlySet<string>;
}

/**
 * Finds what the target lacks. Throws, before anything is written, when the two contradict each other: a row
 * can follow only what it followed at its source; otherwise the fold would differ.
 */
export async function survey(from: Source, to: Target, project: string): Promise<Survey> {
  const given = await read(from);
  const target = new TargetLog(to.store, project);
  const goneOn = new Map<string, LogEntry>();
  await target.read(to.rows(), (entry, identity) => {
    if (given.identities.has(identity)) return;
    for (const event of entry.events) {
      const key = keyText(event);
      if (given.touched.has(key) && !goneOn.has(key)) goneOn.set(key, entry);
    }
  });
  const { last, rows } = given;
  const contradictions = new Map<string, Contradiction>();
  let missing = 0;
  const identities = new Identities();
  for await (const entry of from.rows(last)) {
    if (isOfTheStore(entry) || target.has(identities.next(entry))) continue;
    missing += 1;
    for (const { kind, id } of entry.events) {
      const key = keyText({ kind, id });
      const own = goneOn.get(key);
      if (own !== undefined && !contradictions.has(key))
        contradictions.set(key, { kind, id, from: entry, to: own });
    }
  }
  if (contradictions.size > 0) throw diverged([...contradictions.values()]);
  return { last, rows, missing, target, goneOn: new Set(goneOn.keys()) };
}

async function read(from: Source) {
  const identities = new Identities();
  const touched = new Set<string>();
  let last = 0;
  let rows = 0;
  for await (const entry of from.rows()) {
    last = Math.max(last, entry.position);
    if (isOfTheStore(entry)) continue;
    if (entry.schema > EVENT_SCHEMA)
      throw new StoreFailure(
        'upgrade_required',
        `Row ${entry.position} was written by a newer Coxswain (events of schema ${entry.schema}).`,
      );
    rows += 1;
    identities.next(entry);
    for (const event of entry.events) touched.add(keyText(event));
  }
  return { identities, touched, last, rows };
}

function diverged(contradictions: readonly Contradiction[]): StoreFailure {
  const entities = contradictions.slice(0, CONTRADICTIONS_NAMED).map(({ kind, id, from, to }) => ({
    ...{ kind, id },
    ...named('from', from),
    ...named('to', to),
  }));
  const count = contradictions.length === 1 ? 'one entity' : `${contradictions.length} entities`;
  const message = `Each of the two stores has gone on by itself with ${count}, so that neither history can follow the other; nothing was copied.`;
  return new StoreFailure('histories_diverged', message, {
    details: { contradictions: contradictions.length, entities },
  });
}

/** Names the first row that only this log has: who did what, and when. */
function named(side: string, { at_ms, agent_id, operation }: LogEntry): JsonObject {
  return {
    [`${side}_agent`]: agent_id,
    [`${side}_operation`]: operation,
    [`${side}_at`]: isoTime(at_ms),
  };
}
