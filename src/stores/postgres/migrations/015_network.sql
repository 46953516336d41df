-- The seed's network_access_log: every attempt is a row of the log already, so the view reads it there.
DROP VIEW coxswain.network_access_log;
CREATE VIEW coxswain.network_access_log WITH (security_invoker = true) AS
SELECT l.project,
  l.position::text AS id,
  l.agent_id,
  l.session_id,
  l.result ->> 'domain' AS domain,
  l.parameters ->> 'url' AS url,
  (l.result ->> 'allowed')::boolean AS allowed,
  coalesce((l.result ->> 'alert')::boolean, false) AS alert,
  l.result ->> 'policy' AS policy_id,
  l.result ->> 'why' AS reason,
  to_timestamp(l.at_ms / 1000) AS accessed_at,
  l.agent_type,
  (l.result ->> 'port')::integer AS port,
  l.result ->> 'rule' AS rule
FROM coxswain.log l
-- A question that was put wrong was no attempt.
WHERE l.operation = 'check_network' AND l.result ->> 'allowed' IS NOT NULL;
