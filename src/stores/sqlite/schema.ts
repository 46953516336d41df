/**
 * Raised with every migration, and with EVENT_SCHEMA, because every process makes records from rows that
 * other processes wrote. A process that knows only a lower number stops (`upgrade_required`).
 */
export const SCHEMA_EPOCH = 4;

/** "Cox1": tells our files from other programs' databases. */
export const APPLICATION_ID = 0x436f7831;

/**
 * Speed comes from touching few b-trees per commit: a commit touches the end of the log and, if its caller
 * named an operation id, the index of those ids, and nothing else. Records follow many rows at a time
 * (records.ts). Hence no AUTOINCREMENT, tables without a hidden rowid where the key is the row, partial
 * indexes, and one log row for events and audit together.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE records (
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    born INTEGER NOT NULL,
    sort_key TEXT,
    group_key TEXT,
    state TEXT NOT NULL,
    PRIMARY KEY (project, kind, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX records_by_sort ON records (project, kind, sort_key, born) WHERE sort_key IS NOT NULL;
  CREATE INDEX records_by_group ON records (project, kind, group_key, born) WHERE group_key IS NOT NULL;

  CREATE TABLE links (
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    link TEXT NOT NULL,
    born INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (project, kind, link, born, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE log (
    position INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    input_digest TEXT,
    body TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  -- Only commits whose caller named an id have a digest: a retry finds what was done, never what was refused.
  CREATE INDEX log_by_operation ON log (operation_id) WHERE input_digest IS NOT NULL;
  CREATE TRIGGER log_is_append_only_update BEFORE UPDATE ON log
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
  CREATE TRIGGER log_is_append_only_delete BEFORE DELETE ON log
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

  -- For people with a sqlite3 shell; nothing in the product reads it.
  CREATE VIEW audit_log AS SELECT position, strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') AS timestamp,
    project, agent_id, body ->> 'agent_type' AS agent_type, body ->> 'session_id' AS session_id,
    body ->> 'sequence' AS sequence, operation, body -> 'parameters' AS parameters, body -> 'result' AS result,
    body ->> 'duration_ms' AS duration_ms, body -> 'events' AS events FROM log;
  `,
  `
  -- From here on tasks may skip or run when a dependency fails; a process that does not know that must not write.

  -- Who commits for the others at present (seat/). Not state of the product: it is in no log and in no replay.
  CREATE TABLE seat (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    token INTEGER NOT NULL,
    pid INTEGER NOT NULL,
    socket TEXT NOT NULL,
    taken_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT;

  -- Locks are found by their place: a lock on a folder looks at what is held below it.
  UPDATE records SET sort_key = 'held/' || id WHERE kind = 'lock' AND sort_key >= 'held/' AND sort_key < 'held0';
  `,
  `
  -- The chain over the log (ledger/trail/). Written behind it: no commit touches these tables.
  CREATE TABLE seals (
    project TEXT NOT NULL,
    number INTEGER NOT NULL,
    previous TEXT NOT NULL,
    after INTEGER NOT NULL,
    last INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    quiet_rows INTEGER NOT NULL,
    event_rows INTEGER NOT NULL,
    oldest_at_ms INTEGER NOT NULL,
    newest_at_ms INTEGER NOT NULL,
    sealed_at_ms INTEGER NOT NULL,
    words TEXT,
    hash TEXT NOT NULL,
    pruned_by INTEGER,
    archived_by INTEGER,
    PRIMARY KEY (project, number)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER seals_are_append_only_update BEFORE UPDATE OF project, number, previous, after, last, rows, quiet_rows,
    event_rows, oldest_at_ms, newest_at_ms, sealed_at_ms, words, hash ON seals
    BEGIN SELECT RAISE(ABORT, 'seals are append-only'); END;
  CREATE TRIGGER seals_are_marked_once BEFORE UPDATE OF pruned_by, archived_by ON seals
    WHEN (OLD.pruned_by IS NOT NULL AND OLD.pruned_by IS NOT NEW.pruned_by)
      OR (OLD.archived_by IS NOT NULL AND OLD.archived_by IS NOT NEW.archived_by)
    BEGIN SELECT RAISE(ABORT, 'seals are append-only'); END;
  CREATE TRIGGER seals_are_append_only_delete BEFORE DELETE ON seals
    BEGIN SELECT RAISE(ABORT, 'seals are append-only'); END;

  -- Apart from the seals: a search goes through many of those and through none of these.
  CREATE TABLE sealed_rows (
    project TEXT NOT NULL,
    number INTEGER NOT NULL,
    leaves BLOB NOT NULL,
    PRIMARY KEY (project, number)
  ) STRICT;
  CREATE TRIGGER sealed_rows_are_append_only_update BEFORE UPDATE ON sealed_rows
    BEGIN SELECT RAISE(ABORT, 'seals are append-only'); END;
  CREATE TRIGGER sealed_rows_are_append_only_delete BEFORE DELETE ON sealed_rows
    BEGIN SELECT RAISE(ABORT, 'seals are append-only'); END;

  -- Positions that retention has emptied: known gaps. What is not announced here can't be deleted, and what is missing
  -- without standing here is damage.
  CREATE TABLE gaps (first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
  DROP TRIGGER log_is_append_only_delete;
  CREATE TRIGGER log_is_append_only_delete BEFORE DELETE ON log
    WHEN NOT coalesce((SELECT last >= OLD.position FROM gaps WHERE first <= OLD.position ORDER BY first DESC LIMIT 1), 0)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
  `,
  `
  -- The last row of the log that the records show. What comes after it, whoever reads them adds (records.ts).
  CREATE TABLE folded (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER NOT NULL) STRICT;
  INSERT INTO folded (one, position) SELECT 1, coalesce(max(position), 0) FROM log;
  `,
];
