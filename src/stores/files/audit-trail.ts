import { StoreFailure } from '../../kernel/refusal.ts';
import type { Removal, Scanned, StoredRow, Stretch, Trail } from '../../ledger/audit/audit-port.ts';
import type { Seal } from '../../ledger/audit/seal.ts';
import { type AuditFilter, matches } from '../../ledger/audit/search-words.ts';
import type { LogEntry } from '../../ledger/log.ts';
import type { History } from './line-history.ts';

/** The trail of the file, plus the earlier rows that are only in the log. */
export class FilesTrail implements Trail {
  readonly #inner: Trail;
  readonly #history: History;

  constructor(inner: Trail, history: History) {
    this.#inner = inner;
    this.#history = history;
  }

  sealsAfter(project: string, number: number, limit: number): Promise<Seal[]> {
    return this.#inner.sealsAfter(project, number, limit);
  }

  sealsBefore(project: string, number: number, limit: number): Promise<Seal[]> {
    return this.#inner.sealsBefore(project, number, limit);
  }

  leaves(project: string, number: number): Promise<Buffer | undefined> {
    return this.#inner.leaves(project, number);
  }

  addSeal(seal: Seal, leaves: Buffer): Promise<boolean> {
    return this.#inner.addSeal(seal, leaves);
  }

  async scan(project: string, filter: AuditFilter, stretch: Stretch): Promise<Scanned> {
    const { end } = this.#history;
    if (stretch.below - 1 > end) {
      const above = Math.max(stretch.above, end);
      return await this.#inner.scan(project, filter, { ...stretch, above });
    }
    const entries: LogEntry[] = [];
    let reached = stretch.below;
    let looked = 0;
    for (const entry of this.#history.below(stretch.below)) {
      if (entry.position <= stretch.above) break;
      if (looked >= stretch.rows_max || entries.length >= stretch.limit)
        return { entries, reached: reached - 1 };
      if (entry.project === project && matches(entry, filter)) entries.push(entry);
      looked += 1;
      reached = entry.position;
    }
    return { entries, reached: stretch.above };
  }

  async stored(project: string, after: number, last: number): Promise<StoredRow[]> {
    const { end } = this.#history;
    const rows: StoredRow[] = [];
    if (after < end)
      for (const entry of this.#history.after(after)) {
        if (entry.position > last) break;
        if (entry.project === project) rows.push({ position: entry.position, entry, intact: true });
      }
    return [...rows, ...(await this.#inner.stored(project, Math.max(after, end), last))];
  }

  /** Only audit rows are removed; the log also belongs to other programs. */
  async remove(project: string, removal: Removal): Promise<boolean> {
    if (removal.mark === 'archived_by')
      throw new StoreFailure(
        'store_unsupported',
        'Events of a files store stay in its log, which other programs read too; it is a plain file to copy or to keep in git.',
      );
    return await this.#inner.remove(project, removal);
  }
}
