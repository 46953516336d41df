-- Who may see and do what, for whoever comes past the product: through PostgREST, Supabase or a database login.
--   anon              nothing
--   authenticated     reads its own project, as its signed token names it, and calls the functions that are open
--   service_role      reads everything and calls the same functions
--   coxswain_service  for the product's own login, where that is not the owner: GRANT coxswain_service TO it
-- The owner passes by row level security, which is therefore not forced: in a small set-up the product is the owner and pays
-- nothing for it.

-- What the token says. app_metadata is the issuer's; user_metadata is what the user wrote, and is never looked at.
CREATE FUNCTION coxswain.jwt_claim(p_name text) RETURNS text LANGUAGE sql STABLE
RETURN (
  SELECT coalesce(c.claims ->> p_name, c.claims -> 'app_metadata' ->> p_name)
  FROM (SELECT nullif(current_setting('request.jwt.claims', true), '')::jsonb AS claims) c
);

-- The kinds of records that a project's agents may read; whatever a later version adds stays hidden until it is named.
CREATE FUNCTION coxswain.shown_kinds() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY['lock', 'task', 'session', 'handoff', 'changeset', 'verification_result', 'verification_policy', 'approval',
  'memory', 'working_memory', 'skill', 'profile', 'profile_assignment', 'network_policy', 'network_access', 'guardrail',
  'violation'];

-- The functions that authenticated and service_role may call; the first three are what policies and views use.
CREATE FUNCTION coxswain.open_functions() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY['jwt_claim', 'shown_kinds', 'leases_of', 'acquire_lock', 'release_lock', 'claim_task', 'complete_task',
  'submit_task'];

-- Creates what a server that is not Supabase lacks, then gives and takes rights. Runs after every migration, so that what
-- that added is closed before anybody can reach it; and by hand, once somebody has created what we may not.
CREATE FUNCTION coxswain.bootstrap() RETURNS text[] LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET client_min_messages = error
AS $$
BEGIN
  -- As a migration does: one at a time, and no commit under way that holds what is altered here.
  PERFORM pg_advisory_xact_lock(1668249715);
  LOCK TABLE coxswain.meta IN ACCESS EXCLUSIVE MODE;
  PERFORM coxswain.create_roles();
  PERFORM coxswain.create_auth();
  PERFORM coxswain.close_schema();
  PERFORM coxswain.open_to_service();
  PERFORM coxswain.open_to_callers();
  PERFORM coxswain.lend_rights();
  PERFORM coxswain.publish();
  -- PostgREST keeps what it knows of a schema; this is how it is told to look again.
  PERFORM pg_notify('pgrst', 'reload schema');
  RETURN coxswain.missing();
END $$;

CREATE FUNCTION coxswain.create_roles() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_role text;
BEGIN
  FOREACH v_role IN ARRAY ARRAY['anon', 'authenticated', 'service_role', 'coxswain_service'] LOOP
    CONTINUE WHEN to_regrole(v_role) IS NOT NULL;
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
    EXCEPTION
      -- Roles are the whole server's: another database's migration was quicker. Or we may not: missing() says so.
      WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
    END;
  END LOOP;
END $$;

-- What policies written for Supabase expect. Never replaced where they exist.
CREATE FUNCTION coxswain.create_auth() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  IF to_regnamespace('auth') IS NULL THEN
    CREATE SCHEMA auth;
  END IF;
  IF to_regprocedure('auth.role()') IS NULL THEN
    CREATE FUNCTION auth.role() RETURNS text LANGUAGE sql STABLE
    RETURN nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role';
  END IF;
  IF to_regprocedure('auth.uid()') IS NULL THEN
    CREATE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE
    RETURN (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid;
  END IF;
EXCEPTION
  WHEN insufficient_privilege THEN NULL;
END $$;

-- New functions can be called by everybody, and per schema that default can't be changed; a server may have defaults of its
-- own as well. So everything is taken back each time, and what is meant is given again.
CREATE FUNCTION coxswain.close_schema() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_role text;
  v_table regclass;
BEGIN
  FOREACH v_role IN ARRAY ARRAY['public', 'anon', 'authenticated', 'service_role'] LOOP
    CONTINUE WHEN v_role <> 'public' AND to_regrole(v_role) IS NULL;
    EXECUTE format('REVOKE ALL ON SCHEMA coxswain FROM %s', v_role);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA coxswain FROM %s', v_role);
    EXECUTE format('REVOKE ALL ON ALL ROUTINES IN SCHEMA coxswain FROM %s', v_role);
  END LOOP;
  FOR v_table IN
    SELECT c.oid FROM pg_class c
    WHERE c.relnamespace = 'coxswain'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', v_table);
  END LOOP;
END $$;

CREATE FUNCTION coxswain.allow(p_table regclass, p_role text, p_command text, p_rows text) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_name text := 'coxswain_' || p_role;
BEGIN
  IF EXISTS (SELECT FROM pg_policy WHERE polrelid = p_table AND polname = v_name) THEN
    RETURN;
  END IF;
  EXECUTE format('CREATE POLICY %I ON %s FOR %s TO %I USING (%s)', v_name, p_table, p_command, p_role, p_rows);
END $$;

-- The product itself: everything its functions do, and nothing that would change what is in the log.
CREATE FUNCTION coxswain.open_to_service() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_table regclass;
BEGIN
  IF to_regrole('coxswain_service') IS NULL THEN
    RETURN;
  END IF;
  GRANT USAGE ON SCHEMA coxswain TO coxswain_service;
  GRANT EXECUTE ON ALL ROUTINES IN SCHEMA coxswain TO coxswain_service;
  GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA coxswain TO coxswain_service;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA coxswain TO coxswain_service;
  REVOKE UPDATE, DELETE ON coxswain.log FROM coxswain_service;
  IF to_regclass('coxswain.seals') IS NOT NULL THEN
    REVOKE UPDATE, DELETE ON coxswain.seals FROM coxswain_service;
  END IF;
  REVOKE INSERT, UPDATE, DELETE ON coxswain.meta FROM coxswain_service;
  FOR v_table IN
    SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'coxswain'::regnamespace AND c.relkind IN ('r', 'p')
  LOOP
    PERFORM coxswain.allow(v_table, 'coxswain_service', 'ALL', 'true');
  END LOOP;
END $$;

CREATE FUNCTION coxswain.open_to_callers() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_role text;
  v_object text;
BEGIN
  FOREACH v_role IN ARRAY ARRAY['authenticated', 'service_role'] LOOP
    CONTINUE WHEN to_regrole(v_role) IS NULL;
    EXECUTE format('GRANT USAGE ON SCHEMA coxswain TO %I', v_role);
    IF pg_has_role((SELECT nspowner FROM pg_namespace WHERE nspname = 'auth'), 'USAGE') THEN
      EXECUTE format('GRANT USAGE ON SCHEMA auth TO %I', v_role);
    END IF;
    FOR v_object IN
      SELECT p.oid::regprocedure FROM pg_proc p
      WHERE p.pronamespace = 'coxswain'::regnamespace AND p.proname = ANY (coxswain.open_functions())
    LOOP
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', v_object, v_role);
    END LOOP;
    -- Only those that look with the eyes of whoever asks: any other would show the owner's view of all projects.
    FOR v_object IN
      SELECT c.oid::regclass FROM pg_class c
      WHERE c.relnamespace = 'coxswain'::regnamespace AND c.relkind = 'v' AND 'security_invoker=true' = ANY (c.reloptions)
    LOOP
      EXECUTE format('GRANT SELECT ON %s TO %I', v_object, v_role);
    END LOOP;
  END LOOP;
  IF to_regrole('authenticated') IS NOT NULL THEN
    GRANT SELECT ON coxswain.records TO authenticated;
    -- Without the events: they tell of records that are not shown.
    GRANT SELECT (project, position, schema, at_ms, agent_id, agent_type, session_id, sequence, operation, operation_id,
      parameters, result, duration_ms) ON coxswain.log TO authenticated;
    -- In brackets with SELECT the claim is read once per statement, not once per row.
    PERFORM coxswain.allow('coxswain.records', 'authenticated', 'SELECT',
      'project = (SELECT coxswain.jwt_claim(''project'')) AND kind = ANY (coxswain.shown_kinds())');
    PERFORM coxswain.allow('coxswain.log', 'authenticated', 'SELECT', 'project = (SELECT coxswain.jwt_claim(''project''))');
  END IF;
  IF to_regrole('service_role') IS NOT NULL THEN
    FOR v_object IN
      SELECT c.oid::regclass FROM pg_class c WHERE c.relnamespace = 'coxswain'::regnamespace AND c.relkind IN ('r', 'p')
    LOOP
      EXECUTE format('GRANT SELECT ON %s TO service_role', v_object);
      PERFORM coxswain.allow(v_object::regclass, 'service_role', 'SELECT', 'true');
    END LOOP;
  END IF;
END $$;

-- The open functions act with the rights of their owner. Where that is a superuser, they are handed to the product's role: it
-- may do all they need and, of the log, change nothing.
CREATE FUNCTION coxswain.lend_rights() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_function regprocedure;
BEGIN
  FOR v_function IN
    SELECT p.oid FROM pg_proc p JOIN pg_roles o ON o.oid = p.proowner
    WHERE p.pronamespace = 'coxswain'::regnamespace AND p.prosecdef AND p.proname = ANY (coxswain.open_functions())
      AND o.rolsuper AND to_regrole('coxswain_service') IS NOT NULL
  LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO coxswain_service', v_function);
  END LOOP;
END $$;

-- Views can't be published; the two tables below them can, as far as a project's agents may read them.
CREATE FUNCTION coxswain.publish() RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_table text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = 'supabase_realtime') THEN
    CREATE PUBLICATION supabase_realtime;
  END IF;
  -- Somebody publishes all tables: nothing to add, and nothing could be.
  IF (SELECT puballtables FROM pg_publication WHERE pubname = 'supabase_realtime') THEN
    RETURN;
  END IF;
  FOR v_table IN
    SELECT format('coxswain.%I', t.tablename) FROM pg_publication_tables t
    WHERE t.pubname = 'supabase_realtime' AND t.schemaname = 'coxswain' AND t.tablename IN ('records', 'log')
  LOOP
    EXECUTE 'ALTER PUBLICATION supabase_realtime DROP TABLE ' || v_table;
  END LOOP;
  EXECUTE format('ALTER PUBLICATION supabase_realtime ADD TABLE coxswain.records WHERE (kind = ANY (%L::text[])),
    coxswain.log (project, position, schema, at_ms, agent_id, agent_type, session_id, sequence, operation, operation_id,
    parameters, result, duration_ms)', coxswain.shown_kinds());
EXCEPTION
  WHEN insufficient_privilege THEN NULL;
END $$;

-- What could not be created or given, in words for `cox status`.
CREATE FUNCTION coxswain.missing() RETURNS text[] LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
RETURN ARRAY(
  SELECT CASE WHEN to_regrole(r.role) IS NULL THEN 'role ' || r.role ELSE 'the rights of role ' || r.role END
  FROM (VALUES ('anon', false), ('authenticated', true), ('service_role', true), ('coxswain_service', true)) AS r(role, enters)
  WHERE to_regrole(r.role) IS NULL OR r.enters AND NOT has_schema_privilege(to_regrole(r.role), 'coxswain', 'USAGE')
) || ARRAY(
  SELECT 'function ' || f FROM unnest(ARRAY['auth.role()', 'auth.uid()']) AS f
  WHERE NOT EXISTS (
    SELECT FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname || '.' || p.proname || '()' = f AND p.pronargs = 0)
  ORDER BY f
) || ARRAY(
  SELECT 'tables in publication supabase_realtime'
  WHERE NOT EXISTS (
    SELECT FROM pg_publication_tables t
    WHERE t.pubname = 'supabase_realtime' AND t.schemaname = 'coxswain' AND t.tablename = 'records')
);

-- The other tables of the seed, as views of what is kept in records. A session is not written only to say that it has gone
-- quiet, so its status is what the time makes of it.
CREATE VIEW coxswain.agent_sessions WITH (security_invoker = true) AS
SELECT r.project,
  r.id,
  r.state ->> 'agent_id' AS agent_id,
  r.state ->> 'agent_type' AS agent_type,
  r.state ->> 'session_id' AS session_id,
  r.state ->> 'current_task' AS task_description,
  to_timestamp((r.state ->> 'started_at_ms')::double precision / 1000) AS started_at,
  to_timestamp((r.state ->> 'ended_at_ms')::double precision / 1000) AS ended_at,
  (r.state ->> 'tasks_completed')::integer AS tasks_completed,
  ARRAY(SELECT jsonb_array_elements_text(r.state -> 'files_modified')) AS files_modified,
  r.state -> 'metadata' AS metadata,
  ARRAY(SELECT jsonb_array_elements_text(r.state -> 'capabilities')) AS capabilities,
  CASE WHEN r.state ->> 'ended_at_ms' IS NOT NULL THEN 'disconnected'
    WHEN (r.state ->> 'last_active_ms')::double precision / 1000 < extract(epoch FROM clock_timestamp()) - 300 THEN 'idle'
    ELSE 'active' END AS status,
  to_timestamp((r.state ->> 'last_heartbeat_ms')::double precision / 1000) AS last_heartbeat,
  r.state ->> 'current_task' AS current_task
FROM coxswain.records r
WHERE r.kind = 'session';

-- One view per line: its name, the kind of its records, and its columns, which are fields of the state. A type follows the
-- colon where it is not text; `time` reads the field with _ms at its end, `list` is text[]. They are empty until the version
-- that brings their subject, which may replace them.
DO $$
DECLARE
  v_view record;
  v_columns text;
BEGIN
  FOR v_view IN
    SELECT v.name, v.kind, v.columns FROM (VALUES
      ('handoff_documents', 'handoff', 'agent_name session_id summary completed_work:jsonb in_progress:jsonb decisions:jsonb
        next_steps:jsonb relevant_files:jsonb created_at:time'),
      ('changesets', 'changeset', 'session_id agent_id task_id branch commit_sha base_sha summary files:list status
        created_at:time'),
      ('verification_results', 'verification_result', 'changeset_id policy tier:integer executor status output:jsonb
        error_message started_at:time completed_at:time duration_ms:double'),
      ('verification_policies', 'verification_policy', 'name tier:integer executor patterns:list exclude_patterns:list
        required_env:list timeout_seconds:integer requires_approval:boolean enabled:boolean created_at:time'),
      ('approval_queue', 'approval', 'changeset_id requested_by operation reason details:jsonb status decided_by
        decision_reason created_at:time decided_at:time expires_at:time'),
      ('memory_episodic', 'memory', 'agent_id session_id event_type summary details:jsonb outcome lessons:list tags:list
        relevance_score:double created_at:time'),
      ('memory_working', 'working_memory', 'session_id agent_id content:jsonb token_count:integer created_at:time
        updated_at:time'),
      ('memory_procedural', 'skill', 'name task_type content:jsonb success_count:integer failure_count:integer
        success_rate:double created_at:time updated_at:time'),
      ('agent_profiles', 'profile', 'name agent_type trust_level:integer allowed_operations:list blocked_operations:list
        max_file_modifications:integer max_execution_time_seconds:integer max_api_calls_per_hour:integer network_policy:jsonb
        metadata:jsonb enabled:boolean created_at:time'),
      ('agent_profile_assignments', 'profile_assignment', 'agent_id agent_type profile_id assigned_by assigned_at:time'),
      ('network_policies', 'network_policy', 'profile_id domain_pattern action priority:integer'),
      ('network_access_log', 'network_access', 'agent_id session_id domain url allowed:boolean alert:boolean policy_id reason
        accessed_at:time'),
      ('operation_guardrails', 'guardrail', 'name category pattern severity behavior enabled:boolean created_at:time'),
      ('guardrail_violations', 'violation', 'agent_id session_id guardrail operation matched_text blocked:boolean
        trust_level:integer context:jsonb created_at:time')
    ) AS v(name, kind, columns)
  LOOP
    SELECT string_agg(format(CASE c.type
        WHEN 'time' THEN 'to_timestamp((r.state ->> %2$L)::double precision / 1000) AS %1$I'
        WHEN 'list' THEN 'ARRAY(SELECT jsonb_array_elements_text(r.state -> %1$L)) AS %1$I'
        WHEN 'jsonb' THEN 'r.state -> %1$L AS %1$I'
        WHEN 'double' THEN '(r.state ->> %1$L)::double precision AS %1$I'
        WHEN 'text' THEN 'r.state ->> %1$L AS %1$I'
        ELSE '(r.state ->> %1$L)::%3$s AS %1$I' END, c.name, c.name || '_ms', c.type), ', ' ORDER BY c.place)
    INTO v_columns
    FROM (
      SELECT split_part(word, ':', 1) AS name, coalesce(nullif(split_part(word, ':', 2), ''), 'text') AS type, place
      FROM regexp_split_to_table(v_view.columns, '\s+') WITH ORDINALITY AS w(word, place)
    ) c;
    EXECUTE format('CREATE VIEW coxswain.%I WITH (security_invoker = true) AS SELECT r.project, r.id, %s
      FROM coxswain.records r WHERE r.kind = %L', v_view.name, v_columns, v_view.kind);
  END LOOP;
END $$;
