-- As 007 has it, with fewer tasks and files to a take: what every take goes by besides (the line, a profile's counts, a team's) has
-- to fit into the commit too, and it is the pure decision that makes it when nothing plain is ready.
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
  -- See entities_per_take.
  v_budget integer := 80 - p_count;
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
