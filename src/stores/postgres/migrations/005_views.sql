-- The tables of the seed under their names, readable; whoever reads needs the right to read the ledger itself.
CREATE VIEW coxswain.file_locks WITH (security_invoker = true) AS
SELECT r.project,
  r.id AS file_path,
  r.state -> 'lease' ->> 'agent_id' AS locked_by,
  r.state -> 'lease' ->> 'agent_type' AS agent_type,
  r.state -> 'lease' ->> 'session_id' AS session_id,
  to_timestamp((r.state -> 'lease' ->> 'granted_at_ms')::double precision / 1000) AS locked_at,
  to_timestamp((r.state -> 'lease' ->> 'expires_at_ms')::double precision / 1000) AS expires_at,
  r.state ->> 'reason' AS reason,
  jsonb_build_object('fencing_token', r.state -> 'lease' -> 'token') AS metadata
FROM coxswain.records r
-- A lock past its expiry is free, whether or not anybody has noticed yet.
WHERE r.kind = 'lock' AND (r.state -> 'lease' ->> 'expires_at_ms')::double precision / 1000 > extract(epoch FROM clock_timestamp());

CREATE VIEW coxswain.work_queue WITH (security_invoker = true) AS
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
    ELSE r.state ->> 'status' END AS status,
  r.state -> 'result' AS result,
  r.state ->> 'error_message' AS error_message,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at,
  to_timestamp((r.state ->> 'claimed_at_ms')::double precision / 1000) AS started_at,
  to_timestamp((r.state ->> 'ended_at_ms')::double precision / 1000) AS completed_at,
  NULL::timestamptz AS deadline,
  (r.state ->> 'attempt_count')::integer AS attempt_count,
  (r.state ->> 'max_attempts')::integer AS max_attempts,
  -- Our own word for it: blocked and delayed are kinds of pending, dead is a kind of failed.
  r.state ->> 'status' AS task_status
FROM coxswain.records r
WHERE r.kind = 'task';

CREATE VIEW coxswain.audit_log WITH (security_invoker = true) AS
SELECT l.project, l.position, to_timestamp(l.at_ms / 1000) AS "timestamp", l.agent_id, l.agent_type, l.session_id,
  l.sequence, l.operation, l.parameters, l.result, l.duration_ms, l.operation_id
FROM coxswain.log l;
