-- The store's steps, each one call. What is called from outside fixes search_path, and the planner's settings, because
-- its statements are planned once per session, often while the tables are still empty. The helpers inherit both (a SET per
-- nested call costs a tenth of a commit), so they name everything in full.

CREATE FUNCTION coxswain.now_ms() RETURNS bigint LANGUAGE sql VOLATILE
RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- Advisory locks: two-integer form for what a commit touches.
CREATE FUNCTION coxswain.lock_key(project text, kind text, id text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(project || '/' || kind || '/' || id, 0);

CREATE FUNCTION coxswain.try_lock(key bigint) RETURNS boolean LANGUAGE sql VOLATILE
RETURN pg_try_advisory_xact_lock((key >> 32)::integer, ((key << 32) >> 32)::integer);

CREATE FUNCTION coxswain.try_lock_shared(key bigint) RETURNS boolean LANGUAGE sql VOLATILE
RETURN pg_try_advisory_xact_lock_shared((key >> 32)::integer, ((key << 32) >> 32)::integer);

-- Before a transaction takes positions it holds, shared, a lock (one-integer form, 0x6378 on top) on this number, which is
-- below all of them. Whoever reads the log stays behind the lowest of these (safe_position).
CREATE FUNCTION coxswain.position_floor() RETURNS bigint LANGUAGE sql VOLATILE
RETURN (25464::bigint << 48) | coalesce(pg_sequence_last_value('coxswain.log_position'::regclass), 0);

-- Up to here no commit is under way any more. A writer's lock is there before its position is taken, and goes only after
-- its rows are visible; so whoever took a position up to `last` is either seen in pg_locks or done.
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

-- Audit rows of reads and refusals on their own: soon on disk, but nobody waits for it.
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

-- A hint for whoever watches, outside any commit: NOTIFY inside it costs three quarters of the appends.
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
