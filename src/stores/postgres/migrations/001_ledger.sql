-- The ledger: current records, the log, the operation ids. Every key compares by bytes (COLLATE "C"), as on every store.
CREATE SCHEMA IF NOT EXISTS coxswain;

CREATE TABLE coxswain.meta (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- The last migration applied.
  migration integer NOT NULL,
  -- Raised by a migration that older processes must not write beside; every commit looks at it.
  epoch integer NOT NULL
);
INSERT INTO coxswain.meta (migration, epoch) VALUES (0, 1);

CREATE TABLE coxswain.records (
  project text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  born bigint NOT NULL,
  state jsonb NOT NULL,
  sort_key text COLLATE "C",
  group_key text COLLATE "C",
  -- Whether it has rows in links: nearly none has, and a commit need not look there for the others.
  linked boolean NOT NULL DEFAULT false,
  PRIMARY KEY (project, kind, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.05);
CREATE INDEX records_by_sort ON coxswain.records (project, kind, sort_key, born, id) WHERE sort_key IS NOT NULL;
CREATE INDEX records_by_group ON coxswain.records (project, kind, group_key, born, id) WHERE group_key IS NOT NULL;

CREATE TABLE coxswain.links (
  project text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  link text COLLATE "C" NOT NULL,
  born bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (project, kind, link, born, id)
);
CREATE INDEX links_by_record ON coxswain.links (project, kind, id);

CREATE SEQUENCE coxswain.log_position;

-- One row per commit, read or refusal. json, not jsonb: written once, rarely read, and the first answer comes back as it was.
CREATE TABLE coxswain.log (
  project text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  schema integer NOT NULL,
  at_ms double precision NOT NULL,
  agent_id text NOT NULL,
  agent_type text NOT NULL,
  session_id text NOT NULL,
  sequence bigint NOT NULL,
  operation text NOT NULL,
  operation_id text NOT NULL,
  parameters json NOT NULL,
  result json NOT NULL,
  duration_ms double precision NOT NULL,
  events json NOT NULL,
  PRIMARY KEY (project, position)
);

CREATE FUNCTION coxswain.log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the log of Coxswain is append-only: % refused', TG_OP USING ERRCODE = 'COX02';
END $$;
CREATE TRIGGER log_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON coxswain.log
  FOR EACH STATEMENT EXECUTE FUNCTION coxswain.log_is_append_only();
-- Also when a session replays as a replica: there ordinary triggers stay silent.
ALTER TABLE coxswain.log ENABLE ALWAYS TRIGGER log_is_append_only;

CREATE TABLE coxswain.operations (
  project text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  operation_id text COLLATE "C" NOT NULL,
  input_digest text NOT NULL,
  position bigint NOT NULL,
  at_ms bigint NOT NULL,
  PRIMARY KEY (project, agent_id, operation_id)
);
CREATE INDEX operations_by_age ON coxswain.operations (at_ms);
