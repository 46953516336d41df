import { mkdirSync, readdirSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../kernel/file-system.ts';

/** What the folder of those who wait for a file is called. It is there only while some wait. */
const LINE_END = '-waiting';
const TIME_DIGITS = 9;

/**
 * The processes that wait for one file, in the order in which they came: each has a ticket, an empty file whose name is its time and
 * its number. It grants nothing, since only SQLite does that. It tells a process how many are before it, so that 200 of them
 * don't ask again so often that they take the processor from the one that writes.
 */
export class WaitingLine {
  readonly #folder: string;
  readonly #ticket: string;
  /** As many as were there at the last look, this one among them. */
  length = 1;

  constructor(path: string, now_ms: number) {
    this.#folder = `${path}${LINE_END}`;
    const time = Math.max(0, Math.floor(now_ms)).toString(36).padStart(TIME_DIGITS, '0');
    this.#ticket = `${time}-${process.pid}`;
    this.#join();
  }

  /** How many came before this process. Nothing is known where the folder can't be made: as if it were alone. */
  look(): number {
    try {
      const tickets = readdirSync(this.#folder).sort();
      this.length = Math.max(1, tickets.length);
      const before = tickets.filter((ticket) => ticket < this.#ticket);
      if (before[0] !== undefined && !isAlive(before[0])) this.#remove(before[0]);
      return before.length;
    } catch {
      this.length = 1;
      return 0;
    }
  }

  leave(): void {
    this.#remove(this.#ticket);
    try {
      rmdirSync(this.#folder);
    } catch {
      // Others wait.
    }
  }

  #join(): void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(this.#folder, this.#ticket), '');
    } catch {
      // The last one to leave removed the folder just then, or it can't be made: this process waits without a ticket.
    }
  }

  #remove(ticket: string): void {
    try {
      unlinkSync(join(this.#folder, ticket));
    } catch {
      // Another process has removed it.
    }
  }
}

/** A process that was killed leaves its ticket behind. One of another container only loses its place. */
function isAlive(ticket: string): boolean {
  const pid = Number(ticket.split('-')[1]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
