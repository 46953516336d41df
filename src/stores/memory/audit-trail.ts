import type { Removal, Scanned, StoredRow, Stretch, Trail } from '../../ledger/audit/audit-port.ts';
import type { Seal } from '../../ledger/audit/seal.ts';
import { type AuditFilter, matches } from '../../ledger/audit/search-words.ts';
import type { LogEntry, Unplaced } from '../../ledger/log.ts';

interface Kept {
  seal: Seal;
  readonly leaves: Buffer;
}

/** The trail over a log in an array: row `position` is at `position - 1`, and a removed row leaves a hole. */
export class MemoryTrail implements Trail {
  readonly #log: (LogEntry | undefined)[];
  readonly #append: (row: Unplaced) => void;
  readonly #seals = new Map<string, Kept[]>();

  constructor(log: (LogEntry | undefined)[], append: (row: Unplaced) => void) {
    this.#log = log;
    this.#append = append;
  }

  async sealsAfter(project: string, number: number, limit: number): Promise<Seal[]> {
    return this.#of(project)
      .slice(number, number + limit)
      .map(({ seal }) => seal);
  }

  async sealsBefore(project: string, number: number, limit: number): Promise<Seal[]> {
    const older = this.#of(project).slice(0, Math.max(0, number - 1));
    return older
      .slice(-limit)
      .reverse()
      .map(({ seal }) => seal);
  }

  async leaves(project: string, number: number): Promise<Buffer | undefined> {
    return this.#of(project)[number - 1]?.leaves;
  }

  async addSeal(seal: Seal, leaves: Buffer): Promise<boolean> {
    const kept = this.#of(seal.project);
    if (kept.length !== seal.number - 1) return false;
    kept.push({ seal, leaves });
    return true;
  }

  async scan(project: string, filter: AuditFilter, stretch: Stretch): Promise<Scanned> {
    const entries: LogEntry[] = [];
    let position = Math.min(stretch.below - 1, this.#log.length);
    const lowest = Math.max(stretch.above, position - stretch.rows_max);
    for (; position > lowest && entries.length < stretch.limit; position -= 1) {
      const entry = this.#log[position - 1];
      if (entry?.project === project && matches(entry, filter)) entries.push(entry);
    }
    return { entries, reached: position };
  }

  async stored(project: string, after: number, last: number): Promise<StoredRow[]> {
    return this.#log
      .slice(after, last)
      .flatMap((entry) =>
        entry?.project === project ? [{ position: entry.position, entry, intact: true }] : [],
      );
  }

  async remove(project: string, { number, mark, positions, row }: Removal): Promise<boolean> {
    const kept = this.#of(project)[number - 1];
    if (kept === undefined || kept.seal[mark] !== null) return false;
    for (const position of positions) this.#log[position - 1] = undefined;
    this.#append(row);
    kept.seal = { ...kept.seal, [mark]: this.#log.length };
    return true;
  }

  #of(project: string): Kept[] {
    const kept = this.#seals.get(project) ?? [];
    this.#seals.set(project, kept);
    return kept;
  }
}
