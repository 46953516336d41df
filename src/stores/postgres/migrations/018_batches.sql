-- Batches were held up by JSON that was read again and again: the entities of a group by each of four statements, a row of the
-- log three times. What commit_group was given as JSON, write_group is given as arrays, one element for each entity: first what
-- the jobs write, then what they only expect (its version is NULL). Texts of JSON stand one in a line, for JSON itself has no
-- line breaks: the states of what is written, and of each row its parameters, result and events.
--   items    {i, p, a, o, g, m, n, s, c, u, t}: see commit_group in 003 and 008
--   jobs, projects, kinds, ids, expected (0: absent), versions, sort, group, linked: of each entity
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
    -- What was checked under the locks is written as checked; anything else (somebody past our functions) undoes the group.
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
  RETURN concat('{"now":', v_now, ',"positions":', coalesce(to_json(v_positions)::text, 'null'),
    ',"seen":', coalesce(v_recalled::text, 'null'), ',"resent":', coalesce(v_resent::text, 'null'),
    ',"takes":', coalesce(v_taken, 'null'), '}');
END $$;

-- For processes that know only this one, and for the calls in 011.
CREATE OR REPLACE FUNCTION coxswain.commit_group(
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

-- What each take comes to is put together as text all the way: as JSON it was read and copied at each of four steps.
DROP FUNCTION coxswain.take_group(jsonb, bigint), coxswain.take_from(text, text[], jsonb, bigint),
  coxswain.claim(text, jsonb, text[], integer[], bigint);

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

-- The takes of one queue: all of a project, or some types of it. Who came first chooses first; what is handed out is then
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
  -- All of them can be had by anybody: no need to look at each.
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
  -- Who may have what before those who stand in line is left to the pure decision, taken when something is ready.
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

-- As it was, but written for many at once; a token is always the version that comes with it.
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

-- The first task that time or a finished parent has changed by now, as [id, version, born, state].
CREATE OR REPLACE FUNCTION coxswain.first_due(p_project text, p_now_ms bigint) RETURNS json LANGUAGE plpgsql VOLATILE
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
