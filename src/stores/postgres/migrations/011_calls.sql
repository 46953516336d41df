-- Locks and work for callers without a Coxswain of their own: POST /rpc/acquire_lock through PostgREST, or a plain SELECT.
-- They act for the agent that the signed token names (claims project and agent_id; agent_type and session_id if it has them).
-- What they decide is what the pure deciders in src/features decide, which are their oracle in the tests; what they can't
-- judge (folders, dependencies, standing in line) they say so and leave undecided. Every commit goes through commit_group.

CREATE FUNCTION coxswain.api_call(p_operation text, p_operation_id text, p_parameters jsonb) RETURNS jsonb
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

-- No control or format characters, no line separators: names and paths are shown on one line of every listing.
CREATE FUNCTION coxswain.is_printable(p_text text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_text !~ '[\u0001-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]';

-- Whether a path is its own normal form (kernel/path.ts): nothing here can follow a link or look at a disk, so any other
-- spelling is refused rather than locked beside the file it means.
CREATE FUNCTION coxswain.is_plain_path(p_path text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN octet_length(p_path) <= 900 AND coxswain.is_printable(p_path) AND p_path IS NFC NORMALIZED
  AND p_path !~ '^[\s\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]|[\s\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]$'
  AND CASE WHEN p_path ~ '^(api|db|event|flag|env|contract|feature):' THEN
    p_path ~ '^[a-z]+:[^\s\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]'
  ELSE
    -- No empty name, no dots, so neither absolute nor a folder; no glob, no backslash; no URI, drive or home.
    p_path !~ '(^|/)(\.\.?)?(/|$)' AND p_path !~ '[*?\\]' AND p_path !~* '(^|/)\.git(/|$)'
    AND p_path !~ '^[A-Za-z]:/' AND p_path !~ '^~(/|$)'
  END;

-- The catalogue of kernel/refusal.ts, as far as it is used here; a test compares the two.
CREATE FUNCTION coxswain.api_refusal(p_code text, p_message text, p_details jsonb DEFAULT '{}') RETURNS jsonb
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
    WHEN 'lease_expired' THEN 'Your claim ran out and the task goes to another agent. Drop your result or get_work again.'
    WHEN 'database_unavailable' THEN 'Go on with what needs no coordination and try again in a few seconds.'
    -- Only here: every other door can decide it.
    ELSE 'Ask through a Coxswain server: MCP, HTTP or the command line.' END);

CREATE FUNCTION coxswain.api_row(p_call jsonb, p_now_ms bigint, p_result jsonb, p_events jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE
-- The number in the session is 0: each call stands for itself, so nothing can show a gap. Schema: that of the events below.
RETURN jsonb_build_object('i', 0, 'project', p_call -> 'project', 'schema', 2, 'at_ms', p_now_ms,
  'agent_id', p_call -> 'agent_id', 'agent_type', p_call -> 'agent_type', 'session_id', p_call -> 'session_id', 'sequence', 0,
  'operation', p_call -> 'operation', 'operation_id', p_call -> 'operation_id', 'parameters', p_call -> 'parameters',
  'duration_ms', round((extract(epoch FROM clock_timestamp()) - (p_call ->> 'started')::numeric) * 1000, 3),
  'result', p_result, 'events', p_events);

-- A refusal has its row in the log, like every other.
CREATE FUNCTION coxswain.api_refuse(p_call jsonb, p_now_ms bigint, p_refusal jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(coxswain.position_floor());
  PERFORM coxswain.write_notes(json_build_array(coxswain.api_row(p_call, p_now_ms, p_refusal, '[]')));
  RETURN p_refusal;
END $$;

-- What was answered under a named operation id within a day.
CREATE FUNCTION coxswain.api_recall(p_call jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_seen record;
BEGIN
  IF NOT (p_call -> 'named')::boolean THEN
    RETURN NULL;
  END IF;
  SELECT o.input_digest, l.result INTO v_seen
  FROM coxswain.operations o JOIN coxswain.log l ON l.project = o.project AND l.position = o.position
  WHERE o.project = p_call ->> 'project' AND o.agent_id = p_call ->> 'agent_id'
    AND o.operation_id = p_call ->> 'operation_id' AND o.at_ms >= coxswain.now_ms() - 86400000;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  RETURN CASE WHEN v_seen.input_digest = p_call ->> 'digest' THEN v_seen.result::jsonb ELSE
    coxswain.api_refusal('operation_id_reused', format('operation_id %s was used before for a different request.',
      p_call ->> 'operation_id'), '{"field": "operation_id"}') END;
END $$;

-- One written record, what else was read, and the row: proven and committed like everybody's. NULL: something has changed.
-- The epoch is the one these functions were written for: past it they stop until a migration has looked at them again.
CREATE FUNCTION coxswain.api_commit(
  p_call jsonb, p_now_ms bigint, p_until_ms double precision, p_write jsonb, p_expects jsonb, p_events jsonb, p_answer jsonb
) RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_version bigint := coalesce((p_write ->> 'e')::bigint, 0);
  v_place jsonb := jsonb_build_object('i', 0, 'p', p_call -> 'project');
  v_write jsonb := jsonb_build_array(v_place || p_write || jsonb_build_object('v', greatest(v_version + 1, p_now_ms)));
  v_item jsonb := v_place || jsonb_build_object('a', p_call -> 'agent_id', 'o', p_call -> 'operation_id',
    'g', p_call -> 'digest', 'm', p_call -> 'named', 'n', coalesce(p_until_ms, 1e18),
    'c', (v_version = 0)::integer, 'u', (v_version > 0)::integer);
  v_touches jsonb := jsonb_build_array(v_place
    || jsonb_build_object('k', p_write -> 'k', 'd', p_write -> 'd', 'v', v_version, 'w', true));
  v_result json;
BEGIN
  SELECT v_touches || coalesce(jsonb_agg(v_place || e || '{"w": false}'), '[]') INTO v_touches
  FROM jsonb_array_elements(p_expects) AS e;
  v_result := coxswain.commit_group(2, jsonb_build_array(v_item), v_touches,
    CASE WHEN v_version = 0 THEN v_write END, CASE WHEN v_version > 0 THEN v_write END, NULL,
    json_build_array(coxswain.api_row(p_call, p_now_ms, p_answer, p_events)), NULL, NULL);
  IF v_result -> 'positions' ->> 0 IS NOT NULL THEN
    RETURN p_answer;
  END IF;
  RETURN coxswain.api_recall(p_call);
END $$;

-- A place's leases and waiters as its state (stateOf in domain/locks/lock.ts), an entry without its null fields.
CREATE FUNCTION coxswain.lock_state(p_leases jsonb, p_waiters jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN CASE
  WHEN p_leases = '[]' AND p_waiters = '[]' THEN '{}'
  WHEN jsonb_array_length(p_leases) = 1 AND p_waiters = '[]' AND NOT p_leases -> 0 ?| ARRAY['shared', 'pattern'] THEN
    jsonb_strip_nulls(jsonb_build_object('lease', (p_leases -> 0) - 'reason', 'reason', p_leases -> 0 -> 'reason'))
  ELSE jsonb_build_object('leases', p_leases)
    || CASE WHEN p_waiters = '[]' THEN '{}' ELSE jsonb_build_object('waiters', p_waiters) END
END;

-- A file's lock as of now: its record, what of it is alive, and the events that say what is over.
CREATE FUNCTION coxswain.look_at_lock(
  p_project text, p_path text, p_now_ms bigint,
  OUT version bigint, OUT leases jsonb, OUT live jsonb, OUT waiters jsonb, OUT over jsonb
) LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_state jsonb;
  v_place jsonb := jsonb_build_object('kind', 'lock', 'id', p_path);
  v_waiting jsonb;
BEGIN
  SELECT r.version, r.state INTO version, v_state FROM coxswain.records r
  WHERE r.project = p_project AND r.kind = 'lock' AND r.id = p_path;
  leases := coalesce(coxswain.leases_of(v_state), '[]');
  v_waiting := coalesce(v_state -> 'waiters', '[]');
  SELECT coalesce(jsonb_agg(e ORDER BY place) FILTER (WHERE (e ->> 'expires_at_ms')::double precision > p_now_ms), '[]'),
    coalesce(jsonb_agg(v_place || jsonb_build_object('type', 'lock_expired', 'data',
      jsonb_build_object('lease', e - ARRAY['reason', 'shared', 'pattern'])) ORDER BY place)
      FILTER (WHERE (e ->> 'expires_at_ms')::double precision <= p_now_ms), '[]')
  INTO live, over FROM jsonb_array_elements(leases) WITH ORDINALITY AS l(e, place);
  SELECT coalesce(jsonb_agg(e ORDER BY place) FILTER (WHERE (e ->> 'alive_until_ms')::double precision > p_now_ms), '[]'),
    over || coalesce(jsonb_agg(v_place || jsonb_build_object('type', 'lock_wait_ended', 'data',
      jsonb_build_object('waiter_id', e -> 'id')) ORDER BY place)
      FILTER (WHERE (e ->> 'alive_until_ms')::double precision <= p_now_ms), '[]')
  INTO waiters, over FROM jsonb_array_elements(v_waiting) WITH ORDINALITY AS w(e, place);
END $$;

CREATE FUNCTION coxswain.superseded_lock(p_path text, p_token bigint, p_lease jsonb) RETURNS jsonb LANGUAGE sql STABLE
RETURN coxswain.api_refusal('superseded',
  format('Grant %s of %s is over; grant %s of %s has replaced it.', p_token, p_path, p_lease ->> 'token',
    p_lease ->> 'agent_id'),
  jsonb_build_object('file_path', p_path, 'locked_by', p_lease -> 'agent_id',
    'expires_at', coxswain.iso_time((p_lease ->> 'expires_at_ms')::double precision), 'fencing_token', p_lease -> 'token'));

-- Who is in the way: holders first, then those who wait (domain/locks/blocked.ts).
CREATE FUNCTION coxswain.blocked_lock(p_path text, p_agent_id text, p_live jsonb, p_waiters jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
DECLARE
  v_all jsonb;
  v_chief jsonb;
  v_message text;
BEGIN
  SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('file_path', p_path, 'locked_by', e -> 'agent_id',
    'agent_type', e -> 'agent_type', 'shared', e -> 'shared', 'waiting', CASE WHEN waits THEN true END,
    'expires_at', coxswain.iso_time((e ->> CASE WHEN waits THEN 'alive_until_ms' ELSE 'expires_at_ms' END)::double precision),
    'lock_reason', e -> 'reason')) ORDER BY waits, place)
  INTO v_all
  FROM (
    SELECT e, place, false AS waits FROM jsonb_array_elements(p_live) WITH ORDINALITY AS l(e, place)
    UNION ALL
    SELECT e, place, true FROM jsonb_array_elements(p_waiters) WITH ORDINALITY AS w(e, place)
  ) b WHERE e ->> 'agent_id' <> p_agent_id;
  IF v_all IS NULL THEN
    RETURN NULL;
  END IF;
  v_chief := v_all -> 0;
  v_message := CASE WHEN v_chief ? 'waiting'
    THEN format('%s is next for %s, who waits in line.', p_path, v_chief ->> 'locked_by')
    ELSE format('%s is locked by %s until %s%s.', p_path, v_chief ->> 'locked_by', v_chief ->> 'expires_at',
      ' (' || (v_chief -> 'lock_reason')::text || ')') END;
  RETURN coxswain.api_refusal('blocked', v_message, v_chief || jsonb_build_object(
    'reason', CASE WHEN v_chief ? 'waiting' THEN 'others_wait_first' ELSE 'locked_by_other' END,
    'conflicts', CASE WHEN jsonb_array_length(v_all) > 1 THEN jsonb_path_query_array(v_all, '$[0 to 49]') END));
END $$;

-- NULL: somebody else was quicker, look again.
CREATE FUNCTION coxswain.try_acquire_lock(p_call jsonb, p_path text, p_reason text, p_ttl_ms double precision, p_token bigint)
RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_project text := p_call ->> 'project';
  v_agent text := p_call ->> 'agent_id';
  v_now bigint := coxswain.now_ms();
  v_folders bigint;
  v_listed jsonb;
  v_lock record;
  v_own jsonb;
  v_lease jsonb;
  v_refreshed boolean;
  v_refusal jsonb;
  v_events jsonb;
  v_place jsonb := jsonb_build_object('kind', 'lock', 'id', p_path);
  v_granted jsonb;
BEGIN
  SELECT r.version, r.state -> 'folders' INTO v_folders, v_listed FROM coxswain.records r
  WHERE r.project = v_project AND r.kind = 'lock_folders' AND r.id = 'all';
  SELECT * INTO v_lock FROM coxswain.look_at_lock(v_project, p_path, v_now);
  SELECT e INTO v_own FROM jsonb_array_elements(v_lock.live) AS e WHERE e ->> 'agent_id' = v_agent;
  v_refusal := CASE
    WHEN p_path !~ '^(api|db|event|flag|env|contract|feature):' AND EXISTS (
      SELECT FROM jsonb_array_elements_text(v_listed) AS f
      WHERE f = './' OR starts_with(p_path, f) OR f = p_path || '/')
    THEN coxswain.api_refusal('not_decided_here',
      format('A folder or pattern around %s is locked or waited for, which is not judged here.', p_path))
    WHEN jsonb_array_length(v_lock.over) > 30
    THEN coxswain.api_refusal('not_decided_here', format('Too much has run out on %s to be cleared away here.', p_path))
    WHEN v_own ->> 'token' <> p_token::text THEN coxswain.superseded_lock(p_path, p_token, v_own)
    -- Who already has it to itself waits for nobody.
    WHEN v_own IS NULL OR v_own ? 'shared' THEN coxswain.blocked_lock(p_path, v_agent, v_lock.live, v_lock.waiters)
  END;
  IF v_refusal IS NOT NULL THEN
    RETURN coxswain.api_refuse(p_call, v_now, v_refusal);
  END IF;

  v_refreshed := v_own IS NOT NULL AND NOT v_own ? 'shared';
  -- A session keeps its grant; another session of the agent, or a reader that wants to write, gets a new one.
  v_lease := CASE WHEN v_refreshed AND v_own -> 'session_id' = p_call -> 'session_id'
    THEN v_own - ARRAY['reason', 'shared', 'pattern']
    ELSE jsonb_build_object('agent_id', v_agent, 'agent_type', p_call -> 'agent_type', 'session_id', p_call -> 'session_id',
      'token', greatest(coalesce(v_lock.version, 0) + 1, v_now), 'granted_at_ms', v_now) END
    || jsonb_build_object('expires_at_ms', v_now + p_ttl_ms);
  v_granted := jsonb_strip_nulls(jsonb_build_object('reason', coalesce(p_reason, v_own ->> 'reason')));
  v_events := v_lock.over
    || CASE WHEN v_own ? 'shared' THEN jsonb_build_array(v_place || jsonb_build_object('type', 'lock_released', 'data',
      jsonb_build_object('token', v_own -> 'token'))) ELSE '[]' END
    || jsonb_build_array(v_place || jsonb_build_object('type',
      CASE WHEN v_refreshed THEN 'lock_refreshed' ELSE 'lock_acquired' END, 'data',
      jsonb_build_object('lease', v_lease) || v_granted));
  RETURN coxswain.api_commit(p_call, v_now, (v_own ->> 'expires_at_ms')::double precision,
    jsonb_build_object('k', 'lock', 'd', p_path, 'e', coalesce(v_lock.version, 0), 'x', 'held/' || p_path, 's',
      coxswain.lock_state(coxswain.without_agent(v_lock.live, v_agent) || jsonb_build_array(v_lease || v_granted),
        v_lock.waiters)),
    jsonb_build_array(jsonb_build_object('k', 'lock_folders', 'd', 'all', 'v', coalesce(v_folders, 0))), v_events,
    jsonb_build_object('success', true, 'action', CASE WHEN v_refreshed THEN 'refreshed' ELSE 'acquired' END,
      'file_path', p_path, 'expires_at', coxswain.iso_time((v_lease ->> 'expires_at_ms')::double precision),
      'fencing_token', v_lease -> 'token'));
END $$;

CREATE FUNCTION coxswain.without_agent(p_leases jsonb, p_agent_id text) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN (SELECT coalesce(jsonb_agg(e ORDER BY place), '[]') FROM jsonb_array_elements(p_leases) WITH ORDINALITY AS l(e, place)
  WHERE e ->> 'agent_id' <> p_agent_id);

CREATE FUNCTION coxswain.try_release_lock(p_call jsonb, p_path text, p_token bigint) RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_agent text := p_call ->> 'agent_id';
  v_now bigint := coxswain.now_ms();
  v_lock record;
  v_lease jsonb;
  v_until text;
  v_refusal jsonb;
  v_state jsonb;
BEGIN
  SELECT * INTO v_lock FROM coxswain.look_at_lock(p_call ->> 'project', p_path, v_now);
  -- The caller's own; else the one it names; else whatever is there, to say whose it is.
  SELECT e INTO v_lease FROM jsonb_array_elements(v_lock.live) WITH ORDINALITY AS l(e, place)
  ORDER BY e ->> 'agent_id' <> v_agent, e ->> 'token' IS DISTINCT FROM p_token::text, place LIMIT 1;
  v_until := coxswain.iso_time((coalesce(v_lease, v_lock.leases -> 0) ->> 'expires_at_ms')::double precision);
  v_refusal := CASE
    WHEN v_lease IS NULL THEN coxswain.api_refusal('not_held', format('Nobody holds %s.%s', p_path,
      format(' %s''s lock ran out at ', v_lock.leases -> 0 ->> 'agent_id') || v_until || '.'),
      jsonb_build_object('released', false, 'file_path', p_path))
    WHEN v_lease ->> 'token' <> p_token::text THEN coxswain.superseded_lock(p_path, p_token, v_lease)
    WHEN v_lease ->> 'agent_id' <> v_agent THEN coxswain.api_refusal('not_holder',
      format('%s is held by %s until %s; it stays locked.', p_path, v_lease ->> 'agent_id', v_until),
      jsonb_build_object('released', false, 'file_path', p_path, 'locked_by', v_lease -> 'agent_id', 'expires_at', v_until))
  END;
  IF v_refusal IS NOT NULL THEN
    RETURN coxswain.api_refuse(p_call, v_now, v_refusal);
  END IF;
  v_state := coxswain.lock_state(coxswain.without_agent(v_lock.live, v_agent), v_lock.waiters);
  RETURN coxswain.api_commit(p_call, v_now, (v_lease ->> 'expires_at_ms')::double precision,
    jsonb_build_object('k', 'lock', 'd', p_path, 'e', v_lock.version, 's', v_state,
      'x', CASE WHEN v_state <> '{}' THEN 'held/' || p_path END), '[]',
    v_lock.over || jsonb_build_array(jsonb_build_object('kind', 'lock', 'id', p_path, 'type', 'lock_released', 'data',
      jsonb_build_object('token', v_lease -> 'token'))),
    jsonb_build_object('success', true, 'released', true, 'file_path', p_path));
END $$;

-- The end of a claim (domain/queue/complete-work.ts). Whoever waits for the task is told by the next Coxswain process that
-- asks for work: that is a round of commits of its own.
CREATE FUNCTION coxswain.try_complete_task(
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

-- A task that waits for nothing (domain/queue/submit-work.ts).
CREATE FUNCTION coxswain.try_submit_task(p_call jsonb, p_type text, p_description text, p_input jsonb, p_priority integer)
RETURNS jsonb LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_now bigint := coxswain.now_ms();
  v_id text := gen_random_uuid();
  v_urgency text := lpad(p_priority::text, 2, '0');
  v_data jsonb := jsonb_build_object('task_type', p_type, 'description', p_description, 'priority', p_priority,
    'files', '[]'::jsonb, 'depends_on', '[]'::jsonb, 'unmet', '[]'::jsonb, 'failed_dependencies', '[]'::jsonb,
    'max_attempts', 3, 'attempt_count', 0, 'submitted_by', p_call -> 'agent_id', 'created_at_ms', v_now,
    'has_dependents', false, 'releasing', false);
BEGIN
  IF p_input IS NOT NULL THEN
    v_data := v_data || jsonb_build_object('input_data', p_input);
  END IF;
  RETURN coxswain.api_commit(p_call, v_now, NULL,
    jsonb_build_object('k', 'task', 'd', v_id, 'x', 'ready/' || v_urgency, 'y', format('ready/%s/%s', p_type, v_urgency),
      's', v_data || '{"status": "pending"}'), '[]',
    jsonb_build_array(jsonb_build_object('kind', 'task', 'id', v_id, 'type', 'task_submitted', 'data', v_data)),
    jsonb_build_object('success', true, 'tasks', jsonb_build_array(jsonb_build_object('task_id', v_id, 'status', 'pending'))));
END $$;

-- The first ready task, by the very function that the product claims with. What has become due by time is not looked at:
-- that takes a Coxswain process.
CREATE FUNCTION coxswain.try_claim_task(p_call jsonb, p_types text[], p_lease_ms double precision) RETURNS jsonb
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_item jsonb := jsonb_build_object('i', 0, 'p', p_call -> 'project', 'a', p_call -> 'agent_id',
    'o', p_call -> 'operation_id', 'g', p_call -> 'digest', 'm', p_call -> 'named', 'n', 1e18);
  v_take jsonb := coxswain.api_row(p_call, 0, '{}', '[]') || v_item
    || jsonb_build_object('count', 1, 'lease_ms', p_lease_ms, 'settled', true);
  v_result json;
  v_now bigint;
BEGIN
  IF p_types IS NOT NULL THEN
    v_take := v_take || jsonb_build_object('types', p_types);
  END IF;
  v_result := coxswain.commit_group(2, jsonb_build_array(v_item || '{"t": true}'), NULL, NULL, NULL, NULL, NULL,
    jsonb_build_array(v_take), NULL);
  IF v_result -> 'takes' -> 0 ->> 'position' IS NOT NULL THEN
    RETURN v_result -> 'takes' -> 0 -> 'answer';
  END IF;
  v_now := (v_result ->> 'now')::bigint;
  RETURN coalesce(coxswain.api_recall(p_call), coxswain.api_refuse(p_call, v_now, CASE
    WHEN (v_result -> 'takes' -> 0 ->> 'ready')::boolean THEN coxswain.api_refusal('not_decided_here',
      'Something is ready, but files, folders or agents in line have to be looked at first, which is not done here.')
    WHEN coxswain.first_due(p_call ->> 'project', v_now) IS NOT NULL THEN coxswain.api_refusal('not_decided_here',
      'Nothing is ready, but something has become due and has to be looked at first, which is not done here.')
    ELSE coxswain.api_refusal('no_tasks_available', format('No task%s can be handed out now.',
      ' of type ' || array_to_string(p_types, ', '))) END));
END $$;

CREATE FUNCTION coxswain.api_invalid(p_field text, p_expected text) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN coxswain.api_refusal('invalid_input', p_field || ': expected ' || p_expected,
  jsonb_build_object('field', p_field, 'expected', p_expected));

CREATE FUNCTION coxswain.payload_problem(p_field text, p_value jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN CASE
  WHEN octet_length(p_value::text) > 200000 THEN coxswain.api_invalid(p_field, 'at most 200000 bytes of JSON')
  WHEN p_value::text LIKE '%"\_\_proto\_\_"%' OR jsonb_path_exists(p_value, '$.**{33}')
  THEN coxswain.api_invalid(p_field, 'plain JSON, up to 32 levels deep') END;

-- What all calls share about their input: NULL when there is nothing to complain about.
CREATE FUNCTION coxswain.input_problem(p_operation_id text, p_token bigint, p_minutes_field text, p_minutes double precision)
RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN CASE
  WHEN length(p_operation_id) NOT BETWEEN 1 AND 128 THEN coxswain.api_invalid('operation_id', '1 to 128 characters')
  WHEN p_token NOT BETWEEN 1 AND 9007199254740991 THEN coxswain.api_invalid('fencing_token', 'a token as it was answered')
  WHEN p_minutes NOT BETWEEN 0.02 AND 480 THEN coxswain.api_invalid(p_minutes_field, 'between 0.02 and 480 minutes') END;

CREATE FUNCTION coxswain.path_problem(p_path text) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN CASE WHEN coxswain.is_plain_path(p_path) IS NOT TRUE THEN coxswain.api_refusal('path_invalid',
  'Here a path is given as git spells it from the root of the repository, without ./, .., a glob or a slash at its end; or a '
  || 'logical key, such as api:users.', '{"field": "file_path"}') END;

-- The open functions. They run with more rights than their caller, so each fixes what names mean and names everything in
-- full. After a first try that failed, the locks of it are held: the second finds nobody quicker, unless a lease has run out
-- meanwhile.
CREATE FUNCTION coxswain.acquire_lock(
  file_path text, reason text DEFAULT NULL, ttl_minutes double precision DEFAULT 120, fencing_token bigint DEFAULT NULL,
  operation_id text DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_call jsonb := coxswain.api_call('acquire_lock', operation_id, jsonb_build_object('file_path', file_path, 'reason', reason,
    'ttl_minutes', ttl_minutes, 'fencing_token', fencing_token));
  v_problem jsonb := coalesce(coxswain.path_problem(file_path),
    coxswain.input_problem(operation_id, fencing_token, 'ttl_minutes', ttl_minutes),
    CASE WHEN length(reason) > 2000 THEN coxswain.api_invalid('reason', 'at most 2000 characters') END);
  v_answer jsonb := coxswain.api_recall(v_call);
BEGIN
  IF v_problem IS NOT NULL THEN
    RETURN coxswain.api_refuse(v_call, coxswain.now_ms(), v_problem);
  END IF;
  FOR attempt IN 1 .. 5 LOOP
    EXIT WHEN v_answer IS NOT NULL;
    v_answer := coxswain.try_acquire_lock(v_call, file_path, reason, coalesce(ttl_minutes, 120) * 60000, fencing_token);
  END LOOP;
  RETURN coalesce(v_answer, coxswain.api_refusal('database_unavailable', 'Other writers were quicker; nothing was changed.'));
END $$;

CREATE FUNCTION coxswain.release_lock(file_path text, fencing_token bigint DEFAULT NULL, operation_id text DEFAULT NULL)
RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_call jsonb := coxswain.api_call('release_lock', operation_id,
    jsonb_build_object('file_path', file_path, 'fencing_token', fencing_token));
  v_problem jsonb := coalesce(coxswain.path_problem(file_path), coxswain.input_problem(operation_id, fencing_token, '', NULL));
  v_answer jsonb := coxswain.api_recall(v_call);
BEGIN
  IF v_problem IS NOT NULL THEN
    RETURN coxswain.api_refuse(v_call, coxswain.now_ms(), v_problem);
  END IF;
  FOR attempt IN 1 .. 5 LOOP
    EXIT WHEN v_answer IS NOT NULL;
    v_answer := coxswain.try_release_lock(v_call, file_path, fencing_token);
  END LOOP;
  RETURN coalesce(v_answer, coxswain.api_refusal('database_unavailable', 'Other writers were quicker; nothing was changed.'));
END $$;

-- get_work, under the name it has among the seed's functions.
CREATE FUNCTION coxswain.claim_task(
  task_types text[] DEFAULT NULL, lease_minutes double precision DEFAULT 30, operation_id text DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_call jsonb := coxswain.api_call('get_work', operation_id,
    jsonb_build_object('task_types', task_types, 'lease_minutes', lease_minutes));
  v_problem jsonb := coalesce(coxswain.input_problem(operation_id, NULL, 'lease_minutes', lease_minutes),
    CASE WHEN cardinality(task_types) NOT BETWEEN 1 AND 20
      OR (SELECT bool_or(y IS NULL OR y !~ '^[A-Za-z0-9_.:-]{1,64}$') FROM unnest(task_types) AS y)
    THEN coxswain.api_invalid('task_types', '1 to 20 short words such as test, review, refactor') END);
  v_answer jsonb := coxswain.api_recall(v_call);
BEGIN
  IF v_problem IS NOT NULL THEN
    RETURN coxswain.api_refuse(v_call, coxswain.now_ms(), v_problem);
  END IF;
  v_answer := coalesce(v_answer, coxswain.try_claim_task(v_call, task_types, coalesce(lease_minutes, 30) * 60000));
  RETURN (v_answer - 'tasks') || coalesce(v_answer -> 'tasks' -> 0, '{}');
END $$;

CREATE FUNCTION coxswain.complete_task(
  task_id text, success boolean, result jsonb DEFAULT NULL, error_message text DEFAULT NULL, fencing_token bigint DEFAULT NULL,
  operation_id text DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_call jsonb := coxswain.api_call('complete_work', operation_id, jsonb_build_object('task_id', task_id, 'success', success,
    'result', result, 'error_message', error_message, 'fencing_token', fencing_token));
  v_problem jsonb := coalesce(coxswain.input_problem(operation_id, fencing_token, '', NULL),
    coxswain.payload_problem('result', result),
    CASE WHEN task_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' IS NOT TRUE
      THEN coxswain.api_invalid('task_id', 'a task id as submit_work returns it')
      WHEN success IS NULL THEN coxswain.api_invalid('success', 'boolean')
      WHEN length(error_message) > 2000 THEN coxswain.api_invalid('error_message', 'at most 2000 characters') END);
  v_answer jsonb := coxswain.api_recall(v_call);
BEGIN
  IF v_problem IS NOT NULL THEN
    RETURN coxswain.api_refuse(v_call, coxswain.now_ms(), v_problem);
  END IF;
  FOR attempt IN 1 .. 5 LOOP
    EXIT WHEN v_answer IS NOT NULL;
    v_answer := coxswain.try_complete_task(v_call, task_id, success, result, error_message, fencing_token);
  END LOOP;
  RETURN coalesce(v_answer, coxswain.api_refusal('database_unavailable', 'Other writers were quicker; nothing was changed.'));
END $$;

CREATE FUNCTION coxswain.submit_task(
  task_type text, task_description text, input_data jsonb DEFAULT NULL, priority integer DEFAULT 5,
  depends_on text[] DEFAULT NULL, operation_id text DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  v_call jsonb := coxswain.api_call('submit_work', operation_id, jsonb_build_object('task_type', task_type,
    'task_description', task_description, 'input_data', input_data, 'priority', priority, 'depends_on', depends_on));
  v_problem jsonb := coalesce(coxswain.input_problem(operation_id, NULL, '', NULL),
    coxswain.payload_problem('input_data', input_data),
    CASE WHEN task_type ~ '^[A-Za-z0-9_.:-]{1,64}$' IS NOT TRUE
      THEN coxswain.api_invalid('task_type', 'letters, digits and _ . : - only, at most 64')
      WHEN length(task_description) BETWEEN 1 AND 20000 IS NOT TRUE
      THEN coxswain.api_invalid('task_description', '1 to 20000 characters')
      WHEN priority NOT BETWEEN 1 AND 10 THEN coxswain.api_invalid('priority', '1 (most urgent) to 10')
      WHEN cardinality(depends_on) > 0 THEN coxswain.api_refusal('not_decided_here',
        'What a task has to wait for is not judged here.') END);
  v_answer jsonb := coxswain.api_recall(v_call);
BEGIN
  IF v_problem IS NOT NULL THEN
    RETURN coxswain.api_refuse(v_call, coxswain.now_ms(), v_problem);
  END IF;
  v_answer := coalesce(v_answer,
    coxswain.try_submit_task(v_call, task_type, task_description, input_data, coalesce(priority, 5)));
  RETURN (v_answer - 'tasks') || coalesce(v_answer -> 'tasks' -> 0, '{}');
END $$;
