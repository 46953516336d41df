-- The whole schema as of migration 20. A database without our tables is created from this file; an existing one gets the files
-- in ../migrations one after the other. The test postgres-baseline compares the catalogs of both ways.
-- A change of the schema is a new migration (021, ...), which runs after this file too.
--
--   1. tables                      6. the audit trail
--   2. time, locks and positions   7. calls through PostgREST
--   3. reading                     8. views
--   4. writing                     9. roles and rights
--   5. handing out work

-- 1. Tables: current records, the log, the operation ids, the seals. Every key compares by bytes (COLLATE "C"), as on every store.

CREATE SCHEMA IF NOT EXISTS coxswain;

CREATE TABLE coxswain.meta (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- The last migration applied.
  migration integer NOT NULL,
  -- Raised by a migration that older processes must not write beside; every commit looks at it.
  epoch integer NOT NULL
);

INSERT INTO coxswain.meta (migration, epoch) VALUES (20, 2);

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

-- The one way out. The setting alone opens nothing: only a statement of the table's owner passes, and retention's function,
-- which checks what it removes, runs as the owner.
CREATE FUNCTION coxswain.log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('coxswain.retention', true) = 'on'
    AND current_user = (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = TG_RELID) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'the log of Coxswain is append-only: % refused', TG_OP USING ERRCODE = 'COX02';
END $$;
CREATE TRIGGER log_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON coxswain.log
  FOR EACH STATEMENT EXECUTE FUNCTION coxswain.log_is_append_only();
-- Also when a session replays as a replica: there ordinary triggers stay silent.
ALTER TABLE coxswain.log ENABLE ALWAYS TRIGGER log_is_append_only;

-- One row per sealed segment of the log; see the audit trail below.
CREATE TABLE coxswain.seals (
  project text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  previous text NOT NULL,
  after bigint NOT NULL,
  last bigint NOT NULL,
  rows integer NOT NULL,
  quiet_rows integer NOT NULL,
  event_rows integer NOT NULL,
  oldest_at_ms double precision NOT NULL,
  newest_at_ms double precision NOT NULL,
  sealed_at_ms double precision NOT NULL,
  words text,
  hash text NOT NULL,
  -- Positions of the rows that record what retention took out of the segment.
  pruned_by bigint,
  archived_by bigint,
  leaves bytea NOT NULL,
  PRIMARY KEY (project, number)
);

CREATE FUNCTION coxswain.seals_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND current_setting('coxswain.retention', true) = 'on'
    AND current_user = (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = TG_RELID) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'the seals of Coxswain are append-only: % refused', TG_OP USING ERRCODE = 'COX02';
END $$;
CREATE TRIGGER seals_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON coxswain.seals
  FOR EACH STATEMENT EXECUTE FUNCTION coxswain.seals_are_append_only();
ALTER TABLE coxswain.seals ENABLE ALWAYS TRIGGER seals_are_append_only;

-- 2. Time, locks and positions.
-- A function that is called from outside fixes search_path, and the planner's settings, because its statements are planned once
-- per session, often while the tables are still empty. The helpers inherit both (a SET per nested call costs a tenth of a commit),
-- so they name everything in full.

CREATE FUNCTION coxswain.now_ms() RETURNS bigint LANGUAGE sql VOLATILE
RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

CREATE FUNCTION coxswain.iso_time(p_ms double precision) RETURNS text LANGUAGE sql STABLE
RETURN to_char(to_timestamp(floor(p_ms) / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Advisory locks: two-integer form for what a commit touches.
CREATE FUNCTION coxswain.lock_key(project text, kind text, id text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(project || '/' || kind || '/' || id, 0);

CREATE FUNCTION coxswain.try_lock(key bigint) RETURNS boolean LANGUAGE sql VOLATILE
RETURN pg_try_advisory_xact_lock((key >> 32)::integer, ((key << 32) >> 32)::integer);

CREATE FUNCTION coxswain.try_lock_shared(key bigint) RETURNS boolean LANGUAGE sql VOLATILE
RETURN pg_try_advisory_xact_lock_shared((key >> 32)::integer, ((key << 32) >> 32)::integer);

-- Before a transaction takes positions it holds, shared, a lock (one-integer form, 0x6378 on top) on this number, which is
-- below all of them. A reader of the log stays behind the lowest of these (safe_position).
CREATE FUNCTION coxswain.position_floor() RETURNS bigint LANGUAGE sql VOLATILE
RETURN (25464::bigint << 48) | coalesce(pg_sequence_last_value('coxswain.log_position'::regclass), 0);

-- Up to here no commit is under way any more. A writer's lock is there before its position is taken, and goes only after
-- its rows are visible; so a transaction that took a position up to `last` is either seen in pg_locks or done.
-- The rows themselves must be read by a later statement, with a new snapshot.
CREATE FUNCTION coxswain.safe_position() RETURNS bigint LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  last bigint := coalesce(pg_sequence_last_value('coxswain.log_position'::regclass), 0);
  lowest bigint;
BEGIN
  SELECT min(((classid::bigint & 65535) << 32) | objid::bigint) INTO lowest
  FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 16 = 25464
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
  RETURN least(last, lowest);
END $$;

-- 3. Reading.

-- What several callers need, in one go: records by key, ranges, and what is known of their operation ids.
-- A bound never holds NUL: what ends in one arrives as "past this key" (x) or "up to and with this key" (y).
CREATE FUNCTION coxswain.load_group(p_keys json, p_ranges json, p_operations json) RETURNS json LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, coxswain, pg_temp
SET enable_seqscan = off
SET jit = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_now bigint := now_ms();
  v_keys json;
  v_ranges json;
  v_seen json;
BEGIN
  -- Ids first: what was committed under one of them is then part of what is loaded.
  IF p_operations IS NOT NULL THEN
    SELECT json_agg(json_build_object('i', q.i, 'digest', o.input_digest, 'position', o.position, 'answer', l.result))
    INTO v_seen
    FROM json_to_recordset(p_operations) AS q(i integer, p text, a text, o text)
    JOIN operations o ON o.project = q.p AND o.agent_id = q.a AND o.operation_id = q.o AND o.at_ms >= v_now - 86400000
    JOIN log l ON l.project = o.project AND l.position = o.position;
  END IF;
  IF p_keys IS NOT NULL THEN
    SELECT json_agg(CASE WHEN r.id IS NOT NULL THEN json_build_array(r.version, r.born, r.state) END ORDER BY q.i)
    INTO v_keys
    FROM json_to_recordset(p_keys) AS q(i integer, p text, k text, d text)
    LEFT JOIN records r ON r.project = q.p AND r.kind = q.k AND r.id = q.d;
  END IF;
  IF p_ranges IS NOT NULL THEN
    SELECT json_agg((
      SELECT json_agg(json_build_array(f.id, f.version, f.born, f.state) ORDER BY f.key, f.born, f.id)
      FROM find_range(q.p, q.b, q.k, q.f, q.x, q.t, q.y, q.n) f
    ) ORDER BY q.i) INTO v_ranges
    FROM json_to_recordset(p_ranges) AS q(i integer, p text, b text, k text, f text, x boolean, t text, y boolean, n integer);
  END IF;
  RETURN json_build_object('now', v_now, 'keys', v_keys, 'ranges', v_ranges, 'seen', v_seen);
END $$;

CREATE FUNCTION coxswain.find_range(
  p_project text, p_by text, p_kind text, p_from text, p_past boolean, p_before text, p_with boolean, p_limit integer
) RETURNS TABLE (key text, id text, version bigint, born bigint, state jsonb) LANGUAGE plpgsql VOLATILE ROWS 50
AS $$
#variable_conflict use_column
BEGIN
  CASE p_by
  WHEN 'sort' THEN RETURN QUERY
    SELECT r.sort_key, r.id, r.version, r.born, r.state FROM coxswain.records r
    WHERE r.project = p_project AND r.kind = p_kind AND r.sort_key IS NOT NULL
      AND r.sort_key >= p_from AND (NOT p_past OR r.sort_key > p_from)
      AND r.sort_key <= p_before AND (p_with OR r.sort_key < p_before)
    ORDER BY r.sort_key, r.born, r.id LIMIT p_limit;
  WHEN 'group' THEN RETURN QUERY
    SELECT r.group_key, r.id, r.version, r.born, r.state FROM coxswain.records r
    WHERE r.project = p_project AND r.kind = p_kind AND r.group_key IS NOT NULL
      AND r.group_key >= p_from AND (NOT p_past OR r.group_key > p_from)
      AND r.group_key <= p_before AND (p_with OR r.group_key < p_before)
    ORDER BY r.group_key, r.born, r.id LIMIT p_limit;
  WHEN 'link' THEN RETURN QUERY
    SELECT l.link, r.id, r.version, r.born, r.state
    FROM (
      SELECT * FROM coxswain.links l WHERE l.project = p_project AND l.kind = p_kind
        AND l.link >= p_from AND (NOT p_past OR l.link > p_from)
        AND l.link <= p_before AND (p_with OR l.link < p_before)
      ORDER BY l.link, l.born, l.id LIMIT p_limit
    ) l
    -- OFFSET 0: or the planner may walk all records of the kind and look for each one's links.
    CROSS JOIN LATERAL (
      SELECT * FROM coxswain.records r WHERE r.project = l.project AND r.kind = l.kind AND r.id = l.id OFFSET 0
    ) r;
  ELSE RETURN QUERY
    SELECT r.id, r.id, r.version, r.born, r.state FROM coxswain.records r
    WHERE r.project = p_project AND r.kind = p_kind
      AND r.id >= p_from AND (NOT p_past OR r.id > p_from)
      AND r.id <= p_before AND (p_with OR r.id < p_before)
    ORDER BY r.id LIMIT p_limit;
  END CASE;
END $$;

CREATE FUNCTION coxswain.read_log(p_project text, p_after bigint, p_limit integer) RETURNS json LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, coxswain, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  safe bigint := safe_position();
  rows json;
BEGIN
  SELECT json_agg(e) INTO rows FROM (
    SELECT l.position, l.schema, l.project, l.at_ms, l.agent_id, l.agent_type, l.session_id, l.sequence, l.operation,
      l.operation_id, l.parameters, l.result, l.duration_ms, l.events
    FROM coxswain.log l WHERE l.project = p_project AND l.position > p_after AND l.position <= safe
    ORDER BY l.position LIMIT p_limit
  ) e;
  RETURN json_build_object('safe', safe, 'entries', rows);
END $$;

-- 4. Writing: many proposals, one transaction, one fsync. Each is committed whole or is a conflict of its own; the caller has seen
-- to it that no two of a group touch the same entity unless both only expect it (a clash fails the group as 40001 and the caller
-- tries them one by one).

-- Entities are given as arrays, one element for each: first what the jobs write, then what they only expect (its version is NULL).
-- As JSON they were read by each of four statements, and a row of the log three times. Texts of JSON stand one in a line, for JSON
-- itself has no line breaks: the states of what is written, and of each row its parameters, result and events.
--   items    {i, p, a, o, g, m, n, s, c, u, t}: number, project, agent, operation id, digest; m, the caller named the id itself; n,
--            the time from which it must not be committed any more (an expiry it relies on, or when its caller gives up: a stopped
--            server goes on where it was, and must do nothing after its caller has gone); s, sent for the second time, and before
--            the first time nothing was known of the log after this position; c and u, how many entities it creates and
--            updates; t marks a take
--   jobs, projects, kinds, ids, expected (0: absent), versions, sort, group, linked: of each entity
-- An id that the product made itself is asked for again only when the connection broke under it: it needs no entry in operations,
-- which is kept for a day, because the log itself tells.
CREATE FUNCTION coxswain.write_group(
  p_epoch integer, p_items jsonb,
  p_jobs integer[], p_projects text[], p_kinds text[], p_ids text[], p_expected bigint[], p_versions bigint[],
  p_sort text[], p_group text[], p_linked boolean[], p_states text,
  p_links json, p_rows json, p_parameters text, p_results text, p_events text, p_takes jsonb, p_notes json
) RETURNS text LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, coxswain, pg_temp
SET lock_timeout = '400ms'
SET enable_seqscan = off
SET jit = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_now bigint;
  v_clash boolean;
  v_locked bigint;
  v_out integer[];
  v_seen integer[];
  v_recalled json;
  v_resent json;
  v_named boolean;
  v_linked boolean;
  v_positions bigint[];
  v_creates bigint;
  v_updates bigint;
  v_rows bigint;
  v_written bigint;
  v_states text[] := string_to_array(p_states, E'\n');
  v_takes jsonb;
  v_taken text;
BEGIN
  -- Reading it holds meta's lock to the end, and a migration that raises the epoch locks meta: no commit of an older process
  -- ends after the migration.
  IF (SELECT epoch FROM meta) > p_epoch THEN
    RAISE EXCEPTION 'a newer Coxswain has raised the epoch of this store past %', p_epoch USING ERRCODE = 'COX01';
  END IF;

  -- All locks of the group in one order, so that no two wait for each other: exclusive per written entity and operation id,
  -- shared per expectation. Only then are versions read (each statement has its own snapshot), which is what makes
  -- expecting an absent or unwritten entity safe.
  SELECT count(s.lock), coalesce(bool_or(s.clash), false) INTO v_locked, v_clash
  FROM (
    SELECT o.clash, CASE
      WHEN o.exclusive THEN pg_advisory_xact_lock((o.key >> 32)::integer, ((o.key << 32) >> 32)::integer)::text
      ELSE pg_advisory_xact_lock_shared((o.key >> 32)::integer, ((o.key << 32) >> 32)::integer)::text
    END AS lock
    FROM (
      SELECT a.key, bool_or(a.w) AS exclusive, bool_or(a.w) AND min(a.i) <> max(a.i) AS clash
      FROM (
        SELECT lock_key(t.p, t.k, t.d) AS key, t.v IS NOT NULL AS w, t.i
        FROM unnest(p_jobs, p_projects, p_kinds, p_ids, p_versions) AS t(i, p, k, d, v)
        UNION ALL
        SELECT lock_key(t.p, 'operation/' || t.a, t.o), true, t.i
        FROM jsonb_to_recordset(p_items) AS t(i integer, p text, a text, o text)
      ) a GROUP BY a.key ORDER BY a.key
    ) o
  ) s;
  IF v_clash THEN
    RAISE EXCEPTION 'two proposals of a group touch the same entity' USING ERRCODE = '40001';
  END IF;
  v_now := now_ms();

  v_named := p_items @> '[{"m": true}]';
  IF v_named THEN
    SELECT array_agg(q.i),
      json_agg(json_build_object('i', q.i, 'digest', o.input_digest, 'position', o.position, 'answer', l.result))
    INTO v_seen, v_recalled
    FROM jsonb_to_recordset(p_items) AS q(i integer, p text, a text, o text, m boolean)
    JOIN operations o ON o.project = q.p AND o.agent_id = q.a AND o.operation_id = q.o AND o.at_ms >= v_now - 86400000
    JOIN log l ON l.project = o.project AND l.position = o.position
    WHERE q.m;
  END IF;
  -- The line broke and they come again: the lock on the id has waited for the first try, and its row, if any, is new.
  IF p_items @? '$[*].s' THEN
    SELECT v_seen || array_agg(q.i),
      json_agg(json_build_object('i', q.i, 'digest', q.g, 'position', l.position, 'answer', l.result))
    INTO v_seen, v_resent
    FROM jsonb_to_recordset(p_items) AS q(i integer, p text, a text, o text, g text, s bigint)
    JOIN log l ON l.project = q.p AND l.position > q.s AND l.operation_id = q.o AND l.agent_id = q.a
    WHERE q.s IS NOT NULL;
  END IF;

  SELECT array_agg(t.i) FILTER (WHERE coalesce(r.version, 0) <> t.e), coalesce(bool_or(r.linked AND t.v IS NOT NULL), false)
  INTO v_out, v_linked
  FROM unnest(p_jobs, p_projects, p_kinds, p_ids, p_expected, p_versions) AS t(i, p, k, d, e, v)
  LEFT JOIN records r ON r.project = t.p AND r.kind = t.k AND r.id = t.d;
  v_out := v_out || v_seen;

  -- Positions after the locks: along one entity's history they only grow.
  PERFORM pg_advisory_xact_lock_shared(position_floor());
  SELECT array_agg(g.position ORDER BY g.i), sum(g.c) FILTER (WHERE g.position IS NOT NULL),
    sum(g.u) FILTER (WHERE g.position IS NOT NULL), count(g.position)
  INTO v_positions, v_creates, v_updates, v_rows
  FROM (
    SELECT q.i, q.c, q.u, CASE
      WHEN q.t OR q.i = ANY (v_out) OR v_now >= q.n THEN NULL
      ELSE nextval('coxswain.log_position'::regclass)
    END AS position
    FROM jsonb_to_recordset(p_items) AS q(i integer, n double precision, c integer, u integer, t boolean)
    ORDER BY q.i
  ) g;

  IF v_rows > 0 THEN
    -- What was checked under the locks is written as checked; anything else (a writer beside our functions) undoes the group.
    IF v_creates > 0 THEN
      INSERT INTO records (project, kind, id, version, born, state, sort_key, group_key, linked)
      SELECT w.p, w.k, w.d, w.v, v_positions[w.i + 1], w.s::jsonb, w.x, w.y, w.l
      FROM unnest(p_jobs, p_projects, p_kinds, p_ids, p_expected, p_versions, p_sort, p_group, p_linked, v_states)
        AS w(i, p, k, d, e, v, x, y, l, s)
      WHERE w.e = 0 AND w.v IS NOT NULL AND v_positions[w.i + 1] IS NOT NULL
      ON CONFLICT DO NOTHING;
      GET DIAGNOSTICS v_written = ROW_COUNT;
      IF v_written <> v_creates THEN
        RAISE EXCEPTION 'a record appeared beside the locks' USING ERRCODE = '40001';
      END IF;
    END IF;
    IF v_updates > 0 THEN
      UPDATE records r
      SET version = w.v, state = w.s::jsonb, sort_key = w.x, group_key = w.y, linked = w.l
      FROM unnest(p_jobs, p_projects, p_kinds, p_ids, p_expected, p_versions, p_sort, p_group, p_linked, v_states)
        AS w(i, p, k, d, e, v, x, y, l, s)
      WHERE w.e > 0 AND w.v IS NOT NULL AND v_positions[w.i + 1] IS NOT NULL
        AND r.project = w.p AND r.kind = w.k AND r.id = w.d AND r.version = w.e;
      GET DIAGNOSTICS v_written = ROW_COUNT;
      IF v_written <> v_updates THEN
        RAISE EXCEPTION 'a record changed beside the locks' USING ERRCODE = '40001';
      END IF;
    END IF;
    IF v_linked THEN
      DELETE FROM links k USING unnest(p_jobs, p_projects, p_kinds, p_ids, p_expected, p_versions) AS w(i, p, k, d, e, v)
      WHERE w.e > 0 AND w.v IS NOT NULL AND v_positions[w.i + 1] IS NOT NULL AND k.project = w.p AND k.kind = w.k AND k.id = w.d;
    END IF;
    IF p_links IS NOT NULL THEN
      INSERT INTO links (project, kind, link, born, id)
      SELECT DISTINCT w.p, w.k, w.l, coalesce(w.b, v_positions[w.i + 1]), w.d
      FROM json_to_recordset(p_links) AS w(i integer, p text, k text, d text, b bigint, l text)
      WHERE v_positions[w.i + 1] IS NOT NULL;
    END IF;
    INSERT INTO log (position, project, schema, at_ms, agent_id, agent_type, session_id, sequence, operation, operation_id,
      parameters, result, duration_ms, events)
    SELECT v_positions[w.i + 1], w.project, w.schema, w.at_ms, w.agent_id, w.agent_type, w.session_id, w.sequence,
      w.operation, w.operation_id, w.parameters::json, w.result::json, w.duration_ms, w.events::json
    FROM ROWS FROM (
      json_to_recordset(p_rows) AS (i integer, project text, schema integer, at_ms double precision, agent_id text,
        agent_type text, session_id text, sequence bigint, operation text, operation_id text, duration_ms double precision),
      unnest(string_to_array(p_parameters, E'\n')), unnest(string_to_array(p_results, E'\n')),
      unnest(string_to_array(p_events, E'\n'))
    ) AS w(i, project, schema, at_ms, agent_id, agent_type, session_id, sequence, operation, operation_id, duration_ms,
      parameters, result, events)
    WHERE v_positions[w.i + 1] IS NOT NULL;
    IF v_named THEN
      INSERT INTO operations AS o (project, agent_id, operation_id, input_digest, position, at_ms)
      SELECT q.p, q.a, q.o, q.g, v_positions[q.i + 1], v_now
      FROM jsonb_to_recordset(p_items) AS q(i integer, p text, a text, o text, g text, m boolean)
      WHERE q.m AND v_positions[q.i + 1] IS NOT NULL
      ON CONFLICT (project, agent_id, operation_id) DO UPDATE
      SET input_digest = excluded.input_digest, position = excluded.position, at_ms = excluded.at_ms;
    END IF;
  END IF;

  -- Takes last: they wait for nothing, so a transaction that waits for a row they looked at is not waited for in turn.
  IF p_takes IS NOT NULL THEN
    v_takes := p_takes;
    IF v_seen IS NOT NULL OR EXISTS (SELECT FROM jsonb_to_recordset(p_takes) AS t(n double precision) WHERE v_now >= t.n) THEN
      v_takes := (SELECT jsonb_agg(e) FROM jsonb_array_elements(p_takes) AS e
        WHERE v_now < (e -> 'n')::double precision AND (v_seen IS NULL OR (e -> 'i')::integer <> ALL (v_seen)));
    END IF;
    v_taken := coxswain.take_group(v_takes, v_now);
  END IF;
  IF p_notes IS NOT NULL THEN
    PERFORM write_notes(p_notes);
  END IF;
  RETURN concat('{"now":', v_now, ',"positions":', coalesce(to_json(v_positions)::text, 'null'),
    ',"seen":', coalesce(v_recalled::text, 'null'), ',"resent":', coalesce(v_resent::text, 'null'),
    ',"takes":', coalesce(v_taken, 'null'), '}');
END $$;

-- The same with the entities as JSON, for processes that know only this one and for the calls through PostgREST.
--   touches  {i, p, k, d, v, w}: entity, the version it must have (0: absent), whether it is written
CREATE FUNCTION coxswain.commit_group(
  p_epoch integer, p_items jsonb, p_touches jsonb, p_creates jsonb, p_updates jsonb,
  p_links json, p_rows json, p_takes jsonb, p_notes json
) RETURNS json LANGUAGE sql VOLATILE
SET search_path = pg_catalog, coxswain, pg_temp
AS $$
  WITH entities AS MATERIALIZED (
    SELECT w.i, w.p, w.k, w.d, coalesce(w.e, 0) AS e, w.v, w.x, w.y, coalesce(w.l, false) AS l, w.s
    FROM jsonb_to_recordset(coalesce(p_creates, '[]') || coalesce(p_updates, '[]'))
      AS w(i integer, p text, k text, d text, v bigint, e bigint, s jsonb, x text, y text, l boolean)
    UNION ALL
    SELECT t.i, t.p, t.k, t.d, t.v, NULL, NULL, NULL, false, NULL
    FROM jsonb_to_recordset(p_touches) AS t(i integer, p text, k text, d text, v bigint, w boolean) WHERE NOT t.w
  ), arrays AS (
    SELECT array_agg(e.i) AS jobs, array_agg(e.p) AS projects, array_agg(e.k) AS kinds, array_agg(e.d) AS ids,
      array_agg(e.e) AS expected, array_agg(e.v) AS versions, array_agg(e.x) AS sort, array_agg(e.y) AS groups,
      array_agg(e.l) AS linked, string_agg(e.s::text, E'\n') AS states
    FROM (SELECT * FROM entities ORDER BY v IS NULL) e
  ), texts AS (
    SELECT string_agg(replace((r -> 'parameters')::text, E'\n', ' '), E'\n') AS parameters,
      string_agg(replace((r -> 'result')::text, E'\n', ' '), E'\n') AS results,
      string_agg(replace((r -> 'events')::text, E'\n', ' '), E'\n') AS events
    FROM json_array_elements(p_rows) AS r
  )
  SELECT write_group(p_epoch, p_items, a.jobs, a.projects, a.kinds, a.ids, a.expected, a.versions, a.sort, a.groups, a.linked,
    a.states, p_links, p_rows, t.parameters, t.results, t.events, p_takes, p_notes)::json
  FROM arrays a, texts t;
$$;

-- Audit rows of reads and refusals on their own: soon on disk, but no caller waits for it.
CREATE FUNCTION coxswain.add_notes(p_epoch integer, p_notes json) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, coxswain, pg_temp
AS $$
BEGIN
  IF (SELECT epoch FROM meta) > p_epoch THEN
    RAISE EXCEPTION 'a newer Coxswain has raised the epoch of this store past %', p_epoch USING ERRCODE = 'COX01';
  END IF;
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM pg_advisory_xact_lock_shared(position_floor());
  PERFORM write_notes(p_notes);
END $$;

CREATE FUNCTION coxswain.write_notes(p_notes json) RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  INSERT INTO coxswain.log (position, project, schema, at_ms, agent_id, agent_type, session_id, sequence, operation,
    operation_id, parameters, result, duration_ms, events)
  SELECT nextval('coxswain.log_position'::regclass), w.project, w.schema, w.at_ms, w.agent_id, w.agent_type, w.session_id,
    w.sequence, w.operation, w.operation_id, w.parameters, w.result, w.duration_ms, w.events
  FROM json_to_recordset(p_notes) AS w(project text, schema integer, at_ms double precision, agent_id text,
    agent_type text, session_id text, sequence bigint, operation text, operation_id text, parameters json, result json,
    duration_ms double precision, events json);
END $$;

-- A hint for the watchers, outside any commit: NOTIFY inside it costs three quarters of the appends.
CREATE FUNCTION coxswain.hint(p_projects text[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, coxswain, pg_temp
AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM pg_notify('coxswain', p) FROM unnest(p_projects) AS p;
END $$;

CREATE FUNCTION coxswain.prune_operations(p_limit integer) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, coxswain, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
  gone bigint;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  DELETE FROM operations WHERE ctid = ANY (ARRAY(
    SELECT o.ctid FROM operations o WHERE o.at_ms < now_ms() - 86400000
    ORDER BY o.at_ms LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $$;

-- 5. Handing out work: get_work as one step for all callers of a group, the second implementation of get-work.ts,
-- which is its oracle in the tests. Called by write_group, which holds the operation ids' locks, has announced positions and has
-- taken the time. It never waits: a row or an entity that another transaction is changing is passed over. What each take comes
-- to is put together as text all the way: as JSON it was read and copied at each of four steps.
--   takes    {i, p, o, g, agent_id, agent_type, session_id, types, count, lease_ms, settled, and the fields of a log row}
--   answers  {i, position, answer} | {i, due: the first due record} | {i, none, ready: whether something was passed over}

CREATE FUNCTION coxswain.take_group(p_takes jsonb, p_now_ms bigint) RETURNS text LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_queue record;
  v_results text[] := '{}';
BEGIN
  FOR v_queue IN
    SELECT e ->> 'p' AS project, e -> 'types' AS types, jsonb_agg(e ORDER BY (e -> 'i')::integer) AS takes
    FROM jsonb_array_elements(p_takes) AS e
    GROUP BY e ->> 'p', e -> 'types' ORDER BY min((e -> 'i')::integer)
  LOOP
    v_results := v_results || coxswain.take_from(v_queue.project,
      CASE WHEN v_queue.types IS NOT NULL THEN ARRAY(SELECT DISTINCT jsonb_array_elements_text(v_queue.types)) END,
      v_queue.takes, p_now_ms);
  END LOOP;
  RETURN concat('[', array_to_string(v_results, ','), ']');
END $$;

-- The takes of one queue: all of a project, or some types of it. The first to come chooses first; what is handed out is then
-- written in one go. What comes of each, with commas between.
CREATE FUNCTION coxswain.take_from(p_project text, p_types text[], p_takes jsonb, p_now_ms bigint) RETURNS text
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_due json := coxswain.first_due(p_project, p_now_ms);
  v_total integer;
  v_take record;
  v_ids text[];
  v_files jsonb[];
  -- All of them can be had by every agent: no need to look at each.
  v_plain boolean;
  v_wide boolean := false;
  v_got text[];
  -- What is handed out, and to which take.
  v_taken text[] := '{}';
  v_takers integer[] := '{}';
  v_none integer[] := '{}';
  v_ready boolean;
  v_results text[] := '{}';
BEGIN
  -- Which agent may have what before the agents in line is left to the pure decision, taken when something is ready.
  IF EXISTS (SELECT FROM coxswain.records r
    WHERE r.project = p_project AND r.kind = 'work_line' AND r.sort_key >= 'waiting/') THEN
    v_ready := coxswain.any_ready(p_project, p_types);
    RETURN (
      SELECT string_agg((CASE WHEN v_due IS NOT NULL AND NOT t.settled THEN json_build_object('i', t.i, 'due', v_due)
        ELSE json_build_object('i', t.i, 'none', true, 'ready', v_ready) END)::text, ',')
      FROM jsonb_to_recordset(p_takes) AS t(i integer, settled boolean));
  END IF;
  SELECT sum(t.count) FILTER (WHERE t.settled OR v_due IS NULL) INTO v_total
  FROM jsonb_to_recordset(p_takes) AS t(count integer, settled boolean);
  SELECT array_agg(c.id), array_agg(c.files),
    p_types IS NULL AND bool_and(c.files = '[]' AND coxswain.try_lock(coxswain.lock_key(p_project, 'task', c.id)))
  INTO v_ids, v_files, v_plain FROM coxswain.candidates(p_project, p_types, v_total) c;

  FOR v_take IN
    SELECT t.i, t.agent_id, t.count, t.settled
    FROM jsonb_to_recordset(p_takes) AS t(i integer, agent_id text, count integer, settled boolean)
  LOOP
    IF v_due IS NOT NULL AND NOT v_take.settled THEN
      v_results := v_results || json_build_object('i', v_take.i, 'due', v_due)::text;
      CONTINUE;
    END IF;
    IF v_plain THEN
      v_got := v_ids[cardinality(v_taken) + 1 : cardinality(v_taken) + v_take.count];
    ELSE
      v_got := coxswain.choose(p_project, p_types, v_ids, v_files, v_taken, v_take.count, v_take.agent_id, p_now_ms, v_wide);
      IF v_got IS NULL THEN
        -- The heads are enough nearly always; more are looked at only when one of them could not be handed out.
        v_wide := true;
        SELECT array_agg(c.id), array_agg(c.files) INTO v_ids, v_files
        FROM coxswain.candidates(p_project, p_types, v_total + 32) c;
        v_got := coxswain.choose(p_project, p_types, v_ids, v_files, v_taken, v_take.count, v_take.agent_id, p_now_ms, true);
      END IF;
    END IF;
    IF cardinality(v_got) > 0 THEN
      v_taken := v_taken || v_got;
      v_takers := v_takers || array_fill(v_take.i, ARRAY[cardinality(v_got)]);
    ELSE
      v_none := v_none || v_take.i;
    END IF;
  END LOOP;

  IF cardinality(v_taken) > 0 THEN
    v_results := v_results || coxswain.claim(p_project, p_takes, v_taken, v_takers, p_now_ms);
  END IF;
  IF cardinality(v_none) > 0 THEN
    -- Once for all of them: it walks over what is left of all tasks that were ready since the last vacuum.
    v_ready := coxswain.any_ready(p_project, p_types);
    v_results := v_results || ARRAY(
      SELECT json_build_object('i', n, 'none', true, 'ready', v_ready)::text FROM unnest(v_none) AS n);
  END IF;
  RETURN array_to_string(v_results, ',');
END $$;

-- The first task that time or a finished parent has changed by now, as [id, version, born, state].
CREATE FUNCTION coxswain.first_due(p_project text, p_now_ms bigint) RETURNS json LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_first record;
  v_due_ms double precision;
BEGIN
  SELECT r.id, r.version, r.born, r.state, r.sort_key INTO v_first FROM coxswain.records r
  -- Up to now: behind it stand the claims under way, and what is left of those that ended until it is vacuumed.
  WHERE r.project = p_project AND r.kind = 'task' AND r.sort_key >= 'due/' AND r.sort_key <= 'due/' || lpad(p_now_ms::text, 15, '0')
  ORDER BY r.sort_key, r.born, r.id LIMIT 1;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  -- The key holds whole milliseconds; a lease may end within one.
  v_due_ms := coalesce(CASE v_first.state ->> 'status'
    WHEN 'delayed' THEN v_first.state ->> 'not_before_ms'
    WHEN 'claimed' THEN v_first.state -> 'lease' ->> 'expires_at_ms'
    -- An ended task that has its end still to pass on: at once, whatever the clock says.
    ELSE '0'
  END, '0');
  IF v_due_ms > p_now_ms THEN
    RETURN NULL;
  END IF;
  RETURN json_build_array(v_first.id, v_first.version, v_first.born, v_first.state);
END $$;

CREATE FUNCTION coxswain.any_ready(p_project text, p_types text[]) RETURNS boolean LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  IF p_types IS NULL THEN
    RETURN EXISTS (SELECT FROM coxswain.records r WHERE r.project = p_project AND r.kind = 'task'
      AND r.sort_key >= 'ready/' AND r.sort_key < 'ready0');
  END IF;
  RETURN EXISTS (SELECT FROM unnest(p_types) AS y CROSS JOIN LATERAL (
    SELECT FROM coxswain.records r WHERE r.project = p_project AND r.kind = 'task'
      AND r.group_key >= 'ready/' || y || '/' AND r.group_key < 'ready/' || y || '0' LIMIT 1) h);
END $$;

-- The first ready tasks, of each type, in order. Several types are merged without locking first, or every take would hold
-- the heads of types it then does not take; a take that wants one asks still_ready.
CREATE FUNCTION coxswain.candidates(p_project text, p_types text[], p_limit integer)
RETURNS TABLE (id text, files jsonb) LANGUAGE plpgsql VOLATILE ROWS 50
AS $$
#variable_conflict use_column
BEGIN
  IF p_types IS NULL THEN
    RETURN QUERY SELECT r.id::text, r.state -> 'files' FROM coxswain.records r
    WHERE r.project = p_project AND r.kind = 'task' AND r.sort_key >= 'ready/' AND r.sort_key < 'ready0'
    ORDER BY r.sort_key, r.born, r.id LIMIT p_limit FOR UPDATE SKIP LOCKED;
  ELSE
    RETURN QUERY SELECT h.id::text, h.files
    FROM unnest(p_types) AS y CROSS JOIN LATERAL (
      SELECT r.id, r.born, r.state -> 'files' AS files, right(r.group_key, 2) AS urgency FROM coxswain.records r
      WHERE r.project = p_project AND r.kind = 'task'
        AND r.group_key >= 'ready/' || y || '/' AND r.group_key < 'ready/' || y || '0'
      ORDER BY r.group_key, r.born, r.id LIMIT p_limit
    ) h ORDER BY h.urgency, h.born, h.id;
  END IF;
END $$;

-- The first tasks of the list that this agent can have and no other take has been given. NULL (unless p_final): one of the heads
-- can't be had, and behind it may stand one of its type that comes before the other types' heads. None at all when files
-- have to be compared with folders: that is left to the pure decision, which the caller takes when something is ready. What that
-- goes by besides (the line, a profile's counts, a team's) has to fit into the commit too, hence the bound on tasks and files.
CREATE FUNCTION coxswain.choose(
  p_project text, p_types text[], p_ids text[], p_files jsonb[], p_taken text[], p_count integer, p_agent_id text,
  p_now_ms bigint, p_final boolean
) RETURNS text[] LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_got text[] := '{}';
  v_candidates integer := 0;
  v_passed boolean := false;
  v_asked boolean := false;
  -- See entities_per_take.
  v_budget integer := 80 - p_count;
BEGIN
  FOR at IN 1 .. coalesce(cardinality(p_ids), 0) LOOP
    CONTINUE WHEN p_ids[at] = ANY (p_taken);
    v_budget := v_budget - jsonb_array_length(p_files[at]);
    EXIT WHEN v_budget < 0;
    v_candidates := v_candidates + 1;
    IF NOT v_asked AND p_files[at] <> '[]' THEN
      v_asked := true;
      IF NOT coxswain.no_folder_is_locked(p_project) THEN
        RETURN '{}';
      END IF;
    END IF;
    IF coxswain.try_lock(coxswain.lock_key(p_project, 'task', p_ids[at]))
      AND (p_files[at] = '[]' OR coxswain.files_are_free(p_project, p_files[at], p_agent_id, p_now_ms))
      AND (p_types IS NULL OR coxswain.still_ready(p_project, p_ids[at]))
    THEN
      v_got := v_got || p_ids[at];
      EXIT WHEN cardinality(v_got) = p_count;
    ELSIF v_candidates <= p_count THEN
      v_passed := true;
    END IF;
  END LOOP;
  RETURN CASE WHEN p_final OR NOT v_passed THEN v_got END;
END $$;

CREATE FUNCTION coxswain.still_ready(p_project text, p_id text) RETURNS boolean LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  PERFORM FROM coxswain.records r
  WHERE r.project = p_project AND r.kind = 'task' AND r.id = p_id AND r.sort_key >= 'ready/' AND r.sort_key < 'ready0'
  FOR UPDATE SKIP LOCKED;
  RETURN FOUND;
END $$;

-- While no folder is locked or waited for, a file's own record says all. Held shared, as an expectation is: no folder is
-- locked in between.
CREATE FUNCTION coxswain.no_folder_is_locked(p_project text) RETURNS boolean LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  IF NOT coxswain.try_lock_shared(coxswain.lock_key(p_project, 'lock_folders', 'all')) THEN
    RETURN false;
  END IF;
  RETURN NOT EXISTS (
    SELECT FROM coxswain.records r
    WHERE r.project = p_project AND r.kind = 'lock_folders' AND r.id = 'all' AND r.state -> 'folders' <> '[]');
END $$;

-- The locks' entities are held shared before they are read, as an expectation is: no file is locked in between.
CREATE FUNCTION coxswain.files_are_free(p_project text, p_files jsonb, p_agent_id text, p_now_ms bigint)
RETURNS boolean LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_paths text[] := ARRAY(SELECT jsonb_array_elements_text(p_files));
BEGIN
  IF NOT (SELECT bool_and(coxswain.try_lock_shared(coxswain.lock_key(p_project, 'lock', f))) FROM unnest(v_paths) AS f) THEN
    RETURN false;
  END IF;
  RETURN NOT EXISTS (
    SELECT FROM coxswain.records r CROSS JOIN LATERAL jsonb_array_elements(coxswain.leases_of(r.state)) AS l(lease)
    WHERE r.project = p_project AND r.kind = 'lock' AND r.id = ANY (v_paths)
      AND (l.lease ->> 'expires_at_ms')::double precision > p_now_ms
      AND l.lease ->> 'agent_id' <> p_agent_id);
END $$;

-- One exclusive lease is `lease`; readers, and a holder that others wait for, are in `leases`. To a task that changes the
-- file all of them are the same.
CREATE FUNCTION coxswain.leases_of(p_state jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_state ? 'lease'
  THEN jsonb_build_array(p_state -> 'lease' || jsonb_strip_nulls(jsonb_build_object('reason', p_state -> 'reason')))
  ELSE coalesce(p_state -> 'leases', '[]') END;

-- grant, evolve of task_claimed, index, the answer and the log row: in the pure code these are lease.ts, task.ts, get-work.ts and
-- log.ts. Written for many at once; a token is always the version that comes with it.
CREATE FUNCTION coxswain.claim(p_project text, p_takes jsonb, p_ids text[], p_takers integer[], p_now_ms bigint)
RETURNS text LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  -- Where each stands among the ids. To search the array for each of 350 tasks, four times, took half of it all.
  v_places jsonb := (SELECT jsonb_object_agg(u.id, u.place) FROM unnest(p_ids) WITH ORDINALITY AS u(id, place));
  -- By the takes' numbers: what a claim changes in a task, its event up to the token, when it ends, and the due key of that.
  v_changes jsonb[];
  v_leases text[];
  v_times text[];
  v_keys text[];
  v_take record;
  v_results text;
BEGIN
  FOR v_take IN
    SELECT t.i, p_now_ms::double precision + t.lease_ms AS expires_ms, t.agent_id, t.agent_type, t.session_id
    FROM jsonb_to_recordset(p_takes)
      AS t(i integer, agent_id text, agent_type text, session_id text, lease_ms double precision)
  LOOP
    v_changes[v_take.i] := jsonb_build_object('status', 'claimed', 'attempt_count', 1, 'claimed_at_ms', p_now_ms,
      'lease', jsonb_build_object('agent_id', v_take.agent_id, 'agent_type', v_take.agent_type,
        'session_id', v_take.session_id, 'token', p_now_ms, 'granted_at_ms', p_now_ms, 'expires_at_ms', v_take.expires_ms));
    v_leases[v_take.i] := ',"type":"task_claimed","data":{"lease":' || rtrim((v_changes[v_take.i] -> 'lease' #- '{token}')::text, '}')
      || ', "token": ';
    v_keys[v_take.i] := 'due/' || lpad(floor(v_take.expires_ms)::bigint::text, 15, '0');
    v_times[v_take.i] := ',"expires_at":"' || coxswain.iso_time(v_take.expires_ms) || '","fencing_token":';
  END LOOP;

  WITH claimed AS (
    UPDATE coxswain.records r SET
      version = greatest(r.version + 1, p_now_ms),
      -- A first attempt on a task that is older than this millisecond, as nearly all are, needs nothing of its own.
      state = CASE WHEN r.version < p_now_ms AND r.state -> 'attempt_count' = '0'
        THEN r.state || v_changes[p_takers[(v_places -> r.id)::integer]]
        ELSE r.state || jsonb_set(
          v_changes[p_takers[(v_places -> r.id)::integer]]
            || jsonb_build_object('attempt_count', (r.state -> 'attempt_count')::integer + 1),
          '{lease,token}', to_jsonb(greatest(r.version + 1, p_now_ms)))
      END,
      sort_key = v_keys[p_takers[(v_places -> r.id)::integer]],
      group_key = NULL
    -- Not a join with the ids: planned over an empty table, that walked all tasks.
    WHERE r.project = p_project AND r.kind = 'task' AND r.id = ANY (p_ids)
    RETURNING (v_places -> r.id)::integer AS place, r.id, r.version, r.born, r.state
  ), answers AS MATERIALIZED (
    SELECT p_takers[c.place] AS i, nextval('coxswain.log_position'::regclass) AS position,
      '[' || string_agg('{"kind":"task","id":' || c.name || v_leases[p_takers[c.place]] || c.version || '}}}',
        ',' ORDER BY c.place) || ']' AS events,
      '{"success":true,"tasks":[' || string_agg(
        '{"task_id":' || c.name || ',"task_type":' || (c.state -> 'task_type')::text
          || ',"task_description":' || (c.state -> 'description')::text
          || coalesce(',"input_data":' || (c.state -> 'input_data')::text, '')
          || ',"priority":' || (c.state -> 'priority')::text
          || CASE WHEN c.state -> 'files' <> '[]' THEN ',"files":' || (c.state -> 'files')::text ELSE '' END
          || CASE WHEN c.state -> 'failed_dependencies' <> '[]'
            THEN ',"failed_dependencies":' || (c.state -> 'failed_dependencies')::text ELSE '' END
          || ',"attempt":' || (c.state -> 'attempt_count')::text || v_times[p_takers[c.place]] || c.version || '}',
        ',' ORDER BY c.place) || ']}' AS answer,
      string_agg('[' || c.name || ',' || c.version || ',' || c.born || ',' || c.state::text || ']',
        ',' ORDER BY c.place) AS records
    FROM (SELECT *, to_json(id)::text AS name FROM claimed) c GROUP BY p_takers[c.place] ORDER BY p_takers[c.place]
  ), logged AS (
    INSERT INTO coxswain.log (position, project, schema, at_ms, agent_id, agent_type, session_id, sequence, operation,
      operation_id, parameters, result, duration_ms, events)
    SELECT a.position, p_project, t.schema, p_now_ms, t.agent_id, t.agent_type, t.session_id, t.sequence, t.operation, t.o,
      t.parameters, a.answer::json, t.duration_ms, a.events::json
    FROM answers a JOIN jsonb_to_recordset(p_takes) AS t(i integer, o text, agent_id text, agent_type text, session_id text,
      schema integer, sequence bigint, operation text, parameters json, duration_ms double precision) ON t.i = a.i
  ), kept AS (
    INSERT INTO coxswain.operations AS o (project, agent_id, operation_id, input_digest, position, at_ms)
    SELECT p_project, t.agent_id, t.o, t.g, a.position, p_now_ms
    FROM answers a JOIN jsonb_to_recordset(p_takes) AS t(i integer, o text, g text, m boolean, agent_id text) ON t.i = a.i
    WHERE t.m
    ON CONFLICT (project, agent_id, operation_id) DO UPDATE
    SET input_digest = excluded.input_digest, position = excluded.position, at_ms = excluded.at_ms
  )
  SELECT string_agg(concat('{"i":', a.i, ',"position":', a.position, ',"answer":', a.answer, ',"records":[', a.records, ']}'), ',')
  INTO v_results FROM answers a;
  RETURN v_results;
END $$;

-- 6. The audit trail: searched, sealed behind the log, shortened by retention and by nothing else. No commit touches any of it.

-- p_down: those before the number, the newest first; otherwise those after it.
CREATE FUNCTION coxswain.read_seals(p_project text, p_number bigint, p_down boolean, p_limit integer) RETURNS json
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, coxswain, pg_temp
AS $$
DECLARE
  v_seals json;
BEGIN
  IF p_down THEN
    SELECT json_agg(s) INTO v_seals FROM (
      SELECT s.project, s.number, s.previous, s.after, s.last, s.rows, s.quiet_rows, s.event_rows, s.oldest_at_ms,
        s.newest_at_ms, s.sealed_at_ms, s.words, s.hash, s.pruned_by, s.archived_by
      FROM coxswain.seals s WHERE s.project = p_project AND s.number < p_number ORDER BY s.number DESC LIMIT p_limit
    ) s;
  ELSE
    SELECT json_agg(s) INTO v_seals FROM (
      SELECT s.project, s.number, s.previous, s.after, s.last, s.rows, s.quiet_rows, s.event_rows, s.oldest_at_ms,
        s.newest_at_ms, s.sealed_at_ms, s.words, s.hash, s.pruned_by, s.archived_by
      FROM coxswain.seals s WHERE s.project = p_project AND s.number > p_number ORDER BY s.number LIMIT p_limit
    ) s;
  END IF;
  RETURN coalesce(v_seals, '[]');
END $$;

CREATE FUNCTION coxswain.read_leaves(p_project text, p_number bigint) RETURNS text LANGUAGE sql STABLE
SET search_path = pg_catalog, coxswain, pg_temp
AS $$
  SELECT encode(s.leaves, 'hex') FROM coxswain.seals s WHERE s.project = p_project AND s.number = p_number
$$;

-- Only behind the seal it was made for; of two at once one waits for the other at the key and is then too late.
CREATE FUNCTION coxswain.add_seal(p_seal json, p_leaves text) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, coxswain, pg_temp
AS $$
DECLARE
  v_added bigint;
BEGIN
  INSERT INTO coxswain.seals (project, number, previous, after, last, rows, quiet_rows, event_rows, oldest_at_ms,
    newest_at_ms, sealed_at_ms, words, hash, leaves)
  SELECT s.project, s.number, s.previous, s.after, s.last, s.rows, s.quiet_rows, s.event_rows, s.oldest_at_ms,
    s.newest_at_ms, s.sealed_at_ms, s.words, s.hash, decode(p_leaves, 'hex')
  FROM json_to_record(p_seal) AS s(project text, number bigint, previous text, after bigint, last bigint, rows integer,
    quiet_rows integer, event_rows integer, oldest_at_ms double precision, newest_at_ms double precision,
    sealed_at_ms double precision, words text, hash text)
  WHERE s.number = 1 OR EXISTS (
    SELECT FROM coxswain.seals b WHERE b.project = s.project AND b.number = s.number - 1 AND b.hash = s.previous)
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_added = ROW_COUNT;
  RETURN v_added = 1;
END $$;

-- Newest first, within a stretch of the log: looks at p_rows rows at most, answers p_limit at most, and says how far it came.
CREATE FUNCTION coxswain.scan_log(p_project text, p_filter json, p_above bigint, p_below bigint, p_rows integer, p_limit integer)
RETURNS json LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, coxswain, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
  v_below bigint := least(p_below, safe_position() + 1);
  v_agent text := p_filter ->> 'agent_id';
  v_operation text := p_filter ->> 'operation';
  v_since double precision := p_filter ->> 'since_ms';
  v_until double precision := p_filter ->> 'until_ms';
  v_result text := p_filter ->> 'result';
  v_reached bigint;
  v_entries json;
BEGIN
  SELECT l.position - 1 INTO v_reached FROM coxswain.log l
  WHERE l.project = p_project AND l.position > p_above AND l.position < v_below
  ORDER BY l.position DESC OFFSET p_rows - 1 LIMIT 1;
  v_reached := coalesce(v_reached, p_above);
  SELECT json_agg(e) INTO v_entries FROM (
    SELECT l.position, l.schema, l.project, l.at_ms, l.agent_id, l.agent_type, l.session_id, l.sequence, l.operation,
      l.operation_id, l.parameters, l.result, l.duration_ms, l.events
    FROM coxswain.log l
    WHERE l.project = p_project AND l.position > v_reached AND l.position < v_below
      AND (v_agent IS NULL OR l.agent_id = v_agent)
      AND (v_operation IS NULL OR l.operation = v_operation)
      AND (v_since IS NULL OR l.at_ms >= v_since)
      AND (v_until IS NULL OR l.at_ms <= v_until)
      AND CASE
        WHEN v_result IS NULL THEN true
        WHEN v_result = 'success' THEN l.result ->> 'success' IS DISTINCT FROM 'false'
        WHEN l.result ->> 'success' IS DISTINCT FROM 'false' THEN false
        WHEN v_result = 'refused' THEN true
        ELSE v_result IN (l.result ->> 'error', l.result ->> 'action', l.result ->> 'reason') IS TRUE
      END
    ORDER BY l.position DESC LIMIT p_limit
  ) e;
  RETURN json_build_object('entries', v_entries, 'reached', v_reached);
END $$;

CREATE FUNCTION coxswain.read_rows(p_project text, p_after bigint, p_last bigint) RETURNS json LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, coxswain, pg_temp
AS $$
DECLARE
  v_rows json;
BEGIN
  SELECT json_agg(e) INTO v_rows FROM (
    SELECT l.position, l.schema, l.project, l.at_ms, l.agent_id, l.agent_type, l.session_id, l.sequence, l.operation,
      l.operation_id, l.parameters, l.result, l.duration_ms, l.events
    FROM coxswain.log l WHERE l.project = p_project AND l.position > p_after AND l.position <= p_last
    ORDER BY l.position
  ) e;
  RETURN coalesce(v_rows, '[]');
END $$;

-- Takes rows out of one sealed segment, and puts the record of it into the log, in one commit. Checked here, whatever the
-- caller believes: two days old at least (operation ids are remembered for one), of one kind, and of that segment.
CREATE FUNCTION coxswain.remove_rows(p_project text, p_number bigint, p_mark text, p_positions bigint[], p_row json)
RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, coxswain, pg_temp
AS $$
DECLARE
  v_seal coxswain.seals;
  v_recorded bigint;
  v_gone bigint;
  v_operation text := CASE p_mark WHEN 'pruned_by' THEN 'prune_audit' WHEN 'archived_by' THEN 'archive_audit' END;
BEGIN
  SELECT * INTO v_seal FROM coxswain.seals s WHERE s.project = p_project AND s.number = p_number FOR UPDATE;
  IF v_seal IS NULL OR v_operation IS NULL OR p_row ->> 'project' <> p_project OR p_row ->> 'operation' <> v_operation THEN
    RAISE EXCEPTION 'no such segment, or no record of a removal' USING ERRCODE = 'COX02';
  END IF;
  IF (p_mark = 'pruned_by' AND v_seal.pruned_by IS NOT NULL) OR (p_mark = 'archived_by' AND v_seal.archived_by IS NOT NULL) THEN
    RETURN false;
  END IF;
  PERFORM set_config('coxswain.retention', 'on', true);
  DELETE FROM coxswain.log l
  WHERE l.project = p_project AND l.position = ANY (p_positions) AND l.position > v_seal.after AND l.position <= v_seal.last
    AND l.at_ms < coxswain.now_ms() - 2 * 86400000::bigint
    AND (json_array_length(l.events) > 0) = (p_mark = 'archived_by')
    AND l.operation NOT IN ('prune_audit', 'archive_audit');
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  IF v_gone <> cardinality(p_positions) THEN
    RAISE EXCEPTION 'only % of % rows may be removed', v_gone, cardinality(p_positions) USING ERRCODE = 'COX02';
  END IF;
  PERFORM pg_advisory_xact_lock_shared(coxswain.position_floor());
  PERFORM coxswain.write_notes(json_build_array(p_row));
  v_recorded := currval('coxswain.log_position'::regclass);
  UPDATE coxswain.seals s
  SET pruned_by = CASE p_mark WHEN 'pruned_by' THEN v_recorded ELSE s.pruned_by END,
    archived_by = CASE p_mark WHEN 'archived_by' THEN v_recorded ELSE s.archived_by END
  WHERE s.project = p_project AND s.number = p_number;
  PERFORM set_config('coxswain.retention', 'off', true);
  RETURN true;
END $$;
-- Retention belongs to the operator of the store; no role of an agent gets it.
REVOKE EXECUTE ON FUNCTION coxswain.remove_rows(text, bigint, text, bigint[], json) FROM PUBLIC;

-- 7. Locks and work for callers without a Coxswain of their own: POST /rpc/acquire_lock through PostgREST, or a plain SELECT.
-- They act for the agent that the signed token names (claims project and agent_id; agent_type and session_id if it has them).
-- What they decide is what the pure deciders of the product decide, which are their oracle in the tests; what they can't judge
-- (folders, dependencies, standing in line) they say so and leave undecided. Every commit goes through commit_group.

-- What the token says. app_metadata is the issuer's; user_metadata is what the user wrote, and is never looked at.
CREATE FUNCTION coxswain.jwt_claim(p_name text) RETURNS text LANGUAGE sql STABLE
RETURN (
  SELECT coalesce(c.claims ->> p_name, c.claims -> 'app_metadata' ->> p_name)
  FROM (SELECT nullif(current_setting('request.jwt.claims', true), '')::jsonb AS claims) c
);

-- Whether a profile of more or less than the default can be the agent's: rules were made in the project, or one ships for the type.
CREATE FUNCTION coxswain.has_rules(p_project text, p_agent_type text) RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
RETURN EXISTS (SELECT FROM coxswain.records r WHERE r.project = p_project AND r.kind = 'rulebook' AND r.id = 'all')
  OR regexp_replace(lower(btrim(p_agent_type)), '[-[:space:]]+', '_', 'g')
    ~ '^(claude_code|claude_code_cli|strands_agent|reviewer)$|(^|_)(cloud|web|remote)(_|$)';

-- No control or format characters, no line separators: names and paths are shown on one line of every listing.
CREATE FUNCTION coxswain.is_printable(p_text text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_text !~ '[\u0001-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]';

-- Whether a path is its own normal form (path.ts): nothing here can follow a link or look at a disk, so any other
-- spelling is refused rather than locked beside the file it means.
CREATE FUNCTION coxswain.is_plain_path(p_path text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN octet_length(p_path) <= 900 AND coxswain.is_printable(p_path) AND p_path IS NFC NORMALIZED
  AND p_path !~ '^[\s\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]|[\s\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]$'
  AND CASE WHEN p_path ~ '^(api|db|event|flag|env|contract|feature):' THEN
    p_path ~ '^[a-z]+:[^\s\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]'
  ELSE
    -- No empty name, no dots, so neither absolute nor a folder; no glob, no backslash; no URI, drive or home.
    p_path !~ '(^|/)(\.\.?)?(/|$)' AND p_path !~ '[*?\\]' AND p_path !~* '(^|/)\.git(/|$)'
    AND p_path !~ '^[A-Za-z]:/' AND p_path !~ '^~(/|$)'
  END;

CREATE FUNCTION coxswain.api_call(p_operation text, p_operation_id text, p_parameters jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_agent text := coxswain.jwt_claim('agent_id');
  v_call jsonb := jsonb_build_object('project', coxswain.jwt_claim('project'), 'agent_id', v_agent,
    'agent_type', coalesce(coxswain.jwt_claim('agent_type'), 'postgrest'),
    'session_id', coalesce(coxswain.jwt_claim('session_id'), left('postgrest-' || v_agent, 128)));
  v_name text;
BEGIN
  FOREACH v_name IN ARRAY ARRAY['project', 'agent_id', 'agent_type', 'session_id'] LOOP
    -- The names of an identity: short, printable, and not the product's own.
    IF (v_call ->> v_name) IS NULL OR btrim(v_call ->> v_name) = '' OR length(v_call ->> v_name) > 128
      OR NOT coxswain.is_printable(v_call ->> v_name) OR v_name = 'agent_id' AND v_agent = 'coxswain'
    THEN
      RAISE EXCEPTION 'the token names no usable %', v_name USING ERRCODE = '42501',
        HINT = 'Sign it with the claims project and agent_id, at the top or in app_metadata.';
    END IF;
  END LOOP;
  -- Profiles, limits and trust are judged by the product alone: an agent that has any does not get past them here.
  IF coxswain.has_rules(v_call ->> 'project', v_call ->> 'agent_type') THEN
    RAISE EXCEPTION 'what agents of the type % may is not judged here', v_call ->> 'agent_type' USING ERRCODE = '42501',
      HINT = 'Use the HTTP API or MCP: they know the profiles of this project.';
  END IF;
  RETURN v_call || jsonb_build_object('operation', p_operation,
    -- Long texts are shortened as the product shortens them: their full form is in the event.
    'parameters', (SELECT coalesce(jsonb_object_agg(e.key, CASE
        WHEN jsonb_typeof(e.value) = 'string' AND length(e.value #>> '{}') > 300
        THEN to_jsonb(format('%s… (%s characters)', left(e.value #>> '{}', 300), length(e.value #>> '{}')))
        WHEN octet_length(e.value::text) > 2000 THEN to_jsonb('{…}'::text)
        ELSE e.value END), '{}')
      FROM jsonb_each(p_parameters) AS e WHERE e.value <> 'null'),
    'started', extract(epoch FROM clock_timestamp()),
    'named', p_operation_id IS NOT NULL,
    'operation_id', coalesce(p_operation_id, gen_random_uuid()::text),
    'digest', CASE WHEN p_operation_id IS NULL THEN '' ELSE
      left(encode(sha256(convert_to(p_operation || ' ' || p_parameters::text, 'UTF8')), 'hex'), 32) END);
END $$;

-- The catalogue of refusal.ts, as far as it is used here; a test compares the two.
CREATE FUNCTION coxswain.api_refusal(p_code text, p_message text, p_details jsonb DEFAULT '{}') RETURNS jsonb
LANGUAGE sql IMMUTABLE
RETURN jsonb_build_object('success', false,
  CASE p_code WHEN 'blocked' THEN 'action' WHEN 'no_tasks_available' THEN 'reason' ELSE 'error' END, p_code)
  || jsonb_strip_nulls(p_details)
  || jsonb_build_object('message', p_message, 'remedy', CASE p_code
    WHEN 'invalid_input' THEN 'Correct the named field and call again; nothing was changed.'
    WHEN 'path_invalid' THEN 'Give a path relative to the repository, such as src/app.ts.'
    WHEN 'operation_id_reused' THEN 'Use a new operation_id for a different request.'
    WHEN 'blocked' THEN 'Work on something else, or try again after expires_at; ask locked_by if it is urgent.'
    WHEN 'not_held' THEN 'Nothing to do: you do not hold it now. Acquire it again before you change the file.'
    WHEN 'not_holder' THEN 'Only the holder can do this. Wait until it is released or expires.'
    WHEN 'superseded' THEN 'Your grant is over and a newer one exists. Stop writing, acquire again, then re-read.'
    WHEN 'no_tasks_available' THEN 'Try again later, or submit work.'
    WHEN 'unknown_task' THEN 'Check the task id; submit_work returns it.'
    WHEN 'task_is_filed' THEN 'Change the file instead: `cox task start|done|error|freeze|retry`, or edit or move it; the queue follows.'
    WHEN 'lease_expired' THEN 'Your claim ran out and the task goes to another agent. Drop your result or get_work again.'
    WHEN 'database_unavailable' THEN 'Go on with what needs no coordination and try again in a few seconds.'
    -- Only here: every other door can decide it.
    ELSE 'Ask through a Coxswain server: MCP, HTTP or the command line.' END);

CREATE FUNCTION coxswain.api_invalid(p_field text, p_expected text) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN coxswain.api_refusal('invalid_input', p_field || ': expected ' || p_expected,
  jsonb_build_object('field', p_field, 'expected', p_expected));

CREATE FUNCTION coxswain.path_problem(p_path text) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN CASE WHEN coxswain.is_plain_path(p_path) IS NOT TRUE THEN coxswain.api_refusal('path_invalid',
  'Here a path is given as git spells it from the root of the repository, without ./, .., a glob or a slash at its end; or a '
  || 'logical key, such as api:users.', '{"field": "file_path"}') END;

CREATE FUNCTION coxswain.payload_problem(p_field text, p_value jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN CASE
  WHEN octet_length(p_value::text) > 200000 THEN coxswain.api_invalid(p_field, 'at most 200000 bytes of JSON')
  WHEN p_value::text LIKE '%"\_\_proto\_\_"%' OR jsonb_path_exists(p_value, '$.**{33}')
  THEN coxswain.api_invalid(p_field, 'plain JSON, up to 32 levels deep') END;

-- What all calls share about their input: NULL when there is nothing to complain about.
CREATE FUNCTION coxswain.input_problem(p_operation_id text, p_token bigint, p_minutes_field text, p_minutes double precision)
RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN CASE
  WHEN length(p_operation_id) NOT BETWEEN 1 AND 128 THEN coxswain.api_invalid('operation_id', '1 to 128 characters')
  WHEN p_token NOT BETWEEN 1 AND 9007199254740991 THEN coxswain.api_invalid('fencing_token', 'a token as it was answered')
  WHEN p_minutes NOT BETWEEN 0.02 AND 480 THEN coxswain.api_invalid(p_minutes_field, 'between 0.02 and 480 minutes') END;

CREATE FUNCTION coxswain.api_row(p_call jsonb, p_now_ms bigint, p_result jsonb, p_events jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE
-- The number in the session is 0: each call stands for itself, so nothing can show a gap. Schema: that of the events below.
RETURN jsonb_build_object('i', 0, 'project', p_call -> 'project', 'schema', 2, 'at_ms', p_now_ms,
  'agent_id', p_call -> 'agent_id', 'agent_type', p_call -> 'agent_type', 'session_id', p_call -> 'session_id', 'sequence', 0,
  'operation', p_call -> 'operation', 'operation_id', p_call -> 'operation_id', 'parameters', p_call -> 'parameters',
  'duration_ms', round((extract(epoch FROM clock_timestamp()) - (p_call ->> 'started')::numeric) * 1000, 3),
  'result', p_result, 'events', p_events);

-- A refusal has its row in the log, like every other.
CREATE FUNCTION coxswain.api_refuse(p_call jsonb, p_now_ms bigint, p_refusal jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(coxswain.position_floor());
  PERFORM coxswain.write_notes(json_build_array(coxswain.api_row(p_call, p_now_ms, p_refusal, '[]')));
  RETURN p_refusal;
END $$;

-- What was answered under a named operation id within a day.
CREATE FUNCTION coxswain.api_recall(p_call jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_seen record;
BEGIN
  IF NOT (p_call -> 'named')::boolean THEN
    RETURN NULL;
  END IF;
  SELECT o.input_digest, l.result INTO v_seen
  FROM coxswain.operations o JOIN coxswain.log l ON l.project = o.project AND l.position = o.position
  WHERE o.project = p_call ->> 'project' AND o.agent_id = p_call ->> 'agent_id'
    AND o.operation_id = p_call ->> 'operation_id' AND o.at_ms >= coxswain.now_ms() - 86400000;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  RETURN CASE WHEN v_seen.input_digest = p_call ->> 'digest' THEN v_seen.result::jsonb ELSE
    coxswain.api_refusal('operation_id_reused', format('operation_id %s was used before for a different request.',
      p_call ->> 'operation_id'), '{"field": "operation_id"}') END;
END $$;

-- One written record, what else was read, and the row: proven and committed like the product's own. NULL: something has changed.
-- The epoch is the one these functions were written for: past it they stop until a migration has looked at them again.
CREATE FUNCTION coxswain.api_commit(
  p_call jsonb, p_now_ms bigint, p_until_ms double precision, p_write jsonb, p_expects jsonb, p_events jsonb, p_answer jsonb
) RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_version bigint := coalesce((p_write ->> 'e')::bigint, 0);
  v_place jsonb := jsonb_build_object('i', 0, 'p', p_call -> 'project');
  v_write jsonb := jsonb_build_array(v_place || p_write || jsonb_build_object('v', greatest(v_version + 1, p_now_ms)));
  v_item jsonb := v_place || jsonb_build_object('a', p_call -> 'agent_id', 'o', p_call -> 'operation_id',
    'g', p_call -> 'digest', 'm', p_call -> 'named', 'n', coalesce(p_until_ms, 1e18),
    'c', (v_version = 0)::integer, 'u', (v_version > 0)::integer);
  v_touches jsonb := jsonb_build_array(v_place
    || jsonb_build_object('k', p_write -> 'k', 'd', p_write -> 'd', 'v', v_version, 'w', true));
  v_result json;
BEGIN
  SELECT v_touches || coalesce(jsonb_agg(v_place || e || '{"w": false}'), '[]') INTO v_touches
  FROM jsonb_array_elements(p_expects) AS e;
  v_result := coxswain.commit_group(2, jsonb_build_array(v_item), v_touches,
    CASE WHEN v_version = 0 THEN v_write END, CASE WHEN v_version > 0 THEN v_write END, NULL,
    json_build_array(coxswain.api_row(p_call, p_now_ms, p_answer, p_events)), NULL, NULL);
  IF v_result -> 'positions' ->> 0 IS NOT NULL THEN
    RETURN p_answer;
  END IF;
  RETURN coxswain.api_recall(p_call);
END $$;

-- A place's leases and waiters as its state (stateOf in lock.ts), an entry without its null fields.
CREATE FUNCTION coxswain.lock_state(p_leases jsonb, p_waiters jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN CASE
  WHEN p_leases = '[]' AND p_waiters = '[]' THEN '{}'
  WHEN jsonb_array_length(p_leases) = 1 AND p_waiters = '[]' AND NOT p_leases -> 0 ?| ARRAY['shared', 'pattern'] THEN
    jsonb_strip_nulls(jsonb_build_object('lease', (p_leases -> 0) - 'reason', 'reason', p_leases -> 0 -> 'reason'))
  ELSE jsonb_build_object('leases', p_leases)
    || CASE WHEN p_waiters = '[]' THEN '{}' ELSE jsonb_build_object('waiters', p_waiters) END
END;

CREATE FUNCTION coxswain.without_agent(p_leases jsonb, p_agent_id text) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN (SELECT coalesce(jsonb_agg(e ORDER BY place), '[]') FROM jsonb_array_elements(p_leases) WITH ORDINALITY AS l(e, place)
  WHERE e ->> 'agent_id' <> p_agent_id);

-- A file's lock as of now: its record, what of it is alive, and the events that say what is over.
CREATE FUNCTION coxswain.look_at_lock(
  p_project text, p_path text, p_now_ms bigint,
  OUT version bigint, OUT leases jsonb, OUT live jsonb, OUT waiters jsonb, OUT over jsonb
) LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_state jsonb;
  v_place jsonb := jsonb_build_object('kind', 'lock', 'id', p_path);
  v_waiting jsonb;
BEGIN
  SELECT r.version, r.state INTO version, v_state FROM coxswain.records r
  WHERE r.project = p_project AND r.kind = 'lock' AND r.id = p_path;
  leases := coalesce(coxswain.leases_of(v_state), '[]');
  v_waiting := coalesce(v_state -> 'waiters', '[]');
  SELECT coalesce(jsonb_agg(e ORDER BY place) FILTER (WHERE (e ->> 'expires_at_ms')::double precision > p_now_ms), '[]'),
    coalesce(jsonb_agg(v_place || jsonb_build_object('type', 'lock_expired', 'data',
      jsonb_build_object('lease', e - ARRAY['reason', 'shared', 'pattern'])) ORDER BY place)
      FILTER (WHERE (e ->> 'expires_at_ms')::double precision <= p_now_ms), '[]')
  INTO live, over FROM jsonb_array_elements(leases) WITH ORDINALITY AS l(e, place);
  SELECT coalesce(jsonb_agg(e ORDER BY place) FILTER (WHERE (e ->> 'alive_until_ms')::double precision > p_now_ms), '[]'),
    over || coalesce(jsonb_agg(v_place || jsonb_build_object('type', 'lock_wait_ended', 'data',
      jsonb_build_object('waiter_id', e -> 'id')) ORDER BY place)
      FILTER (WHERE (e ->> 'alive_until_ms')::double precision <= p_now_ms), '[]')
  INTO waiters, over FROM jsonb_array_elements(v_waiting) WITH ORDINALITY AS w(e, place);
END $$;

CREATE FUNCTION coxswain.superseded_lock(p_path text, p_token bigint, p_lease jsonb) RETURNS jsonb LANGUAGE sql STABLE
RETURN coxswain.api_refusal('superseded',
  format('Grant %s of %s is over; grant %s of %s has replaced it.', p_token, p_path, p_lease ->> 'token',
    p_lease ->> 'agent_id'),
  jsonb_build_object('file_path', p_path, 'locked_by', p_lease -> 'agent_id',
    'expires_at', coxswain.iso_time((p_lease ->> 'expires_at_ms')::double precision), 'fencing_token', p_lease -> 'token'));

-- The agents in the way: holders first, then those that wait (blocked.ts).
CREATE FUNCTION coxswain.blocked_lock(p_path text, p_agent_id text, p_live jsonb, p_waiters jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
DECLARE
  v_all jsonb;
  v_chief jsonb;
  v_message text;
BEGIN
  SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('file_path', p_path, 'locked_by', e -> 'agent_id',
    'agent_type', e -> 'agent_type', 'shared', e -> 'shared', 'waiting', CASE WHEN waits THEN true END,
    'expires_at', coxswain.iso_time((e ->> CASE WHEN waits THEN 'alive_until_ms' ELSE 'expires_at_ms' END)::double precision),
    'lock_reason', e -> 'reason')) ORDER BY waits, place)
  INTO v_all
  FROM (
    SELECT e, place, false AS waits FROM jsonb_array_elements(p_live) WITH ORDINALITY AS l(e, place)
    UNION ALL
    SELECT e, place, true FROM jsonb_array_elements(p_waiters) WITH ORDINALITY AS w(e, place)
  ) b WHERE e ->> 'agent_id' <> p_agent_id;
  IF v_all IS NULL THEN
    RETURN NULL;
  END IF;
  v_chief := v_all -> 0;
  v_message := CASE WHEN v_chief ? 'waiting'
    THEN format('%s is next for %s, who waits in line.', p_path, v_chief ->> 'locked_by')
    ELSE format('%s is locked by %s until %s%s.', p_path, v_chief ->> 'locked_by', v_chief ->> 'expires_at',
      ' (' || (v_chief -> 'lock_reason')::text || ')') END;
  RETURN coxswain.api_refusal('blocked', v_message, v_chief || jsonb_build_object(
    'reason', CASE WHEN v_chief ? 'waiting' THEN 'others_wait_first' ELSE 'locked_by_other' END,
    'conflicts', CASE WHEN jsonb_array_length(v_all) > 1 THEN jsonb_path_query_array(v_all, '$[0 to 49]') END));
END $$;

-- NULL: another writer was quicker, look again.
CREATE FUNCTION coxswain.try_acquire_lock(p_call jsonb, p_path text, p_reason text, p_ttl_ms double precision, p_token bigint)
RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_project text := p_call ->> 'project';
  v_agent text := p_call ->> 'agent_id';
  v_now bigint := coxswain.now_ms();
  v_folders bigint;
  v_listed jsonb;
  v_lock record;
  v_own jsonb;
  v_lease jsonb;
  v_refreshed boolean;
  v_refusal jsonb;
  v_events jsonb;
  v_place jsonb := jsonb_build_object('kind', 'lock', 'id', p_path);
  v_granted jsonb;
BEGIN
  SELECT r.version, r.state -> 'folders' INTO v_folders, v_listed FROM coxswain.records r
  WHERE r.project = v_project AND r.kind = 'lock_folders' AND r.id = 'all';
  SELECT * INTO v_lock FROM coxswain.look_at_lock(v_project, p_path, v_now);
  SELECT e INTO v_own FROM jsonb_array_elements(v_lock.live) AS e WHERE e ->> 'agent_id' = v_agent;
  v_refusal := CASE
    WHEN p_path !~ '^(api|db|event|flag|env|contract|feature):' AND EXISTS (
      SELECT FROM jsonb_array_elements_text(v_listed) AS f
      WHERE f = './' OR starts_with(p_path, f) OR f = p_path || '/')
    THEN coxswain.api_refusal('not_decided_here',
      format('A folder or pattern around %s is locked or waited for, which is not judged here.', p_path))
    WHEN jsonb_array_length(v_lock.over) > 30
    THEN coxswain.api_refusal('not_decided_here', format('Too much has run out on %s to be cleared away here.', p_path))
    WHEN v_own ->> 'token' <> p_token::text THEN coxswain.superseded_lock(p_path, p_token, v_own)
    -- An agent that already has it to itself waits for no other.
    WHEN v_own IS NULL OR v_own ? 'shared' THEN coxswain.blocked_lock(p_path, v_agent, v_lock.live, v_lock.waiters)
  END;
  IF v_refusal IS NOT NULL THEN
    RETURN coxswain.api_refuse(p_call, v_now, v_refusal);
  END IF;

  v_refreshed := v_own IS NOT NULL AND NOT v_own ? 'shared';
  -- A session keeps its grant; another session of the agent, or a reader that wants to write, gets a new one.
  v_lease := CASE WHEN v_refreshed AND v_own -> 'session_id' = p_call -> 'session_id'
    THEN v_own - ARRAY['reason', 'shared', 'pattern']
    ELSE jsonb_build_object('agent_id', v_agent, 'agent_type', p_call -> 'agent_type', 'session_id', p_call -> 'session_id',
      'token', greatest(coalesce(v_lock.version, 0) + 1, v_now), 'granted_at_ms', v_now) END
    || jsonb_build_object('expires_at_ms', v_now + p_ttl_ms);
  v_granted := jsonb_strip_nulls(jsonb_build_object('reason', coalesce(p_reason, v_own ->> 'reason')));
  v_events := v_lock.over
    || CASE WHEN v_own ? 'shared' THEN jsonb_build_array(v_place || jsonb_build_object('type', 'lock_released', 'data',
      jsonb_build_object('token', v_own -> 'token'))) ELSE '[]' END
    || jsonb_build_array(v_place || jsonb_build_object('type',
      CASE WHEN v_refreshed THEN 'lock_refreshed' ELSE 'lock_acquired' END, 'data',
      jsonb_build_object('lease', v_lease) || v_granted));
  RETURN coxswain.api_commit(p_call, v_now, (v_own ->> 'expires_at_ms')::double precision,
    jsonb_build_object('k', 'lock', 'd', p_path, 'e', coalesce(v_lock.version, 0), 'x', 'held/' || p_path, 's',
      coxswain.lock_state(coxswain.without_agent(v_lock.live, v_agent) || jsonb_build_array(v_lease || v_granted),
        v_lock.waiters)),
    jsonb_build_array(jsonb_build_object('k', 'lock_folders', 'd', 'all', 'v', coalesce(v_folders, 0))), v_events,
    jsonb_build_object('success', true, 'action', CASE WHEN v_refreshed THEN 'refreshed' ELSE 'acquired' END,
      'file_path', p_path, 'expires_at', coxswain.iso_time((v_lease ->> 'expires_at_ms')::double precision),
      'fencing_token', v_lease -> 'token'));
END $$;

CREATE FUNCTION coxswain.try_release_lock(p_call jsonb, p_path text, p_token bigint) RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_agent text := p_call ->> 'agent_id';
  v_now bigint := coxswain.now_ms();
  v_lock record;
  v_lease jsonb;
  v_until text;
  v_refusal jsonb;
  v_state jsonb;
BEGIN
  SELECT * INTO v_lock FROM coxswain.look_at_lock(p_call ->> 'project', p_path, v_now);
  -- The caller's own; else the one it names; else whatever is there, to say whose it is.
  SELECT e INTO v_lease FROM jsonb_array_elements(v_lock.live) WITH ORDINALITY AS l(e, place)
  ORDER BY e ->> 'agent_id' <> v_agent, e ->> 'token' IS DISTINCT FROM p_token::text, place LIMIT 1;
  v_until := coxswain.iso_time((coalesce(v_lease, v_lock.leases -> 0) ->> 'expires_at_ms')::double precision);
  v_refusal := CASE
    WHEN v_lease IS NULL THEN coxswain.api_refusal('not_held', format('Nobody holds %s.%s', p_path,
      format(' %s''s lock ran out at ', v_lock.leases -> 0 ->> 'agent_id') || v_until || '.'),
      jsonb_build_object('released', false, 'file_path', p_path))
    WHEN v_lease ->> 'token' <> p_token::text THEN coxswain.superseded_lock(p_path, p_token, v_lease)
    WHEN v_lease ->> 'agent_id' <> v_agent THEN coxswain.api_refusal('not_holder',
      format('%s is held by %s until %s; it stays locked.', p_path, v_lease ->> 'agent_id', v_until),
      jsonb_build_object('released', false, 'file_path', p_path, 'locked_by', v_lease -> 'agent_id', 'expires_at', v_until))
  END;
  IF v_refusal IS NOT NULL THEN
    RETURN coxswain.api_refuse(p_call, v_now, v_refusal);
  END IF;
  v_state := coxswain.lock_state(coxswain.without_agent(v_lock.live, v_agent), v_lock.waiters);
  RETURN coxswain.api_commit(p_call, v_now, (v_lease ->> 'expires_at_ms')::double precision,
    jsonb_build_object('k', 'lock', 'd', p_path, 'e', v_lock.version, 's', v_state,
      'x', CASE WHEN v_state <> '{}' THEN 'held/' || p_path END), '[]',
    v_lock.over || jsonb_build_array(jsonb_build_object('kind', 'lock', 'id', p_path, 'type', 'lock_released', 'data',
      jsonb_build_object('token', v_lease -> 'token'))),
    jsonb_build_object('success', true, 'released', true, 'file_path', p_path));
END $$;

-- The path of a task that is a file of a work directory (filed.ts).
CREATE FUNCTION coxswain.filed_path(p_file jsonb) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE p_file ->> 'directory' WHEN '.' THEN '' ELSE p_file ->> 'directory' || '/' END || (p_file ->> 'path');

-- The end of a claim (complete-work.ts). The tasks that wait for this one are told by the next Coxswain process that
-- asks for work: that is a round of commits of its own. What is a file is ended by its file alone (mirror-work.ts).
CREATE FUNCTION coxswain.try_complete_task(
  p_call jsonb, p_id text, p_success boolean, p_result jsonb, p_error text, p_token bigint
) RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_now bigint := coxswain.now_ms();
  v_task record;
  v_lease jsonb;
  v_status text := CASE WHEN p_success THEN 'completed' ELSE 'failed' END;
  v_said jsonb := jsonb_strip_nulls(jsonb_build_object('error_message', CASE WHEN NOT p_success THEN p_error END));
  v_told boolean;
  v_refusal jsonb;
BEGIN
  -- What came as JSON keeps its own nulls.
  IF p_result IS NOT NULL THEN
    v_said := v_said || jsonb_build_object('result', p_result);
  END IF;
  SELECT r.version, r.state INTO v_task FROM coxswain.records r
  WHERE r.project = p_call ->> 'project' AND r.kind = 'task' AND r.id = p_id;
  v_lease := v_task.state -> 'lease';
  v_refusal := CASE
    WHEN v_task.state IS NULL THEN coxswain.api_refusal('unknown_task', format('There is no task %s.', p_id),
      jsonb_build_object('field', 'task_id', 'task_id', p_id))
    WHEN v_task.state ? 'file' THEN coxswain.api_refusal('task_is_filed',
      format('Task %s is a file, %s, and what that says counts.', p_id, coxswain.filed_path(v_task.state -> 'file')),
      jsonb_build_object('task_id', p_id, 'path', coxswain.filed_path(v_task.state -> 'file'),
        'task_file', v_task.state #> '{file,id}'))
    WHEN v_task.state ->> 'status' <> 'claimed' THEN coxswain.api_refusal('not_held',
      format('Task %s is %s; you do not hold it.', p_id, v_task.state ->> 'status'),
      jsonb_build_object('task_id', p_id, 'status', v_task.state -> 'status'))
    WHEN (v_lease ->> 'expires_at_ms')::double precision <= v_now THEN coxswain.api_refusal('lease_expired',
      format('The claim on task %s ran out at %s.', p_id, coxswain.iso_time((v_lease ->> 'expires_at_ms')::double precision)),
      jsonb_build_object('task_id', p_id))
    WHEN v_lease ->> 'token' <> p_token::text THEN coxswain.api_refusal('superseded',
      format('Grant %s of task %s is over; %s holds grant %s.', p_token, p_id, v_lease ->> 'agent_id', v_lease ->> 'token'),
      jsonb_build_object('task_id', p_id, 'claimed_by', v_lease -> 'agent_id'))
    WHEN v_lease -> 'agent_id' <> p_call -> 'agent_id' THEN coxswain.api_refusal('not_holder',
      format('Task %s is claimed by %s.', p_id, v_lease ->> 'agent_id'),
      jsonb_build_object('task_id', p_id, 'claimed_by', v_lease -> 'agent_id'))
  END;
  IF v_refusal IS NOT NULL THEN
    RETURN coxswain.api_refuse(p_call, v_now, v_refusal);
  END IF;
  v_told := (v_task.state -> 'has_dependents')::boolean;
  RETURN coxswain.api_commit(p_call, v_now, (v_lease ->> 'expires_at_ms')::double precision,
    jsonb_build_object('k', 'task', 'd', p_id, 'e', v_task.version, 'x', CASE WHEN v_told THEN 'due/000000000000000' END, 's',
      v_task.state - ARRAY['lease', 'result'] - CASE WHEN p_success THEN '' ELSE 'error_message' END || v_said
        || jsonb_build_object('status', v_status, 'ended_at_ms', v_now, 'releasing', v_told)), '[]',
    jsonb_build_array(jsonb_build_object('kind', 'task', 'id', p_id, 'type', 'task_' || v_status, 'data',
      jsonb_build_object('agent_id', p_call -> 'agent_id', 'token', v_lease -> 'token') || v_said)),
    jsonb_build_object('success', true, 'status', v_status, 'task_id', p_id)
      || CASE WHEN v_told THEN '{"has_dependents": true}' ELSE '{}' END::jsonb);
END $$;

-- A task that waits for nothing (submit-work.ts).
CREATE FUNCTION coxswain.try_submit_task(p_call jsonb, p_type text, p_description text, p_input jsonb, p_priority integer)
RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_now bigint := coxswain.now_ms();
  v_id text := gen_random_uuid();
  v_urgency text := lpad(p_priority::text, 2, '0');
  v_data jsonb := jsonb_build_object('task_type', p_type, 'description', p_description, 'priority', p_priority,
    'files', '[]'::jsonb, 'depends_on', '[]'::jsonb, 'unmet', '[]'::jsonb, 'failed_dependencies', '[]'::jsonb,
    'max_attempts', 3, 'attempt_count', 0, 'submitted_by', p_call -> 'agent_id', 'created_at_ms', v_now,
    'has_dependents', false, 'releasing', false);
BEGIN
  IF p_input IS NOT NULL THEN
    v_data := v_data || jsonb_build_object('input_data', p_input);
  END IF;
  RETURN coxswain.api_commit(p_call, v_now, NULL,
    jsonb_build_object('k', 'task', 'd', v_id, 'x', 'ready/' || v_urgency, 'y', format('ready/%s/%s', p_type, v_urgency),
      's', v_data || '{"status": "pending"}'), '[]',
    jsonb_build_array(jsonb_build_object('kind', 'task', 'id', v_id, 'type', 'task_submitted', 'data', v_data)),
    jsonb_build_object('success', true, 'tasks', jsonb_build_array(jsonb_build_object('task_id', v_id, 'status', 'pending'))));
END $$;

-- The first ready task, by the very function that the product claims with. What has become due by time is not looked at:
-- that takes a Coxswain process.
CREATE FUNCTION coxswain.try_claim_task(p_call jsonb, p_types text[], p_lease_ms double precision) RETURNS jsonb
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_item jsonb := jsonb_build_object('i', 0, 'p', p_call -> 'project', 'a', p_call -> 'agent_id',
    'o', p_call -> 'operation_id', 'g', p_call -> 'digest', 'm', p_call -> 'named', 'n', 1e18);
  v_take jsonb := coxswain.api_row(p_call, 0, '{}', '[]') || v_item
    || jsonb_build_object('count', 1, 'lease_ms', p_lease_ms, 'settled', true);
  v_result json;
  v_now bigint;
BEGIN
  IF p_types IS NOT NULL THEN
    v_take := v_take || jsonb_build_object('types', p_types);
  END IF;
  v_result := coxswain.commit_group(2, jsonb_build_array(v_item || '{"t": true}'), NULL, NULL, NULL, NULL, NULL,
    jsonb_build_array(v_take), NULL);
  IF v_result -> 'takes' -> 0 ->> 'position' IS NOT NULL THEN
    RETURN v_result -> 'takes' -> 0 -> 'answer';
  END IF;
  v_now := (v_result ->> 'now')::bigint;
  RETURN coalesce(coxswain.api_recall(p_call), coxswain.api_refuse(p_call, v_now, CASE
    WHEN (v_result -> 'takes' -> 0 ->> 'ready')::boolean THEN coxswain.api_refusal('not_decided_here',
      'Something is ready, but files, folders or agents in line have to be looked at first, which is not done here.')
    WHEN coxswain.first_due(p_call ->> 'project', v_now) IS NOT NULL THEN coxswain.api_refusal('not_decided_here',
      'Nothing is ready, but something has become due and has to be looked at first, which is not done here.')
    ELSE coxswain.api_refusal('no_tasks_available', format('No task%s can be handed out now.',
      ' of type ' || array_to_string(p_types, ', '))) END));
END $$;

-- The open functions. They run with more rights than their caller, so each fixes what names mean and names everything in
-- full. After a first try that failed, the locks of it are held: the second finds no quicker writer, unless a lease has run out
-- meanwhile.
CREATE FUNCTION coxswain.acquire_lock(
  file_path text, reason text DEFAULT NULL, ttl_minutes double precision DEFAULT 120, fencing_token bigint DEFAULT NULL,
  operation_id text DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_call jsonb := coxswain.api_call('acquire_lock', operation_id, jsonb_build_object('file_path', file_path, 'reason', reason,
    'ttl_minutes', ttl_minutes, 'fencing_token', fencing_token));
  v_problem jsonb := coalesce(coxswain.path_problem(file_path),
    coxswain.input_problem(operation_id, fencing_token, 'ttl_minutes', ttl_minutes),
    CASE WHEN length(reason) > 2000 THEN coxswain.api_invalid('reason', 'at most 2000 characters') END);
  v_answer jsonb := coxswain.api_recall(v_call);
BEGIN
  IF v_problem IS NOT NULL THEN
    RETURN coxswain.api_refuse(v_call, coxswain.now_ms(), v_problem);
  END IF;
  FOR attempt IN 1 .. 5 LOOP
    EXIT WHEN v_answer IS NOT NULL;
    v_answer := coxswain.try_acquire_lock(v_call, file_path, reason, coalesce(ttl_minutes, 120) * 60000, fencing_token);
  END LOOP;
  RETURN coalesce(v_answer, coxswain.api_refusal('database_unavailable', 'Other writers were quicker; nothing was changed.'));
END $$;

CREATE FUNCTION coxswain.release_lock(file_path text, fencing_token bigint DEFAULT NULL, operation_id text DEFAULT NULL)
RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_call jsonb := coxswain.api_call('release_lock', operation_id,
    jsonb_build_object('file_path', file_path, 'fencing_token', fencing_token));
  v_problem jsonb := coalesce(coxswain.path_problem(file_path), coxswain.input_problem(operation_id, fencing_token, '', NULL));
  v_answer jsonb := coxswain.api_recall(v_call);
BEGIN
  IF v_problem IS NOT NULL THEN
    RETURN coxswain.api_refuse(v_call, coxswain.now_ms(), v_problem);
  END IF;
  FOR attempt IN 1 .. 5 LOOP
    EXIT WHEN v_answer IS NOT NULL;
    v_answer := coxswain.try_release_lock(v_call, file_path, fencing_token);
  END LOOP;
  RETURN coalesce(v_answer, coxswain.api_refusal('database_unavailable', 'Other writers were quicker; nothing was changed.'));
END $$;

-- get_work, under the name it has among the seed's functions.
CREATE FUNCTION coxswain.claim_task(
  task_types text[] DEFAULT NULL, lease_minutes double precision DEFAULT 30, operation_id text DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_call jsonb := coxswain.api_call('get_work', operation_id,
    jsonb_build_object('task_types', task_types, 'lease_minutes', lease_minutes));
  v_problem jsonb := coalesce(coxswain.input_problem(operation_id, NULL, 'lease_minutes', lease_minutes),
    CASE WHEN cardinality(task_types) NOT BETWEEN 1 AND 20
      OR (SELECT bool_or(y IS NULL OR y !~ '^[A-Za-z0-9_.:-]{1,64}$') FROM unnest(task_types) AS y)
    THEN coxswain.api_invalid('task_types', '1 to 20 short words such as test, review, refactor') END);
  v_answer jsonb := coxswain.api_recall(v_call);
BEGIN
  IF v_problem IS NOT NULL THEN
    RETURN coxswain.api_refuse(v_call, coxswain.now_ms(), v_problem);
  END IF;
  v_answer := coalesce(v_answer, coxswain.try_claim_task(v_call, task_types, coalesce(lease_minutes, 30) * 60000));
  RETURN (v_answer - 'tasks') || coalesce(v_answer -> 'tasks' -> 0, '{}');
END $$;

CREATE FUNCTION coxswain.complete_task(
  task_id text, success boolean, result jsonb DEFAULT NULL, error_message text DEFAULT NULL, fencing_token bigint DEFAULT NULL,
  operation_id text DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_call jsonb := coxswain.api_call('complete_work', operation_id, jsonb_build_object('task_id', task_id, 'success', success,
    'result', result, 'error_message', error_message, 'fencing_token', fencing_token));
  v_problem jsonb := coalesce(coxswain.input_problem(operation_id, fencing_token, '', NULL),
    coxswain.payload_problem('result', result),
    CASE WHEN task_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' IS NOT TRUE
      THEN coxswain.api_invalid('task_id', 'a task id as submit_work returns it')
      WHEN success IS NULL THEN coxswain.api_invalid('success', 'boolean')
      WHEN length(error_message) > 2000 THEN coxswain.api_invalid('error_message', 'at most 2000 characters') END);
  v_answer jsonb := coxswain.api_recall(v_call);
BEGIN
  IF v_problem IS NOT NULL THEN
    RETURN coxswain.api_refuse(v_call, coxswain.now_ms(), v_problem);
  END IF;
  FOR attempt IN 1 .. 5 LOOP
    EXIT WHEN v_answer IS NOT NULL;
    v_answer := coxswain.try_complete_task(v_call, task_id, success, result, error_message, fencing_token);
  END LOOP;
  RETURN coalesce(v_answer, coxswain.api_refusal('database_unavailable', 'Other writers were quicker; nothing was changed.'));
END $$;

CREATE FUNCTION coxswain.submit_task(
  task_type text, task_description text, input_data jsonb DEFAULT NULL, priority integer DEFAULT 5,
  depends_on text[] DEFAULT NULL, operation_id text DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_call jsonb := coxswain.api_call('submit_work', operation_id, jsonb_build_object('task_type', task_type,
    'task_description', task_description, 'input_data', input_data, 'priority', priority, 'depends_on', depends_on));
  v_problem jsonb := coalesce(coxswain.input_problem(operation_id, NULL, '', NULL),
    coxswain.payload_problem('input_data', input_data),
    CASE WHEN task_type ~ '^[A-Za-z0-9_.:-]{1,64}$' IS NOT TRUE
      THEN coxswain.api_invalid('task_type', 'letters, digits and _ . : - only, at most 64')
      WHEN length(task_description) BETWEEN 1 AND 20000 IS NOT TRUE
      THEN coxswain.api_invalid('task_description', '1 to 20000 characters')
      WHEN priority NOT BETWEEN 1 AND 10 THEN coxswain.api_invalid('priority', '1 (most urgent) to 10')
      WHEN cardinality(depends_on) > 0 THEN coxswain.api_refusal('not_decided_here',
        'What a task has to wait for is not judged here.') END);
  v_answer jsonb := coxswain.api_recall(v_call);
BEGIN
  IF v_problem IS NOT NULL THEN
    RETURN coxswain.api_refuse(v_call, coxswain.now_ms(), v_problem);
  END IF;
  v_answer := coalesce(v_answer,
    coxswain.try_submit_task(v_call, task_type, task_description, input_data, coalesce(priority, 5)));
  RETURN (v_answer - 'tasks') || coalesce(v_answer -> 'tasks' -> 0, '{}');
END $$;

-- 8. Views: the tables of the seed under their names. They look with the rights of the role that reads them, which therefore
-- needs the right to read the ledger itself.

CREATE VIEW coxswain.file_locks WITH (security_invoker = true) AS
SELECT r.project,
  coalesce(l.lease ->> 'pattern', r.id) COLLATE "C" AS file_path,
  l.lease ->> 'agent_id' AS locked_by,
  l.lease ->> 'agent_type' AS agent_type,
  l.lease ->> 'session_id' AS session_id,
  to_timestamp((l.lease ->> 'granted_at_ms')::double precision / 1000) AS locked_at,
  to_timestamp((l.lease ->> 'expires_at_ms')::double precision / 1000) AS expires_at,
  l.lease ->> 'reason' AS reason,
  jsonb_build_object('fencing_token', l.lease -> 'token') AS metadata,
  coalesce((l.lease -> 'shared')::boolean, false) AS shared
FROM coxswain.records r CROSS JOIN LATERAL jsonb_array_elements(coxswain.leases_of(r.state)) AS l(lease)
-- A lock past its expiry is free, whether or not a process has noticed yet.
WHERE r.kind = 'lock' AND (l.lease ->> 'expires_at_ms')::double precision / 1000 > extract(epoch FROM clock_timestamp());

CREATE VIEW coxswain.work_queue WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state ->> 'task_type' AS task_type,
  r.state ->> 'description' AS description,
  r.state -> 'input_data' AS input_data,
  coalesce(r.state -> 'lease' ->> 'agent_id',
    CASE WHEN r.state ->> 'status' = 'filed' AND r.state #>> '{file,status}' = 'in_progress'
      THEN r.state #>> '{file,agent}' END) AS claimed_by,
  to_timestamp((r.state ->> 'claimed_at_ms')::double precision / 1000) AS claimed_at,
  (r.state ->> 'priority')::integer AS priority,
  ARRAY(SELECT jsonb_array_elements_text(r.state -> 'depends_on')) AS depends_on,
  CASE r.state ->> 'status' WHEN 'blocked' THEN 'pending' WHEN 'delayed' THEN 'pending' WHEN 'dead' THEN 'failed'
    WHEN 'skipped' THEN 'cancelled'
    WHEN 'filed' THEN CASE r.state #>> '{file,status}' WHEN 'in_progress' THEN 'claimed' ELSE 'pending' END
    ELSE r.state ->> 'status' END AS status,
  r.state -> 'result' AS result,
  r.state ->> 'error_message' AS error_message,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at,
  to_timestamp((r.state ->> 'claimed_at_ms')::double precision / 1000) AS started_at,
  to_timestamp((r.state ->> 'ended_at_ms')::double precision / 1000) AS completed_at,
  NULL::timestamptz AS deadline,
  (r.state ->> 'attempt_count')::integer AS attempt_count,
  (r.state ->> 'max_attempts')::integer AS max_attempts,
  -- Our own word for it: blocked and delayed are kinds of pending, dead is a kind of failed, skipped of cancelled;
  -- filed is what its file says.
  r.state ->> 'status' AS task_status,
  -- Written out: a reader of the view need not be allowed to call anything.
  CASE r.state #>> '{file,directory}' WHEN '.' THEN '' ELSE r.state #>> '{file,directory}' || '/' END
    || (r.state #>> '{file,path}') AS file_path,
  r.state #>> '{file,agent}' AS file_agent
FROM coxswain.records r
WHERE r.kind = 'task';

CREATE VIEW coxswain.audit_log WITH (security_invoker = true) AS
SELECT l.project, l.position, to_timestamp(l.at_ms / 1000) AS "timestamp", l.agent_id, l.agent_type, l.session_id,
  l.sequence, l.operation, l.parameters, l.result, l.duration_ms, l.operation_id
FROM coxswain.log l;

-- A session is not written only to say that it has gone quiet, so its status is what the time makes of it.
CREATE VIEW coxswain.agent_sessions WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state ->> 'agent_id' AS agent_id,
  r.state ->> 'agent_type' AS agent_type,
  r.state ->> 'session_id' AS session_id,
  r.state ->> 'current_task' AS task_description,
  to_timestamp((r.state ->> 'started_at_ms')::double precision / 1000) AS started_at,
  to_timestamp((r.state ->> 'ended_at_ms')::double precision / 1000) AS ended_at,
  (r.state ->> 'tasks_completed')::integer AS tasks_completed,
  ARRAY(SELECT jsonb_array_elements_text(r.state -> 'files_modified')) AS files_modified,
  r.state -> 'metadata' AS metadata,
  ARRAY(SELECT jsonb_array_elements_text(r.state -> 'capabilities')) AS capabilities,
  CASE WHEN r.state ->> 'ended_at_ms' IS NOT NULL THEN 'disconnected'
    WHEN (r.state ->> 'last_active_ms')::double precision / 1000 < extract(epoch FROM clock_timestamp()) - 300 THEN 'idle'
    ELSE 'active' END AS status,
  to_timestamp((r.state ->> 'last_heartbeat_ms')::double precision / 1000) AS last_heartbeat,
  r.state ->> 'current_task' AS current_task
FROM coxswain.records r
WHERE r.kind = 'session';

-- Which agent works on which feature and edge, in the words of the seeds' claims table. A claim without a holder keeps its row: it
-- says when it converged last, and by which agent.
CREATE VIEW coxswain.edge_claims WITH (security_invoker = true) AS
SELECT r.project,
  r.state ->> 'feature' AS feature,
  r.state ->> 'edge' AS edge,
  c.lease ->> 'agent_id' AS agent_id,
  CASE WHEN c.lease IS NOT NULL THEN r.state ->> 'agent_role' END AS agent_role,
  to_timestamp((c.lease ->> 'granted_at_ms')::double precision / 1000) AS claimed_at,
  to_timestamp((r.state ->> 'last_active_ms')::double precision / 1000) AS last_active,
  -- NULL: it has no end of its own.
  CASE WHEN (c.lease ->> 'expires_at_ms')::double precision < 8.64e15
    THEN to_timestamp((c.lease ->> 'expires_at_ms')::double precision / 1000) END AS expires_at,
  CASE
    WHEN c.lease IS NULL AND r.state ? 'converged' THEN 'converged'
    WHEN c.lease IS NULL THEN 'free'
    WHEN r.state ? 'escalation' THEN 'escalated'
    WHEN r.state ? 'stale_since_ms' THEN 'stale'
    ELSE 'held' END AS status,
  to_timestamp((r.state -> 'converged' ->> 'at_ms')::double precision / 1000) AS converged_at,
  r.state -> 'converged' ->> 'agent_id' AS converged_by,
  r.state -> 'converged' ->> 'agent_role' AS converged_role,
  r.state -> 'converged' ->> 'evaluators' AS evaluators,
  r.state -> 'converged' ->> 'approved_by' AS approved_by,
  (r.state ->> 'iteration')::integer AS iteration,
  c.lease ->> 'session_id' AS session_id,
  (c.lease ->> 'token')::bigint AS fencing_token,
  CASE WHEN c.lease IS NOT NULL THEN r.state -> 'escalation' ->> 'approval_id' END AS approval_id
FROM coxswain.records r
-- A claim past its hard end is free, whether or not a process has noticed yet; while a person is asked about it, it has none.
LEFT JOIN LATERAL (SELECT r.state -> 'lease' AS lease
  WHERE greatest((r.state -> 'lease' ->> 'expires_at_ms')::double precision,
    (r.state -> 'escalation' ->> 'asked_until_ms')::double precision) / 1000 > extract(epoch FROM clock_timestamp())
    AND r.state ? 'lease') c ON true
WHERE r.kind = 'claim';

CREATE VIEW coxswain.handoff_documents WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state ->> 'agent_name' AS agent_name,
  r.state ->> 'session_id' AS session_id,
  r.state ->> 'summary' AS summary,
  r.state -> 'completed_work' AS completed_work,
  r.state -> 'in_progress' AS in_progress,
  r.state -> 'decisions' AS decisions,
  r.state -> 'next_steps' AS next_steps,
  r.state -> 'relevant_files' AS relevant_files,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at
FROM coxswain.records r
WHERE r.kind = 'handoff';

CREATE VIEW coxswain.memory_episodic WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state ->> 'agent_id' AS agent_id,
  r.state ->> 'session_id' AS session_id,
  r.state ->> 'event_type' AS event_type,
  r.state ->> 'summary' AS summary,
  r.state -> 'details' AS details,
  r.state ->> 'outcome' AS outcome,
  ARRAY(SELECT jsonb_array_elements_text(r.state -> 'lessons')) AS lessons,
  ARRAY(SELECT jsonb_array_elements_text(r.state -> 'tags')) AS tags,
  (r.state ->> 'relevance_score')::double precision AS relevance_score,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at
FROM coxswain.records r
WHERE r.kind = 'memory';

CREATE VIEW coxswain.memory_working WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state ->> 'session_id' AS session_id,
  r.state ->> 'agent_id' AS agent_id,
  r.state -> 'content' AS content,
  (r.state ->> 'token_count')::integer AS token_count,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at,
  to_timestamp((r.state ->> 'updated_at_ms')::double precision / 1000) AS updated_at
FROM coxswain.records r
WHERE r.kind = 'working_memory';

CREATE VIEW coxswain.memory_procedural WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state ->> 'name' AS name,
  r.state ->> 'task_type' AS task_type,
  r.state -> 'content' AS content,
  (r.state ->> 'success_count')::integer AS success_count,
  (r.state ->> 'failure_count')::integer AS failure_count,
  (r.state ->> 'success_rate')::double precision AS success_rate,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at,
  to_timestamp((r.state ->> 'updated_at_ms')::double precision / 1000) AS updated_at
FROM coxswain.records r
WHERE r.kind = 'skill';

-- Its status is that of its runs, the worst first.
CREATE VIEW coxswain.changesets WITH (security_invoker = true) AS
SELECT
  r.project,
  r.id,
  r.state ->> 'session_id' AS session_id,
  r.state ->> 'agent_id' AS agent_id,
  r.state ->> 'task_id' AS task_id,
  r.state ->> 'branch' AS branch,
  coalesce(r.state -> 'routed' ->> 'commit_sha', r.state ->> 'commit_sha') AS commit_sha,
  r.state ->> 'base_sha' AS base_sha,
  r.state ->> 'summary' AS summary,
  ARRAY(SELECT jsonb_array_elements_text(r.state -> 'files')) AS files,
  CASE WHEN r.state -> 'routed' IS NULL THEN 'submitted' ELSE coalesce((
    SELECT v.state ->> 'status' FROM coxswain.records v
    WHERE v.project = r.project AND v.kind = 'verification_result' AND v.id = ANY (ARRAY(
      SELECT (r.state -> 'routed' ->> 'commit_sha') || '#' || name
      FROM jsonb_array_elements_text(r.state -> 'routed' -> 'policies') AS name))
    ORDER BY array_position(ARRAY['failed', 'error', 'timed_out', 'waiting_for_person', 'running', 'queued', 'passed', 'skipped'],
      v.state ->> 'status')
    LIMIT 1), 'nothing_to_verify') END AS status,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at
FROM coxswain.records r
WHERE r.kind = 'changeset';

CREATE VIEW coxswain.verification_results WITH (security_invoker = true) AS
SELECT
  r.project,
  r.id,
  r.state ->> 'changeset_id' AS changeset_id,
  r.state -> 'policy' ->> 'name' AS policy,
  (r.state -> 'policy' ->> 'tier')::integer AS tier,
  coalesce(r.state ->> 'executor', r.state -> 'policy' ->> 'executor') AS executor,
  r.state ->> 'status' AS status,
  r.state -> 'output' AS output,
  r.state ->> 'error_message' AS error_message,
  to_timestamp((r.state ->> 'started_at_ms')::double precision / 1000) AS started_at,
  to_timestamp((r.state ->> 'completed_at_ms')::double precision / 1000) AS completed_at,
  (r.state ->> 'completed_at_ms')::double precision - (r.state ->> 'started_at_ms')::double precision AS duration_ms,
  r.state ->> 'commit_sha' AS commit_sha,
  (r.state ->> 'exit_code')::integer AS exit_code,
  (r.state ->> 'attempts')::integer AS attempts,
  r.state ->> 'url' AS url,
  r.state ->> 'decided_by' AS decided_by
FROM coxswain.records r
WHERE r.kind = 'verification_result';

-- Those that were set here; what ships is in the product, see `cox verification list`.
CREATE VIEW coxswain.verification_policies WITH (security_invoker = true) AS
SELECT
  r.project,
  (p.value ->> 'name') COLLATE "C" AS id,
  p.value ->> 'name' AS name,
  (p.value ->> 'tier')::integer AS tier,
  p.value ->> 'executor' AS executor,
  ARRAY(SELECT jsonb_array_elements_text(p.value -> 'patterns')) AS patterns,
  ARRAY(SELECT jsonb_array_elements_text(p.value -> 'exclude_patterns')) AS exclude_patterns,
  ARRAY(SELECT jsonb_array_elements_text(p.value -> 'required_environment')) AS required_env,
  (p.value ->> 'timeout_seconds')::integer AS timeout_seconds,
  (p.value ->> 'requires_approval')::boolean AS requires_approval,
  true AS enabled,
  NULL::timestamptz AS created_at,
  p.value ->> 'command' AS command,
  p.value ->> 'workflow' AS workflow
FROM coxswain.records r
CROSS JOIN LATERAL jsonb_each(r.state -> 'policies') AS p(key, value)
WHERE r.kind = 'verification_policy' AND jsonb_typeof(p.value) = 'object';

-- What ran out is expired, whether or not a process has noticed yet.
CREATE VIEW coxswain.approval_queue WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state -> 'context' ->> 'changeset_id' AS changeset_id,
  r.state ->> 'requested_by' AS requested_by,
  r.state ->> 'operation' AS operation,
  r.state ->> 'subject' AS reason,
  jsonb_build_object('context', r.state -> 'context', 'findings', r.state -> 'findings') AS details,
  CASE WHEN r.state ->> 'status' IN ('pending', 'approved')
      AND (r.state ->> 'expires_at_ms')::double precision / 1000 <= extract(epoch FROM clock_timestamp()) THEN 'expired'
    ELSE r.state ->> 'status' END AS status,
  r.state ->> 'decided_by' AS decided_by,
  r.state ->> 'decision_reason' AS decision_reason,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at,
  to_timestamp((r.state ->> 'decided_at_ms')::double precision / 1000) AS decided_at,
  to_timestamp((r.state ->> 'expires_at_ms')::double precision / 1000) AS expires_at,
  r.state ->> 'kind' AS kind,
  r.state ->> 'agent_type' AS agent_type,
  r.state ->> 'session_id' AS session_id,
  r.state ->> 'shown_hash' AS shown_hash,
  to_timestamp((r.state ->> 'used_at_ms')::double precision / 1000) AS used_at
FROM coxswain.records r
WHERE r.kind = 'approval';

-- The same in every project: profiles differ in what they make of it (docs/guardrails.md). A test compares it with the code.
CREATE VIEW coxswain.operation_guardrails WITH (security_invoker = true) AS
SELECT NULL::text COLLATE "C" AS project,
  g.category COLLATE "C" AS id,
  g.category AS name,
  g.category AS category,
  '*'::text AS pattern,
  CASE g.behavior WHEN 'warn' THEN 'low' WHEN 'verify' THEN 'medium' WHEN 'review' THEN 'critical' ELSE 'high' END AS severity,
  g.behavior AS behavior,
  true AS enabled,
  NULL::timestamptz AS created_at
FROM (VALUES
  ('git_force'::text, 'block'::text),
  ('branch_deletion', 'block'),
  ('mass_deletion', 'block'),
  ('credential_modification', 'review'),
  ('production_deployment', 'block'),
  ('database_migration', 'verify'),
  ('history_rewrite', 'block'),
  ('infrastructure', 'block'),
  ('database_destruction', 'block'),
  ('package_publishing', 'block'),
  ('disk', 'block'),
  ('overwrite', 'block'),
  ('unread_code', 'block'),
  ('unresolved', 'block'),
  ('control_plane', 'block')
) AS g(category, behavior);

CREATE VIEW coxswain.guardrail_violations WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state ->> 'agent_id' AS agent_id,
  r.state ->> 'session_id' AS session_id,
  r.state ->> 'pattern_matched' AS guardrail,
  r.state ->> 'operation' AS operation,
  r.state ->> 'matched_text' AS matched_text,
  (r.state ->> 'blocked')::boolean AS blocked,
  (r.state ->> 'trust_level')::integer AS trust_level,
  r.state -> 'context' AS context,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at,
  r.state ->> 'agent_type' AS agent_type,
  r.state ->> 'category' AS category,
  r.state ->> 'outcome' AS outcome,
  r.state ->> 'approval_id' AS approval_id
FROM coxswain.records r
WHERE r.kind = 'violation';

-- Profiles, their agents, and named network policies. What ships is in the code: these are the rules that were made or changed
-- here, and none where nothing was.
CREATE VIEW coxswain.agent_profiles WITH (security_invoker = true) AS
SELECT r.project,
  p.value ->> 'name' AS name,
  p.value -> 'agent_types' ->> 0 AS agent_type,
  (p.value ->> 'trust_level')::integer AS trust_level,
  ARRAY(SELECT jsonb_array_elements_text(p.value -> 'allowed_operations')) AS allowed_operations,
  ARRAY(SELECT jsonb_array_elements_text(p.value -> 'blocked_operations')) AS blocked_operations,
  -- NULL: no limit.
  (p.value -> 'resource_limits' ->> 'max_file_modifications')::integer AS max_file_modifications,
  (p.value -> 'resource_limits' ->> 'max_execution_seconds')::integer AS max_execution_time_seconds,
  (p.value -> 'resource_limits' ->> 'max_api_calls_per_hour')::integer AS max_api_calls_per_hour,
  p.value -> 'network_policy' AS network_policy,
  p.value - 'name' - 'trust_level' - 'allowed_operations' - 'blocked_operations' - 'network_policy' AS metadata,
  true AS enabled,
  NULL::timestamptz AS created_at
FROM coxswain.records r
CROSS JOIN LATERAL jsonb_each(r.state -> 'profiles') p
WHERE r.kind = 'rulebook';

CREATE VIEW coxswain.agent_profile_assignments WITH (security_invoker = true) AS
SELECT r.project,
  a.value ->> 'agent_id' AS agent_id,
  a.value ->> 'agent_type' AS agent_type,
  a.value ->> 'profile' AS profile_id,
  NULL::text AS assigned_by,
  NULL::timestamptz AS assigned_at
FROM coxswain.records r
CROSS JOIN LATERAL jsonb_array_elements(r.state -> 'assignments') a
WHERE r.kind = 'rulebook';

-- Deny beats allow: it comes first.
CREATE VIEW coxswain.network_policies WITH (security_invoker = true) AS
SELECT r.project,
  n.key AS profile_id,
  d.value AS domain_pattern,
  k.action,
  k.priority
FROM coxswain.records r
CROSS JOIN LATERAL jsonb_each(r.state -> 'network_policies') n
CROSS JOIN LATERAL (VALUES ('deny', 1), ('allow', 2)) AS k(action, priority)
CROSS JOIN LATERAL jsonb_array_elements_text(n.value -> k.action) d
WHERE r.kind = 'rulebook';

-- Every attempt is a row of the log already, so the view reads it there.
CREATE VIEW coxswain.network_access_log WITH (security_invoker = true) AS
SELECT l.project,
  l.position::text AS id,
  l.agent_id,
  l.session_id,
  l.result ->> 'domain' AS domain,
  l.parameters ->> 'url' AS url,
  (l.result ->> 'allowed')::boolean AS allowed,
  coalesce((l.result ->> 'alert')::boolean, false) AS alert,
  l.result ->> 'policy' AS policy_id,
  l.result ->> 'why' AS reason,
  to_timestamp(l.at_ms / 1000) AS accessed_at,
  l.agent_type,
  (l.result ->> 'port')::integer AS port,
  l.result ->> 'rule' AS rule
FROM coxswain.log l
-- A question that was put wrong was no attempt.
WHERE l.operation = 'check_network' AND l.result ->> 'allowed' IS NOT NULL;

-- 9. Roles and rights, for a caller that does not come through the product but through PostgREST, Supabase or a database login.
--   anon              nothing
--   authenticated     reads its own project, as its signed token names it, and calls the functions that are open
--   service_role      reads everything and calls the same functions
--   coxswain_service  for the product's own login, where that is not the owner: GRANT coxswain_service TO it
-- The owner passes by row level security, which is therefore not forced: in a small set-up the product is the owner and pays
-- nothing for it.

-- The kinds of records that a project's agents may read; whatever a later version adds stays hidden until it is named.
CREATE FUNCTION coxswain.shown_kinds() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY['lock', 'task', 'session', 'handoff', 'changeset', 'verification_result', 'verification_policy', 'approval',
  'memory', 'working_memory', 'skill', 'profile', 'profile_assignment', 'network_policy', 'network_access', 'guardrail',
  'violation', 'claim'];

-- The functions that authenticated and service_role may call; the first three are what policies and views use.
CREATE FUNCTION coxswain.open_functions() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY['jwt_claim', 'shown_kinds', 'leases_of', 'acquire_lock', 'release_lock', 'claim_task', 'complete_task',
  'submit_task'];

-- Creates what a server that is not Supabase lacks, then gives and takes rights. Runs after every migration, so that what
-- that added is closed before any role can reach it; and by hand, once an administrator has created what we may not.
CREATE FUNCTION coxswain.bootstrap() RETURNS text[] LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET client_min_messages = error
AS $$
BEGIN
  -- As a migration does: one at a time, and no commit under way that holds what is altered here.
  PERFORM pg_advisory_xact_lock(1668249715);
  LOCK TABLE coxswain.meta IN ACCESS EXCLUSIVE MODE;
  PERFORM coxswain.create_roles();
  PERFORM coxswain.create_auth();
  PERFORM coxswain.close_schema();
  PERFORM coxswain.open_to_service();
  PERFORM coxswain.open_to_callers();
  PERFORM coxswain.lend_rights();
  PERFORM coxswain.publish();
  -- PostgREST keeps what it knows of a schema; this is how it is told to look again.
  PERFORM pg_notify('pgrst', 'reload schema');
  RETURN coxswain.missing();
END $$;

CREATE FUNCTION coxswain.create_roles() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_role text;
BEGIN
  FOREACH v_role IN ARRAY ARRAY['anon', 'authenticated', 'service_role', 'coxswain_service'] LOOP
    CONTINUE WHEN to_regrole(v_role) IS NOT NULL;
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
    EXCEPTION
      -- Roles are the whole server's: another database's migration was quicker. Or we may not: missing() says so.
      WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
    END;
  END LOOP;
END $$;

-- What policies written for Supabase expect. Never replaced where they exist.
CREATE FUNCTION coxswain.create_auth() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  IF to_regnamespace('auth') IS NULL THEN
    CREATE SCHEMA auth;
  END IF;
  IF to_regprocedure('auth.role()') IS NULL THEN
    CREATE FUNCTION auth.role() RETURNS text LANGUAGE sql STABLE
    RETURN nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role';
  END IF;
  IF to_regprocedure('auth.uid()') IS NULL THEN
    CREATE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE
    RETURN (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid;
  END IF;
EXCEPTION
  WHEN insufficient_privilege THEN NULL;
END $$;

-- New functions can be called by every role, and per schema that default can't be changed; a server may have defaults of its
-- own as well. So everything is taken back each time, and what is meant is given again.
CREATE FUNCTION coxswain.close_schema() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_role text;
  v_table regclass;
BEGIN
  FOREACH v_role IN ARRAY ARRAY['public', 'anon', 'authenticated', 'service_role'] LOOP
    CONTINUE WHEN v_role <> 'public' AND to_regrole(v_role) IS NULL;
    EXECUTE format('REVOKE ALL ON SCHEMA coxswain FROM %s', v_role);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA coxswain FROM %s', v_role);
    EXECUTE format('REVOKE ALL ON ALL ROUTINES IN SCHEMA coxswain FROM %s', v_role);
  END LOOP;
  FOR v_table IN
    SELECT c.oid FROM pg_class c
    WHERE c.relnamespace = 'coxswain'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', v_table);
  END LOOP;
END $$;

CREATE FUNCTION coxswain.allow(p_table regclass, p_role text, p_command text, p_rows text) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_name text := 'coxswain_' || p_role;
BEGIN
  IF EXISTS (SELECT FROM pg_policy WHERE polrelid = p_table AND polname = v_name) THEN
    RETURN;
  END IF;
  EXECUTE format('CREATE POLICY %I ON %s FOR %s TO %I USING (%s)', v_name, p_table, p_command, p_role, p_rows);
END $$;

-- The product itself: everything its functions do, and nothing that would change what is in the log.
CREATE FUNCTION coxswain.open_to_service() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_table regclass;
BEGIN
  IF to_regrole('coxswain_service') IS NULL THEN
    RETURN;
  END IF;
  GRANT USAGE ON SCHEMA coxswain TO coxswain_service;
  GRANT EXECUTE ON ALL ROUTINES IN SCHEMA coxswain TO coxswain_service;
  GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA coxswain TO coxswain_service;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA coxswain TO coxswain_service;
  REVOKE UPDATE, DELETE ON coxswain.log FROM coxswain_service;
  IF to_regclass('coxswain.seals') IS NOT NULL THEN
    REVOKE UPDATE, DELETE ON coxswain.seals FROM coxswain_service;
  END IF;
  REVOKE INSERT, UPDATE, DELETE ON coxswain.meta FROM coxswain_service;
  FOR v_table IN
    SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'coxswain'::regnamespace AND c.relkind IN ('r', 'p')
  LOOP
    PERFORM coxswain.allow(v_table, 'coxswain_service', 'ALL', 'true');
  END LOOP;
END $$;

CREATE FUNCTION coxswain.open_to_callers() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_role text;
  v_object text;
BEGIN
  FOREACH v_role IN ARRAY ARRAY['authenticated', 'service_role'] LOOP
    CONTINUE WHEN to_regrole(v_role) IS NULL;
    EXECUTE format('GRANT USAGE ON SCHEMA coxswain TO %I', v_role);
    IF pg_has_role((SELECT nspowner FROM pg_namespace WHERE nspname = 'auth'), 'USAGE') THEN
      EXECUTE format('GRANT USAGE ON SCHEMA auth TO %I', v_role);
    END IF;
    FOR v_object IN
      SELECT p.oid::regprocedure FROM pg_proc p
      WHERE p.pronamespace = 'coxswain'::regnamespace AND p.proname = ANY (coxswain.open_functions())
    LOOP
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', v_object, v_role);
    END LOOP;
    -- Only those that look with the rights of the role that asks: any other would show the owner's view of all projects.
    FOR v_object IN
      SELECT c.oid::regclass FROM pg_class c
      WHERE c.relnamespace = 'coxswain'::regnamespace AND c.relkind = 'v' AND 'security_invoker=true' = ANY (c.reloptions)
    LOOP
      EXECUTE format('GRANT SELECT ON %s TO %I', v_object, v_role);
    END LOOP;
  END LOOP;
  IF to_regrole('authenticated') IS NOT NULL THEN
    GRANT SELECT ON coxswain.records TO authenticated;
    -- Without the events: they tell of records that are not shown.
    GRANT SELECT (project, position, schema, at_ms, agent_id, agent_type, session_id, sequence, operation, operation_id,
      parameters, result, duration_ms) ON coxswain.log TO authenticated;
    -- In brackets with SELECT the claim is read once per statement, not once per row.
    PERFORM coxswain.allow('coxswain.records', 'authenticated', 'SELECT',
      'project = (SELECT coxswain.jwt_claim(''project'')) AND kind = ANY (coxswain.shown_kinds())');
    PERFORM coxswain.allow('coxswain.log', 'authenticated', 'SELECT', 'project = (SELECT coxswain.jwt_claim(''project''))');
  END IF;
  IF to_regrole('service_role') IS NOT NULL THEN
    FOR v_object IN
      SELECT c.oid::regclass FROM pg_class c WHERE c.relnamespace = 'coxswain'::regnamespace AND c.relkind IN ('r', 'p')
    LOOP
      EXECUTE format('GRANT SELECT ON %s TO service_role', v_object);
      PERFORM coxswain.allow(v_object::regclass, 'service_role', 'SELECT', 'true');
    END LOOP;
  END IF;
END $$;

-- The open functions act with the rights of their owner. Where that is a superuser, they are handed to the product's role: it
-- may do all they need and, of the log, change nothing.
CREATE FUNCTION coxswain.lend_rights() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_function regprocedure;
BEGIN
  FOR v_function IN
    SELECT p.oid FROM pg_proc p JOIN pg_roles o ON o.oid = p.proowner
    WHERE p.pronamespace = 'coxswain'::regnamespace AND p.prosecdef AND p.proname = ANY (coxswain.open_functions())
      AND o.rolsuper AND to_regrole('coxswain_service') IS NOT NULL
  LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO coxswain_service', v_function);
  END LOOP;
END $$;

-- Views can't be published; the two tables below them can, as far as a project's agents may read them.
CREATE FUNCTION coxswain.publish() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_table text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = 'supabase_realtime') THEN
    CREATE PUBLICATION supabase_realtime;
  END IF;
  -- All tables are published already: nothing to add, and nothing could be.
  IF (SELECT puballtables FROM pg_publication WHERE pubname = 'supabase_realtime') THEN
    RETURN;
  END IF;
  FOR v_table IN
    SELECT format('coxswain.%I', t.tablename) FROM pg_publication_tables t
    WHERE t.pubname = 'supabase_realtime' AND t.schemaname = 'coxswain' AND t.tablename IN ('records', 'log')
  LOOP
    EXECUTE 'ALTER PUBLICATION supabase_realtime DROP TABLE ' || v_table;
  END LOOP;
  EXECUTE format('ALTER PUBLICATION supabase_realtime ADD TABLE coxswain.records WHERE (kind = ANY (%L::text[])),
    coxswain.log (project, position, schema, at_ms, agent_id, agent_type, session_id, sequence, operation, operation_id,
    parameters, result, duration_ms)', coxswain.shown_kinds());
EXCEPTION
  WHEN insufficient_privilege THEN NULL;
END $$;

-- What could not be created or given, in words for `cox status`.
CREATE FUNCTION coxswain.missing() RETURNS text[] LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
RETURN ARRAY(
  SELECT CASE WHEN to_regrole(r.role) IS NULL THEN 'role ' || r.role ELSE 'the rights of role ' || r.role END
  FROM (VALUES ('anon', false), ('authenticated', true), ('service_role', true), ('coxswain_service', true)) AS r(role, enters)
  WHERE to_regrole(r.role) IS NULL OR r.enters AND NOT has_schema_privilege(to_regrole(r.role), 'coxswain', 'USAGE')
) || ARRAY(
  SELECT 'function ' || f FROM unnest(ARRAY['auth.role()', 'auth.uid()']) AS f
  WHERE NOT EXISTS (
    SELECT FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname || '.' || p.proname || '()' = f AND p.pronargs = 0)
  ORDER BY f
) || ARRAY(
  SELECT 'tables in publication supabase_realtime'
  WHERE NOT EXISTS (
    SELECT FROM pg_publication_tables t
    WHERE t.pubname = 'supabase_realtime' AND t.schemaname = 'coxswain' AND t.tablename = 'records')
);
