-- An id of our own making is asked for again only when the line broke under it: it needs no entry that is kept for a day, the
-- log itself tells. Items gain: m, the caller named the id itself; s, sent for the second time, and before the first time
-- nothing was known of the log after this position.
CREATE OR REPLACE FUNCTION coxswain.commit_group(
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
  v_resent json;
  v_named boolean;
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
    IF v_named THEN
      INSERT INTO operations AS o (project, agent_id, operation_id, input_digest, position, at_ms)
      SELECT q.p, q.a, q.o, q.g, v_positions[q.i + 1], v_now
      FROM jsonb_to_recordset(p_items) AS q(i integer, p text, a text, o text, g text, m boolean)
      WHERE q.m AND v_positions[q.i + 1] IS NOT NULL
      ON CONFLICT (project, agent_id, operation_id) DO UPDATE
      SET input_digest = excluded.input_digest, position = excluded.position, at_ms = excluded.at_ms;
    END IF;
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
  RETURN json_build_object('now', v_now, 'positions', v_positions, 'seen', v_recalled, 'resent', v_resent, 'takes', v_taken);
END $$;

-- grant, evolve of task_claimed, index, the answer and the log row: in the pure code these are lease.ts, task.ts,
-- get-work.ts and log.ts. The answer is put together as text: as jsonb it cost as much as all the rest.
CREATE OR REPLACE FUNCTION coxswain.claim(p_project text, p_takes jsonb, p_ids text[], p_takers integer[], p_now_ms bigint)
RETURNS json[] LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  -- By the takes' numbers: what a claim changes in a task, when the claim ends, and the due key of that.
  v_changes jsonb[];
  v_times text[];
  v_keys text[];
  v_take record;
  v_results json[];
BEGIN
  FOR v_take IN
    SELECT t.i, p_now_ms::double precision + t.lease_ms AS expires_ms, t.agent_id, t.agent_type, t.session_id
    FROM jsonb_to_recordset(p_takes)
      AS t(i integer, agent_id text, agent_type text, session_id text, lease_ms double precision)
  LOOP
    v_changes[v_take.i] := jsonb_build_object('status', 'claimed', 'attempt_count', 1, 'claimed_at_ms', p_now_ms,
      'lease', jsonb_build_object('agent_id', v_take.agent_id, 'agent_type', v_take.agent_type,
        'session_id', v_take.session_id, 'token', p_now_ms, 'granted_at_ms', p_now_ms, 'expires_at_ms', v_take.expires_ms));
    v_keys[v_take.i] := 'due/' || lpad(floor(v_take.expires_ms)::bigint::text, 15, '0');
    v_times[v_take.i] := coxswain.iso_time(v_take.expires_ms);
  END LOOP;

  WITH claimed AS (
    UPDATE coxswain.records r SET
      version = greatest(r.version + 1, p_now_ms),
      -- A first attempt on a task that is older than this millisecond, as nearly all are, needs nothing of its own.
      state = CASE WHEN r.version < p_now_ms AND r.state -> 'attempt_count' = '0'
        THEN r.state || v_changes[p_takers[array_position(p_ids, r.id)]]
        ELSE r.state || jsonb_set(
          v_changes[p_takers[array_position(p_ids, r.id)]]
            || jsonb_build_object('attempt_count', (r.state -> 'attempt_count')::integer + 1),
          '{lease,token}', to_jsonb(greatest(r.version + 1, p_now_ms)))
      END,
      sort_key = v_keys[p_takers[array_position(p_ids, r.id)]],
      group_key = NULL
    -- Not a join with the ids: planned over an empty table, that walked all tasks.
    WHERE r.project = p_project AND r.kind = 'task' AND r.id = ANY (p_ids)
    RETURNING array_position(p_ids, r.id) AS place, r.id, r.version, r.born, r.state
  ), answers AS MATERIALIZED (
    SELECT p_takers[c.place] AS i, nextval('coxswain.log_position'::regclass) AS position,
      format('[%s]', string_agg(
        format('{"kind":"task","id":%s,"type":"task_claimed","data":{"lease":%s}}', to_json(c.id), c.state -> 'lease'),
        ',' ORDER BY c.place))::json AS events,
      format('{"success":true,"tasks":[%s]}', string_agg(
        format('{"task_id":%s,"task_type":%s,"task_description":%s%s,"priority":%s%s%s,"attempt":%s,"expires_at":"%s","fencing_token":%s}',
          to_json(c.id), c.state -> 'task_type', c.state -> 'description',
          ',"input_data":' || (c.state -> 'input_data')::text,
          c.state -> 'priority',
          CASE WHEN c.state -> 'files' <> '[]' THEN ',"files":' || (c.state -> 'files')::text END,
          CASE WHEN c.state -> 'failed_dependencies' <> '[]'
            THEN ',"failed_dependencies":' || (c.state -> 'failed_dependencies')::text END,
          c.state -> 'attempt_count', v_times[p_takers[c.place]], c.version),
        ',' ORDER BY c.place))::json AS answer,
      format('[%s]', string_agg(format('[%s,%s,%s,%s]', to_json(c.id), c.version, c.born, c.state), ',' ORDER BY c.place))::json
        AS records
    FROM claimed c GROUP BY p_takers[c.place] ORDER BY p_takers[c.place]
  ), logged AS (
    INSERT INTO coxswain.log (position, project, schema, at_ms, agent_id, agent_type, session_id, sequence, operation,
      operation_id, parameters, result, duration_ms, events)
    SELECT a.position, p_project, t.schema, p_now_ms, t.agent_id, t.agent_type, t.session_id, t.sequence, t.operation, t.o,
      t.parameters, a.answer, t.duration_ms, a.events
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
  SELECT array_agg(json_build_object('i', a.i, 'position', a.position, 'answer', a.answer, 'records', a.records))
  INTO v_results FROM answers a;
  RETURN v_results;
END $$;
