-- Tasks that are files of a work directory (domain/queue/filed.ts).
CREATE FUNCTION coxswain.filed_path(p_file jsonb) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE p_file ->> 'directory' WHEN '.' THEN '' ELSE p_file ->> 'directory' || '/' END || (p_file ->> 'path');

CREATE OR REPLACE VIEW coxswain.work_queue WITH (security_invoker = true) AS
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
  -- Written out: whoever reads the view need not be allowed to call anything.
  CASE r.state #>> '{file,directory}' WHEN '.' THEN '' ELSE r.state #>> '{file,directory}' || '/' END
    || (r.state #>> '{file,path}') AS file_path,
  r.state #>> '{file,agent}' AS file_agent
FROM coxswain.records r
WHERE r.kind = 'task';

-- As 011 has it, with the remedy for these.
CREATE OR REPLACE FUNCTION coxswain.api_refusal(p_code text, p_message text, p_details jsonb DEFAULT '{}') RETURNS jsonb
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

-- As 011 has it; what is a file is ended by its file alone (domain/queue/mirror-work.ts).
CREATE OR REPLACE FUNCTION coxswain.try_complete_task(
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
