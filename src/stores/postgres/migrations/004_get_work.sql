-- get_work as one step for everybody in a group: the second implementation of src/features/queue/get-work.ts, which is its
-- oracle in the tests. Called by commit_group, which holds the operation ids' locks, has announced positions and has taken
-- the time. It never waits: a row or an entity that somebody else is changing is passed over.
--   takes    {i, p, o, g, agent_id, agent_type, session_id, types, count, lease_ms, settled, and the fields of a log row}
--   answers  {i, position, answer} | {i, due: the first due record} | {i, none, ready: whether something was passed over}
CREATE FUNCTION coxswain.take_group(p_takes jsonb, p_now_ms bigint) RETURNS json LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_queue record;
  v_results json[] := '{}';
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
  RETURN to_json(v_results);
END $$;

-- The takes of one queue: all of a project, or some types of it. Who came first chooses first; what is handed out is then
-- written in one go.
CREATE FUNCTION coxswain.take_from(p_project text, p_types text[], p_takes jsonb, p_now_ms bigint) RETURNS json[]
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
  v_results json[] := '{}';
BEGIN
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
      v_results := v_results || json_build_object('i', v_take.i, 'due', v_due);
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
    v_results := v_results || ARRAY(
      SELECT json_build_object('i', n, 'none', true, 'ready', coxswain.any_ready(p_project, p_types)) FROM unnest(v_none) AS n);
  END IF;
  RETURN v_results;
END $$;

-- The first tasks of the list that this agent can have and nobody has been given. NULL (unless p_final): one of the heads
-- can't be had, and behind it may stand one of its type that comes before the other types' heads.
CREATE FUNCTION coxswain.choose(
  p_project text, p_types text[], p_ids text[], p_files jsonb[], p_taken text[], p_count integer, p_agent_id text,
  p_now_ms bigint, p_final boolean
) RETURNS text[] LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_got text[] := '{}';
  v_candidates integer := 0;
  v_passed boolean := false;
  -- A commit touches at most 90 entities, and the files' locks count: no more tasks are looked at than that allows.
  v_budget integer := 90 - p_count;
BEGIN
  FOR at IN 1 .. coalesce(cardinality(p_ids), 0) LOOP
    CONTINUE WHEN p_ids[at] = ANY (p_taken);
    v_budget := v_budget - jsonb_array_length(p_files[at]);
    EXIT WHEN v_budget < 0;
    v_candidates := v_candidates + 1;
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

-- The first task that time or a finished parent has changed by now, as [id, version, born, state].
CREATE FUNCTION coxswain.first_due(p_project text, p_now_ms bigint) RETURNS json LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_first record;
  v_due_ms double precision;
BEGIN
  SELECT r.id, r.version, r.born, r.state, r.sort_key INTO v_first FROM coxswain.records r
  WHERE r.project = p_project AND r.kind = 'task' AND r.sort_key >= 'due/' AND r.sort_key < 'due0'
  ORDER BY r.sort_key, r.born, r.id LIMIT 1;
  IF NOT FOUND OR v_first.sort_key > 'due/' || lpad(p_now_ms::text, 15, '0') THEN
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

-- The first ready tasks, of each type, in order. Several types are merged without locking first, or everyone would hold
-- the heads of types it then does not take; whoever takes one asks still_ready.
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

CREATE FUNCTION coxswain.still_ready(p_project text, p_id text) RETURNS boolean LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  PERFORM FROM coxswain.records r
  WHERE r.project = p_project AND r.kind = 'task' AND r.id = p_id AND r.sort_key >= 'ready/' AND r.sort_key < 'ready0'
  FOR UPDATE SKIP LOCKED;
  RETURN FOUND;
END $$;

-- The locks' entities are held shared before they are read, as an expectation is: nobody locks a file in between.
CREATE FUNCTION coxswain.files_are_free(p_project text, p_files jsonb, p_agent_id text, p_now_ms bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_paths text[] := ARRAY(SELECT jsonb_array_elements_text(p_files));
BEGIN
  IF NOT (SELECT bool_and(coxswain.try_lock_shared(coxswain.lock_key(p_project, 'lock', f))) FROM unnest(v_paths) AS f) THEN
    RETURN false;
  END IF;
  RETURN NOT EXISTS (
    SELECT FROM coxswain.records r
    WHERE r.project = p_project AND r.kind = 'lock' AND r.id = ANY (v_paths)
      AND (r.state -> 'lease' ->> 'expires_at_ms')::double precision > p_now_ms
      AND r.state -> 'lease' ->> 'agent_id' <> p_agent_id);
END $$;

-- grant, evolve of task_claimed, index, the answer and the log row: in the pure code these are lease.ts, task.ts,
-- get-work.ts and log.ts. The answer is put together as text: as jsonb it cost as much as all the rest.
CREATE FUNCTION coxswain.claim(p_project text, p_takes jsonb, p_ids text[], p_takers integer[], p_now_ms bigint)
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
        format('{"task_id":%s,"task_type":%s,"task_description":%s%s,"priority":%s%s,"attempt":%s,"expires_at":"%s","fencing_token":%s}',
          to_json(c.id), c.state -> 'task_type', c.state -> 'description',
          ',"input_data":' || (c.state -> 'input_data')::text,
          c.state -> 'priority',
          CASE WHEN c.state -> 'files' <> '[]' THEN ',"files":' || (c.state -> 'files')::text END,
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
    FROM answers a JOIN jsonb_to_recordset(p_takes) AS t(i integer, o text, g text, agent_id text) ON t.i = a.i
    ON CONFLICT (project, agent_id, operation_id) DO UPDATE
    SET input_digest = excluded.input_digest, position = excluded.position, at_ms = excluded.at_ms
  )
  SELECT array_agg(json_build_object('i', a.i, 'position', a.position, 'answer', a.answer, 'records', a.records))
  INTO v_results FROM answers a;
  RETURN v_results;
END $$;

CREATE FUNCTION coxswain.iso_time(p_ms double precision) RETURNS text LANGUAGE sql STABLE
RETURN to_char(to_timestamp(floor(p_ms) / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
