import type { JsonObject } from '../../kernel/json.ts';
import {
  type Entities,
  type EntityKey,
  type EntityRecord,
  keyText,
  nextVersion,
} from '../../ledger/entity.ts';
import type { LogEntry } from '../../ledger/log.ts';
import { entityType } from '../../ledger/proposal.ts';
import { type Statements, stateText } from '../sqlite/statements.ts';

/**
 * How many records are folded in memory before they are written: a record with many events is then written
 * once.
 */
const KEPT_MAX = 20_000;

interface Folded {
  readonly project: string;
  /** As it is in the file; undefined: not there yet. */
  readonly stored: EntityRecord | undefined;
  record: EntityRecord;
}

/** Folds rows of the log into the records, in order. The result counts once `flush` has been called. */
export class Fold {
  readonly #entities: Entities;
  readonly #statements: Statements;
  readonly #folded = new Map<string, Folded>();

  constructor(entities: Entities, statements: Statements) {
    this.#entities = entities;
    this.#statements = statements;
  }

  stateOf(project: string, key: EntityKey): JsonObject | undefined {
    const known = this.#folded.get(`${project}\0${keyText(key)}`);
    return (known?.record ?? this.#statements.record(project, key))?.state;
  }

  apply({
    project,
    at_ms,
    position,
    events,
  }: Pick<LogEntry, 'project' | 'at_ms' | 'position' | 'events'>): void {
    /** A commit raises a version once, however many of its events are about the record. */
    const before = events.length > 1 ? new Map<string, EntityRecord | undefined>() : undefined;
    for (const event of events) {
      const { kind, id } = event;
      const text = `${project}\0${keyText(event)}`;
      const known = this.#folded.get(text);
      const stored = known === undefined ? this.#statements.record(project, event) : known.stored;
      const current = known?.record ?? stored;
      if (before?.has(text) === false) before.set(text, current);
      const state = entityType(this.#entities, kind).evolve(current?.state, event, at_ms);
      const version = nextVersion(before === undefined ? current : before.get(text), at_ms);
      const record = { kind, id, version, born: current?.born ?? position, state };
      if (known === undefined) this.#folded.set(text, { project, stored, record });
      else known.record = record;
    }
    if (this.#folded.size >= KEPT_MAX) this.flush();
  }

  flush(): void {
    for (const { project, stored, record } of this.#folded.values()) {
      const { kind, id, state } = record;
      const type = entityType(this.#entities, kind);
      const asStored = stored && { born: stored.born, links: type.index(stored.state, id).links ?? [] };
      const keys = type.index(state, id);
      this.#statements.put(project, record, keys, stateText(kind, state), asStored);
    }
    this.#folded.clear();
  }
}
