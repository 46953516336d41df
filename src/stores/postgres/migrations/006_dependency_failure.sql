-- Tasks that skip or run when a dependency fails. An older process would leave them waiting, so it may not write any more.
UPDATE coxswain.meta SET epoch = 2;

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
