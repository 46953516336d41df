-- Verification as the seed's tables have it. A changeset's status is that of its runs, the worst first; policies are those that
-- were set here (what ships is in the product, see `cox verification list`).

CREATE OR REPLACE VIEW coxswain.verification_results WITH (security_invoker = true) AS
SELECT
  r.project,
  r.id,
  r.state ->> 'changeset_id' AS changeset_id,
  r.state -> 'policy' ->> 'name' AS policy,
  (r.state -> 'policy' ->> 'tier')::integer AS tier,
  coalesce(r.state ->> 'executor', r.state -> 'policy' ->> 'executor') AS executor,
  r.state ->> 'status' AS status,
  r.state -> 'output' AS output,
  r.state ->> 'error_message' AS error_message,
  to_timestamp((r.state ->> 'started_at_ms')::double precision / 1000) AS started_at,
  to_timestamp((r.state ->> 'completed_at_ms')::double precision / 1000) AS completed_at,
  (r.state ->> 'completed_at_ms')::double precision - (r.state ->> 'started_at_ms')::double precision AS duration_ms,
  r.state ->> 'commit_sha' AS commit_sha,
  (r.state ->> 'exit_code')::integer AS exit_code,
  (r.state ->> 'attempts')::integer AS attempts,
  r.state ->> 'url' AS url,
  r.state ->> 'decided_by' AS decided_by
FROM coxswain.records r
WHERE r.kind = 'verification_result';

CREATE OR REPLACE VIEW coxswain.verification_policies WITH (security_invoker = true) AS
SELECT
  r.project,
  (p.value ->> 'name') COLLATE "C" AS id,
  p.value ->> 'name' AS name,
  (p.value ->> 'tier')::integer AS tier,
  p.value ->> 'executor' AS executor,
  ARRAY(SELECT jsonb_array_elements_text(p.value -> 'patterns')) AS patterns,
  ARRAY(SELECT jsonb_array_elements_text(p.value -> 'exclude_patterns')) AS exclude_patterns,
  ARRAY(SELECT jsonb_array_elements_text(p.value -> 'required_environment')) AS required_env,
  (p.value ->> 'timeout_seconds')::integer AS timeout_seconds,
  (p.value ->> 'requires_approval')::boolean AS requires_approval,
  true AS enabled,
  NULL::timestamptz AS created_at,
  p.value ->> 'command' AS command,
  p.value ->> 'workflow' AS workflow
FROM coxswain.records r
CROSS JOIN LATERAL jsonb_each(r.state -> 'policies') AS p(key, value)
WHERE r.kind = 'verification_policy' AND jsonb_typeof(p.value) = 'object';

CREATE OR REPLACE VIEW coxswain.changesets WITH (security_invoker = true) AS
SELECT
  r.project,
  r.id,
  r.state ->> 'session_id' AS session_id,
  r.state ->> 'agent_id' AS agent_id,
  r.state ->> 'task_id' AS task_id,
  r.state ->> 'branch' AS branch,
  coalesce(r.state -> 'routed' ->> 'commit_sha', r.state ->> 'commit_sha') AS commit_sha,
  r.state ->> 'base_sha' AS base_sha,
  r.state ->> 'summary' AS summary,
  ARRAY(SELECT jsonb_array_elements_text(r.state -> 'files')) AS files,
  CASE WHEN r.state -> 'routed' IS NULL THEN 'submitted' ELSE coalesce((
    SELECT v.state ->> 'status' FROM coxswain.records v
    WHERE v.project = r.project AND v.kind = 'verification_result' AND v.id = ANY (ARRAY(
      SELECT (r.state -> 'routed' ->> 'commit_sha') || '#' || name
      FROM jsonb_array_elements_text(r.state -> 'routed' -> 'policies') AS name))
    ORDER BY array_position(ARRAY['failed', 'error', 'timed_out', 'waiting_for_person', 'running', 'queued', 'passed', 'skipped'],
      v.state ->> 'status')
    LIMIT 1), 'nothing_to_verify') END AS status,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at
FROM coxswain.records r
WHERE r.kind = 'changeset';
