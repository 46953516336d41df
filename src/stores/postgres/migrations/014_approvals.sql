-- What waits for a person, what was stopped, and the default of each category, under the seed's names.

-- What ran out is expired, whether or not anybody has noticed yet.
CREATE OR REPLACE VIEW coxswain.approval_queue WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state -> 'context' ->> 'changeset_id' AS changeset_id,
  r.state ->> 'requested_by' AS requested_by,
  r.state ->> 'operation' AS operation,
  r.state ->> 'subject' AS reason,
  jsonb_build_object('context', r.state -> 'context', 'findings', r.state -> 'findings') AS details,
  CASE WHEN r.state ->> 'status' IN ('pending', 'approved')
      AND (r.state ->> 'expires_at_ms')::double precision / 1000 <= extract(epoch FROM clock_timestamp()) THEN 'expired'
    ELSE r.state ->> 'status' END AS status,
  r.state ->> 'decided_by' AS decided_by,
  r.state ->> 'decision_reason' AS decision_reason,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at,
  to_timestamp((r.state ->> 'decided_at_ms')::double precision / 1000) AS decided_at,
  to_timestamp((r.state ->> 'expires_at_ms')::double precision / 1000) AS expires_at,
  r.state ->> 'kind' AS kind,
  r.state ->> 'agent_type' AS agent_type,
  r.state ->> 'session_id' AS session_id,
  r.state ->> 'shown_hash' AS shown_hash,
  to_timestamp((r.state ->> 'used_at_ms')::double precision / 1000) AS used_at
FROM coxswain.records r
WHERE r.kind = 'approval';

CREATE OR REPLACE VIEW coxswain.guardrail_violations WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state ->> 'agent_id' AS agent_id,
  r.state ->> 'session_id' AS session_id,
  r.state ->> 'pattern_matched' AS guardrail,
  r.state ->> 'operation' AS operation,
  r.state ->> 'matched_text' AS matched_text,
  (r.state ->> 'blocked')::boolean AS blocked,
  (r.state ->> 'trust_level')::integer AS trust_level,
  r.state -> 'context' AS context,
  to_timestamp((r.state ->> 'created_at_ms')::double precision / 1000) AS created_at,
  r.state ->> 'agent_type' AS agent_type,
  r.state ->> 'category' AS category,
  r.state ->> 'outcome' AS outcome,
  r.state ->> 'approval_id' AS approval_id
FROM coxswain.records r
WHERE r.kind = 'violation';

-- The same in every project: profiles differ in what they make of it (docs/guardrails.md). A test compares it with the code.
CREATE OR REPLACE VIEW coxswain.operation_guardrails WITH (security_invoker = true) AS
SELECT NULL::text COLLATE "C" AS project,
  g.category COLLATE "C" AS id,
  g.category AS name,
  g.category AS category,
  '*'::text AS pattern,
  CASE g.behavior WHEN 'warn' THEN 'low' WHEN 'verify' THEN 'medium' WHEN 'review' THEN 'critical' ELSE 'high' END AS severity,
  g.behavior AS behavior,
  true AS enabled,
  NULL::timestamptz AS created_at
FROM (VALUES
  ('git_force'::text, 'block'::text),
  ('branch_deletion', 'block'),
  ('mass_deletion', 'block'),
  ('credential_modification', 'review'),
  ('production_deployment', 'block'),
  ('database_migration', 'verify'),
  ('history_rewrite', 'block'),
  ('infrastructure', 'block'),
  ('database_destruction', 'block'),
  ('package_publishing', 'block'),
  ('disk', 'block'),
  ('overwrite', 'block'),
  ('unread_code', 'block'),
  ('unresolved', 'block'),
  ('control_plane', 'block')
) AS g(category, behavior);
