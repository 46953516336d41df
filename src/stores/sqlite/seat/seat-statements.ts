import type { StatementSync } from 'node:sqlite';

interface Prepared {
  readonly ready: StatementSync;
}

/** The process that commits for the other processes. */
export interface SeatRow {
  token: number;
  pid: number;
  socket: string;
  taken_at_ms: number;
  /** In the past when the seat was given up, or was neither used nor renewed for a while. */
  expires_at_ms: number;
}

/** Which process sits. */
export class SeatStatements {
  readonly #row: Prepared;
  readonly #take: Prepared;
  readonly #renew: Prepared;

  constructor(prepare: (sql: string) => Prepared) {
    this.#row = prepare('SELECT token, pid, socket, taken_at_ms, expires_at_ms FROM seat');
    this.#take = prepare(`INSERT INTO seat (one, token, pid, socket, taken_at_ms, expires_at_ms)
      VALUES (1, ?, ?, ?, ?, ?) ON CONFLICT (one) DO UPDATE SET token = excluded.token, pid = excluded.pid,
        socket = excluded.socket, taken_at_ms = excluded.taken_at_ms, expires_at_ms = excluded.expires_at_ms
      WHERE token = ?`);
    this.#renew = prepare('UPDATE seat SET expires_at_ms = ? WHERE token = ?');
  }

  row(): SeatRow | undefined {
    return this.#row.ready.get() as SeatRow | undefined;
  }

  /** Takes the seat if it has not changed since it was seen (0: never taken). */
  take(seat: SeatRow, seen: number): boolean {
    const { token, pid, socket, taken_at_ms, expires_at_ms } = seat;
    return this.#take.ready.run(token, pid, socket, taken_at_ms, expires_at_ms, seen).changes === 1;
  }

  /** False: another process has the seat. */
  renew(token: number, expires_at_ms: number): boolean {
    return this.#renew.ready.run(expires_at_ms, token).changes === 1;
  }
}
