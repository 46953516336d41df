import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import type { Contender } from '../harness.ts';

/** The bare engine: one prepared insert of one row per durable commit, no index, nothing else. */
export function openRawSqlite(dir: string): Contender & { commit(): void } {
  const database = new DatabaseSync(join(dir, 'raw.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec('CREATE TABLE row (id INTEGER PRIMARY KEY, body TEXT NOT NULL)');
  const insert = database.prepare('INSERT INTO row (body) VALUES (?)');
  const body = 'x'.repeat(200);
  const commit = () => void insert.run(body);
  return {
    name: 'raw SQLite, one row a commit, FULL',
    commit,
    async measure(durationMs) {
      const start = performance.now();
      let count = 0;
      while (performance.now() - start < durationMs) {
        commit();
        count++;
      }
      return { count, elapsed_ms: performance.now() - start };
    },
    async close() {
      database.close();
    },
  };
}
