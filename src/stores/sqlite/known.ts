import { type EntityKey, type EntityRecord, keyText } from '../../ledger/entity.ts';
import type { RecordWrite } from '../../ledger/proposal.ts';
import type { Statements } from './statements.ts';

const KEPT_MAX = 5000;

/**
 * Records by key, for use inside the writer's transaction only. What this process has read or written there stays true
 * until another connection commits, and the writer asks about that with every transaction: whoever releases what it locked,
 * or completes what it claimed, need not read it again. Absence is known too: nobody has locked a folder, as a rule.
 */
export class KnownRecords {
  readonly #statements: Statements;
  readonly #records = new Map<string, EntityRecord | undefined>();

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  get(project: string, key: EntityKey): EntityRecord | undefined {
    const text = `${project}\0${keyText(key)}`;
    const known = this.#records.get(text);
    if (known !== undefined || this.#records.has(text)) return known;
    const record = this.#statements.record(project, key);
    this.#keep(text, record);
    return record;
  }

  write(project: string, write: RecordWrite, position: number): void {
    this.#statements.write(project, write, position);
    const { kind, id, version, state } = write;
    this.#keep(`${project}\0${keyText(write)}`, { kind, id, version, born: write.born ?? position, state });
  }

  /** Somebody else has committed, or what we wrote was taken back. */
  forget(): void {
    this.#records.clear();
  }

  #keep(text: string, record: EntityRecord | undefined): void {
    if (this.#records.size >= KEPT_MAX) this.#records.clear();
    this.#records.set(text, record);
  }
}
