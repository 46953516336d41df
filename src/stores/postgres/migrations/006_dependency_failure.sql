-- Tasks that skip or run when a dependency fails. An older process would leave them waiting, so it may not write any more.
UPDATE coxswain.meta SET epoch = 2;

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
    FROM answers a JOIN jsonb_to_recordset(p_takes) AS t(i integer, o text, g text, agent_id text) ON t.i = a.i
    ON CONFLICT (project, agent_id, operation_id) DO UPDATE
    SET input_digest = excluded.input_digest, position = excluded.position, at_ms = excluded.at_ms
  )
  SELECT array_agg(json_build_object('i', a.i, 'position', a.position, 'answer', a.answer, 'records', a.records))
  INTO v_results FROM answers a;
  RETURN v_results;
END $$;

CREATE OR REPLACE VIEW coxswain.work_queue WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state ->> 'task_type' AS task_type,
  r.state ->> 'description' AS description,
  r.state -> 'input_data' AS input_data,
  r.state -> 'lease' ->> 'agent_id' AS claimed_by,
  to_timestamp((r.state ->> 'claimed_at_ms')::double precision / 1000) AS claimed_at,
  (r.state ->> 'priority')::integer AS priority,
  ARRAY(SELECT jsonb_array_elements_text(r.state -> 'depends_on')) AS depends_on,
  CASE r.state ->> 'status' WHEN 'blocked' THEN 'pending' WHEN 'delayed' THEN 'pending' WHEN 'dead' THEN 'failed'
    WHEN 'skipped' THEN 'cancelled' ELSE r.state ->> 'status' END AS status,
  r.state -> 'result' AS result,
  r.state ->> 'error_message' AS error_message,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at,
  to_timestamp((r.state ->> 'claimed_at_ms')::double precision / 1000) AS started_at,
  to_timestamp((r.state ->> 'ended_at_ms')::double precision / 1000) AS completed_at,
  NULL::timestamptz AS deadline,
  (r.state ->> 'attempt_count')::integer AS attempt_count,
  (r.state ->> 'max_attempts')::integer AS max_attempts,
  -- Our own word for it: blocked and delayed are kinds of pending, dead is a kind of failed, skipped of cancelled.
  r.state ->> 'status' AS task_status
FROM coxswain.records r
WHERE r.kind = 'task';
