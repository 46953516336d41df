-- Many proposals, one transaction, one fsync. Each is committed whole or is a conflict of its own; the caller has seen to
-- it that no two of a group touch the same entity unless both only expect it (a clash fails the group as 40001 and the
-- caller tries them one by one).
--   items    {i, p, a, o, g, n, c, u}: number, project, agent, operation id, digest, the time from which it must not be
--            committed any more (an expiry it relies on, or when its caller gives up: a stopped server goes on where it
--            was, and must do nothing behind a caller's back), how many it creates and updates; t marks a take
--   touches  {i, p, k, d, v, w}: entity, the version it must have (0: absent), whether it is written
CREATE FUNCTION coxswain.commit_group(
  p_epoch integer, p_items jsonb, p_touches jsonb, p_creates jsonb, p_updates jsonb,
  p_links json, p_rows json, p_takes jsonb, p_notes json
) RETURNS json LANGUAGE plpgsql VOLATILE
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
  v_linked boolean;
  v_positions bigint[];
  v_creates bigint;
  v_updates bigint;
  v_rows bigint;
  v_written bigint;
  v_takes jsonb;
  v_taken json;
BEGIN
  -- Reading it holds meta's lock to the end, and a migration that raises the epoch locks meta: no commit of an older process
  -- ends after the migration.
  IF (SELECT epoch FROM meta) > p_epoch THEN
    RAISE EXCEPTION 'a newer Coxswain has raised the epoch of this store past %', p_epoch USING ERRCODE = 'COX01';
  END IF;

  -- All locks of the group in one order, so nobody waits in a circle: exclusive per written entity and operation id,
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
        SELECT lock_key(t.p, t.k, t.d) AS key, t.w, t.i
        FROM jsonb_to_recordset(p_touches) AS t(i integer, p text, k text, d text, w boolean)
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

  SELECT array_agg(q.i),
    json_agg(json_build_object('i', q.i, 'digest', o.input_digest, 'position', o.position, 'answer', l.result))
  INTO v_seen, v_recalled
  FROM jsonb_to_recordset(p_items) AS q(i integer, p text, a text, o text)
  JOIN operations o ON o.project = q.p AND o.agent_id = q.a AND o.operation_id = q.o AND o.at_ms >= v_now - 86400000
  JOIN log l ON l.project = o.project AND l.position = o.position;

  SELECT array_agg(t.i) FILTER (WHERE coalesce(r.version, 0) <> t.v), coalesce(bool_or(r.linked AND t.w), false)
  INTO v_out, v_linked
  FROM jsonb_to_recordset(p_touches) AS t(i integer, p text, k text, d text, v bigint, w boolean)
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
    -- What was checked under the locks is written as checked; anything else (somebody past our functions) undoes the group.
    IF v_creates > 0 THEN
      WITH created AS (
        INSERT INTO records (project, kind, id, version, born, state, sort_key, group_key, linked)
        SELECT w.p, w.k, w.d, w.v, v_positions[w.i + 1], w.s, w.x, w.y, coalesce(w.l, false)
        FROM jsonb_to_recordset(p_creates)
          AS w(i integer, p text, k text, d text, v bigint, s jsonb, x text, y text, l boolean)
        WHERE v_positions[w.i + 1] IS NOT NULL
        ON CONFLICT DO NOTHING RETURNING 1
      ) SELECT count(*) INTO v_written FROM created;
      IF v_written <> v_creates THEN
        RAISE EXCEPTION 'a record appeared beside the locks' USING ERRCODE = '40001';
      END IF;
    END IF;
    IF v_updates > 0 THEN
      UPDATE records r
      SET version = w.v, state = w.s, sort_key = w.x, group_key = w.y, linked = coalesce(w.l, false)
      FROM jsonb_to_recordset(p_updates)
        AS w(i integer, p text, k text, d text, v bigint, e bigint, s jsonb, x text, y text, l boolean)
      WHERE v_positions[w.i + 1] IS NOT NULL
        AND r.project = w.p AND r.kind = w.k AND r.id = w.d AND r.version = w.e;
      GET DIAGNOSTICS v_written = ROW_COUNT;
      IF v_written <> v_updates THEN
        RAISE EXCEPTION 'a record changed beside the locks' USING ERRCODE = '40001';
      END IF;
    END IF;
    IF v_linked THEN
      DELETE FROM links k USING jsonb_to_recordset(p_updates) AS w(i integer, p text, k text, d text)
      WHERE v_positions[w.i + 1] IS NOT NULL AND k.project = w.p AND k.kind = w.k AND k.id = w.d;
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
      w.operation, w.operation_id, w.parameters, w.result, w.duration_ms, w.events
    FROM json_to_recordset(p_rows) AS w(i integer, project text, schema integer, at_ms double precision, agent_id text,
      agent_type text, session_id text, sequence bigint, operation text, operation_id text, parameters json, result json,
      duration_ms double precision, events json)
    WHERE v_positions[w.i + 1] IS NOT NULL;
    INSERT INTO operations AS o (project, agent_id, operation_id, input_digest, position, at_ms)
    SELECT q.p, q.a, q.o, q.g, v_positions[q.i + 1], v_now
    FROM jsonb_to_recordset(p_items) AS q(i integer, p text, a text, o text, g text)
    WHERE v_positions[q.i + 1] IS NOT NULL
    ON CONFLICT (project, agent_id, operation_id) DO UPDATE
    SET input_digest = excluded.input_digest, position = excluded.position, at_ms = excluded.at_ms;
  END IF;

  -- Takes last: they wait for nothing, so whoever waits for a row they looked at does not wait in a circle.
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
  RETURN json_build_object('now', v_now, 'positions', v_positions, 'seen', v_recalled, 'takes', v_taken);
END $$;
