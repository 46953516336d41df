import type { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * Prepares a statement once, on first use: a hook lives for milliseconds and runs a third of the statements.
 */
export class Prepared {
  readonly #database: DatabaseSync;
  readonly #sql: string;
  readonly #asArrays: boolean;
  #statement: StatementSync | undefined;

  constructor(database: DatabaseSync, sql: string, asArrays = false) {
    this.#database = database;
    this.#sql = sql;
    this.#asArrays = asArrays;
  }

  get ready(): StatementSync {
    if (this.#statement === undefined) {
      this.#statement = this.#database.prepare(this.#sql);
      if (this.#asArrays) this.#statement.setReturnArrays(true);
    }
    return this.#statement;
  }
}
