-- Locks on folders and patterns, shared locks, waiting in line. Who knows only exclusive locks on files must not write any
-- more: it would not see a folder's lock.
UPDATE coxswain.meta SET epoch = 2;

-- Locks are found by their place: a lock on a folder looks at what is held below it.
UPDATE coxswain.records SET sort_key = 'held/' || id
WHERE kind = 'lock' AND sort_key >= 'held/' AND sort_key < 'held0';

-- While no folder is locked or waited for, a file's own record says all. Held shared, as an expectation is: no folder is
-- locked in between.
CREATE FUNCTION coxswain.no_folder_is_locked(p_project text) RETURNS boolean LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  IF NOT coxswain.try_lock_shared(coxswain.lock_key(p_project, 'lock_folders', 'all')) THEN
    RETURN false;
  END IF;
  RETURN NOT EXISTS (
    SELECT FROM coxswain.records r
    WHERE r.project = p_project AND r.kind = 'lock_folders' AND r.id = 'all' AND r.state -> 'folders' <> '[]');
END $$;

-- The first tasks of the list that this agent can have and nobody has been given. NULL (unless p_final): one of the heads
-- can't be had, and behind it may stand one of its type that comes before the other types' heads. None at all when files
-- have to be compared with folders: that is left to the pure decision, which the caller takes when something is ready.
CREATE OR REPLACE FUNCTION coxswain.choose(
  p_project text, p_types text[], p_ids text[], p_files jsonb[], p_taken text[], p_count integer, p_agent_id text,
  p_now_ms bigint, p_final boolean
) RETURNS text[] LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_got text[] := '{}';
  v_candidates integer := 0;
  v_passed boolean := false;
  v_asked boolean := false;
  -- One take looks at no more than 90 tasks and files; see entities_per_take.
  v_budget integer := 90 - p_count;
BEGIN
  FOR at IN 1 .. coalesce(cardinality(p_ids), 0) LOOP
    CONTINUE WHEN p_ids[at] = ANY (p_taken);
    v_budget := v_budget - jsonb_array_length(p_files[at]);
    EXIT WHEN v_budget < 0;
    v_candidates := v_candidates + 1;
    IF NOT v_asked AND p_files[at] <> '[]' THEN
      v_asked := true;
      IF NOT coxswain.no_folder_is_locked(p_project) THEN
        RETURN '{}';
      END IF;
    END IF;
    IF coxswain.try_lock(coxswain.lock_key(p_project, 'task', p_ids[at]))
      AND (p_files[at] = '[]' OR coxswain.files_are_free(p_project, p_files[at], p_agent_id, p_now_ms))
      AND (p_types IS NULL OR coxswain.still_ready(p_project, p_ids[at]))
    THEN
      v_got := v_got || p_ids[at];
      EXIT WHEN cardinality(v_got) = p_count;
    ELSIF v_candidates <= p_count THEN
      v_passed := true;
    END IF;
  END LOOP;
  RETURN CASE WHEN p_final OR NOT v_passed THEN v_got END;
END $$;

-- One exclusive lease is `lease`; readers, and whoever holds while others wait, are in `leases`. To a task that changes the
-- file all of them are the same.
CREATE FUNCTION coxswain.leases_of(p_state jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_state ? 'lease'
  THEN jsonb_build_array(p_state -> 'lease' || jsonb_strip_nulls(jsonb_build_object('reason', p_state -> 'reason')))
  ELSE coalesce(p_state -> 'leases', '[]') END;

-- The locks' entities are held shared before they are read, as an expectation is: nobody locks a file in between.
CREATE OR REPLACE FUNCTION coxswain.files_are_free(p_project text, p_files jsonb, p_agent_id text, p_now_ms bigint)
RETURNS boolean LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_paths text[] := ARRAY(SELECT jsonb_array_elements_text(p_files));
BEGIN
  IF NOT (SELECT bool_and(coxswain.try_lock_shared(coxswain.lock_key(p_project, 'lock', f))) FROM unnest(v_paths) AS f) THEN
    RETURN false;
  END IF;
  RETURN NOT EXISTS (
    SELECT FROM coxswain.records r CROSS JOIN LATERAL jsonb_array_elements(coxswain.leases_of(r.state)) AS l(lease)
    WHERE r.project = p_project AND r.kind = 'lock' AND r.id = ANY (v_paths)
      AND (l.lease ->> 'expires_at_ms')::double precision > p_now_ms
      AND l.lease ->> 'agent_id' <> p_agent_id);
END $$;

CREATE OR REPLACE VIEW coxswain.file_locks WITH (security_invoker = true) AS
SELECT r.project,
  coalesce(l.lease ->> 'pattern', r.id) COLLATE "C" AS file_path,
  l.lease ->> 'agent_id' AS locked_by,
  l.lease ->> 'agent_type' AS agent_type,
  l.lease ->> 'session_id' AS session_id,
  to_timestamp((l.lease ->> 'granted_at_ms')::double precision / 1000) AS locked_at,
  to_timestamp((l.lease ->> 'expires_at_ms')::double precision / 1000) AS expires_at,
  l.lease ->> 'reason' AS reason,
  jsonb_build_object('fencing_token', l.lease -> 'token') AS metadata,
  coalesce((l.lease -> 'shared')::boolean, false) AS shared
FROM coxswain.records r CROSS JOIN LATERAL jsonb_array_elements(coxswain.leases_of(r.state)) AS l(lease)
-- A lock past its expiry is free, whether or not anybody has noticed yet.
WHERE r.kind = 'lock' AND (l.lease ->> 'expires_at_ms')::double precision / 1000 > extract(epoch FROM clock_timestamp());
