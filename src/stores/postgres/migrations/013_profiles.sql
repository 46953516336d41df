-- Profiles, who has which, and named network policies under the seed's names. What ships is in the code: these are the rules that
-- were made or changed here, and nothing where nobody has.
DROP VIEW coxswain.agent_profiles, coxswain.agent_profile_assignments, coxswain.network_policies;

CREATE VIEW coxswain.agent_profiles WITH (security_invoker = true) AS
SELECT r.project,
  p.value ->> 'name' AS name,
  p.value -> 'agent_types' ->> 0 AS agent_type,
  (p.value ->> 'trust_level')::integer AS trust_level,
  ARRAY(SELECT jsonb_array_elements_text(p.value -> 'allowed_operations')) AS allowed_operations,
  ARRAY(SELECT jsonb_array_elements_text(p.value -> 'blocked_operations')) AS blocked_operations,
  -- NULL: no limit.
  (p.value -> 'resource_limits' ->> 'max_file_modifications')::integer AS max_file_modifications,
  (p.value -> 'resource_limits' ->> 'max_execution_seconds')::integer AS max_execution_time_seconds,
  (p.value -> 'resource_limits' ->> 'max_api_calls_per_hour')::integer AS max_api_calls_per_hour,
  p.value -> 'network_policy' AS network_policy,
  p.value - 'name' - 'trust_level' - 'allowed_operations' - 'blocked_operations' - 'network_policy' AS metadata,
  true AS enabled,
  NULL::timestamptz AS created_at
FROM coxswain.records r
CROSS JOIN LATERAL jsonb_each(r.state -> 'profiles') p
WHERE r.kind = 'rulebook';

CREATE VIEW coxswain.agent_profile_assignments WITH (security_invoker = true) AS
SELECT r.project,
  a.value ->> 'agent_id' AS agent_id,
  a.value ->> 'agent_type' AS agent_type,
  a.value ->> 'profile' AS profile_id,
  NULL::text AS assigned_by,
  NULL::timestamptz AS assigned_at
FROM coxswain.records r
CROSS JOIN LATERAL jsonb_array_elements(r.state -> 'assignments') a
WHERE r.kind = 'rulebook';

-- Deny beats allow: it comes first.
CREATE VIEW coxswain.network_policies WITH (security_invoker = true) AS
SELECT r.project,
  n.key AS profile_id,
  d.value AS domain_pattern,
  k.action,
  k.priority
FROM coxswain.records r
CROSS JOIN LATERAL jsonb_each(r.state -> 'network_policies') n
CROSS JOIN LATERAL (VALUES ('deny', 1), ('allow', 2)) AS k(action, priority)
CROSS JOIN LATERAL jsonb_array_elements_text(n.value -> k.action) d
WHERE r.kind = 'rulebook';

-- Whether a profile of more or less than the default can be the agent's: rules were made in the project, or one ships for the type.
CREATE FUNCTION coxswain.has_rules(p_project text, p_agent_type text) RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
RETURN EXISTS (SELECT FROM coxswain.records r WHERE r.project = p_project AND r.kind = 'rulebook' AND r.id = 'all')
  OR regexp_replace(lower(btrim(p_agent_type)), '[-[:space:]]+', '_', 'g')
    ~ '^(claude_code|claude_code_cli|strands_agent|reviewer)$|(^|_)(cloud|web|remote)(_|$)';

CREATE OR REPLACE FUNCTION coxswain.api_call(p_operation text, p_operation_id text, p_parameters jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_agent text := coxswain.jwt_claim('agent_id');
  v_call jsonb := jsonb_build_object('project', coxswain.jwt_claim('project'), 'agent_id', v_agent,
    'agent_type', coalesce(coxswain.jwt_claim('agent_type'), 'postgrest'),
    'session_id', coalesce(coxswain.jwt_claim('session_id'), left('postgrest-' || v_agent, 128)));
  v_name text;
BEGIN
  FOREACH v_name IN ARRAY ARRAY['project', 'agent_id', 'agent_type', 'session_id'] LOOP
    -- The names of doors/identity.ts: short, printable, and not the product's own.
    IF (v_call ->> v_name) IS NULL OR btrim(v_call ->> v_name) = '' OR length(v_call ->> v_name) > 128
      OR NOT coxswain.is_printable(v_call ->> v_name) OR v_name = 'agent_id' AND v_agent = 'coxswain'
    THEN
      RAISE EXCEPTION 'the token names no usable %', v_name USING ERRCODE = '42501',
        HINT = 'Sign it with the claims project and agent_id, at the top or in app_metadata.';
    END IF;
  END LOOP;
  -- Profiles, limits and trust are judged by the product alone: whoever has any does not get past them here.
  IF coxswain.has_rules(v_call ->> 'project', v_call ->> 'agent_type') THEN
    RAISE EXCEPTION 'what agents of the type % may is not judged here', v_call ->> 'agent_type' USING ERRCODE = '42501',
      HINT = 'Use the HTTP API or MCP: they know the profiles of this project.';
  END IF;
  RETURN v_call || jsonb_build_object('operation', p_operation,
    -- Long texts are shortened as by src/runtime/audit-summary.ts: their full form is in the event.
    'parameters', (SELECT coalesce(jsonb_object_agg(e.key, CASE
        WHEN jsonb_typeof(e.value) = 'string' AND length(e.value #>> '{}') > 300
        THEN to_jsonb(format('%s… (%s characters)', left(e.value #>> '{}', 300), length(e.value #>> '{}')))
        WHEN octet_length(e.value::text) > 2000 THEN to_jsonb('{…}'::text)
        ELSE e.value END), '{}')
      FROM jsonb_each(p_parameters) AS e WHERE e.value <> 'null'),
    'started', extract(epoch FROM clock_timestamp()),
    'named', p_operation_id IS NOT NULL,
    'operation_id', coalesce(p_operation_id, gen_random_uuid()::text),
    'digest', CASE WHEN p_operation_id IS NULL THEN '' ELSE
      left(encode(sha256(convert_to(p_operation || ' ' || p_parameters::text, 'UTF8')), 'hex'), 32) END);
END $$;
