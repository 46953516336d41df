-- Who works on which feature and edge, in the words of the seeds' claims table. A claim that nobody holds keeps its row: it says
-- when it converged last, and by whom.
CREATE OR REPLACE FUNCTION coxswain.shown_kinds() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY['lock', 'task', 'session', 'handoff', 'changeset', 'verification_result', 'verification_policy', 'approval',
  'memory', 'working_memory', 'skill', 'profile', 'profile_assignment', 'network_policy', 'network_access', 'guardrail',
  'violation', 'claim'];

CREATE VIEW coxswain.edge_claims WITH (security_invoker = true) AS
SELECT r.project,
  r.state ->> 'feature' AS feature,
  r.state ->> 'edge' AS edge,
  c.lease ->> 'agent_id' AS agent_id,
  CASE WHEN c.lease IS NOT NULL THEN r.state ->> 'agent_role' END AS agent_role,
  to_timestamp((c.lease ->> 'granted_at_ms')::double precision / 1000) AS claimed_at,
  to_timestamp((r.state ->> 'last_active_ms')::double precision / 1000) AS last_active,
  -- NULL: it has no end of its own.
  CASE WHEN (c.lease ->> 'expires_at_ms')::double precision < 8.64e15
    THEN to_timestamp((c.lease ->> 'expires_at_ms')::double precision / 1000) END AS expires_at,
  CASE
    WHEN c.lease IS NULL AND r.state ? 'converged' THEN 'converged'
    WHEN c.lease IS NULL THEN 'free'
    WHEN r.state ? 'escalation' THEN 'escalated'
    WHEN r.state ? 'stale_since_ms' THEN 'stale'
    ELSE 'held' END AS status,
  to_timestamp((r.state -> 'converged' ->> 'at_ms')::double precision / 1000) AS converged_at,
  r.state -> 'converged' ->> 'agent_id' AS converged_by,
  r.state -> 'converged' ->> 'agent_role' AS converged_role,
  r.state -> 'converged' ->> 'evaluators' AS evaluators,
  r.state -> 'converged' ->> 'approved_by' AS approved_by,
  (r.state ->> 'iteration')::integer AS iteration,
  c.lease ->> 'session_id' AS session_id,
  (c.lease ->> 'token')::bigint AS fencing_token,
  CASE WHEN c.lease IS NOT NULL THEN r.state -> 'escalation' ->> 'approval_id' END AS approval_id
FROM coxswain.records r
-- A claim past its hard end is free, whether or not anybody has noticed yet; while a person is asked about it, it has none.
LEFT JOIN LATERAL (SELECT r.state -> 'lease' AS lease
  WHERE greatest((r.state -> 'lease' ->> 'expires_at_ms')::double precision,
    (r.state -> 'escalation' ->> 'asked_until_ms')::double precision) / 1000 > extract(epoch FROM clock_timestamp())
    AND r.state ? 'lease') c ON true
WHERE r.kind = 'claim';
