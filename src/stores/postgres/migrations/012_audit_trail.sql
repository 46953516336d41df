-- The audit trail: searched, sealed behind the log, shortened by retention and by nothing else. No commit touches any of it.

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

-- The one way out. The setting alone opens nothing: only a statement of the table's owner passes, and retention's function,
-- which checks what it removes, runs as the owner.
CREATE OR REPLACE FUNCTION coxswain.log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('coxswain.retention', true) = 'on'
    AND current_user = (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = TG_RELID) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'the log of Coxswain is append-only: % refused', TG_OP USING ERRCODE = 'COX02';
END $$;

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
-- Retention is a person's with the store in hands; no role of an agent gets it.
REVOKE EXECUTE ON FUNCTION coxswain.remove_rows(text, bigint, text, bigint[], json) FROM PUBLIC;
