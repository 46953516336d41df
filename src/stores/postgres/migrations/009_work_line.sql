-- Waiting in line for work: nobody overtakes who has waited longer.
-- The takes of one queue: all of a project, or some types of it. Who came first chooses first; what is handed out is then
-- written in one go.
CREATE OR REPLACE FUNCTION coxswain.take_from(p_project text, p_types text[], p_takes jsonb, p_now_ms bigint) RETURNS json[]
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_due json := coxswain.first_due(p_project, p_now_ms);
  v_total integer;
  v_take record;
  v_ids text[];
  v_files jsonb[];
  -- All of them can be had by anybody: no need to look at each.
  v_plain boolean;
  v_wide boolean := false;
  v_got text[];
  -- What is handed out, and to which take.
  v_taken text[] := '{}';
  v_takers integer[] := '{}';
  v_none integer[] := '{}';
  v_results json[] := '{}';
BEGIN
  -- Who may have what before those who stand in line is left to the pure decision, taken when something is ready.
  IF EXISTS (SELECT FROM coxswain.records r
    WHERE r.project = p_project AND r.kind = 'work_line' AND r.sort_key >= 'waiting/') THEN
    RETURN ARRAY(
      SELECT CASE WHEN v_due IS NOT NULL AND NOT t.settled THEN json_build_object('i', t.i, 'due', v_due)
        ELSE json_build_object('i', t.i, 'none', true, 'ready', coxswain.any_ready(p_project, p_types)) END
      FROM jsonb_to_recordset(p_takes) AS t(i integer, settled boolean));
  END IF;
  SELECT sum(t.count) FILTER (WHERE t.settled OR v_due IS NULL) INTO v_total
  FROM jsonb_to_recordset(p_takes) AS t(count integer, settled boolean);
  SELECT array_agg(c.id), array_agg(c.files),
    p_types IS NULL AND bool_and(c.files = '[]' AND coxswain.try_lock(coxswain.lock_key(p_project, 'task', c.id)))
  INTO v_ids, v_files, v_plain FROM coxswain.candidates(p_project, p_types, v_total) c;

  FOR v_take IN
    SELECT t.i, t.agent_id, t.count, t.settled
    FROM jsonb_to_recordset(p_takes) AS t(i integer, agent_id text, count integer, settled boolean)
  LOOP
    IF v_due IS NOT NULL AND NOT v_take.settled THEN
      v_results := v_results || json_build_object('i', v_take.i, 'due', v_due);
      CONTINUE;
    END IF;
    IF v_plain THEN
      v_got := v_ids[cardinality(v_taken) + 1 : cardinality(v_taken) + v_take.count];
    ELSE
      v_got := coxswain.choose(p_project, p_types, v_ids, v_files, v_taken, v_take.count, v_take.agent_id, p_now_ms, v_wide);
      IF v_got IS NULL THEN
        -- The heads are enough nearly always; more are looked at only when one of them could not be handed out.
        v_wide := true;
        SELECT array_agg(c.id), array_agg(c.files) INTO v_ids, v_files
        FROM coxswain.candidates(p_project, p_types, v_total + 32) c;
        v_got := coxswain.choose(p_project, p_types, v_ids, v_files, v_taken, v_take.count, v_take.agent_id, p_now_ms, true);
      END IF;
    END IF;
    IF cardinality(v_got) > 0 THEN
      v_taken := v_taken || v_got;
      v_takers := v_takers || array_fill(v_take.i, ARRAY[cardinality(v_got)]);
    ELSE
      v_none := v_none || v_take.i;
    END IF;
  END LOOP;

  IF cardinality(v_taken) > 0 THEN
    v_results := v_results || coxswain.claim(p_project, p_takes, v_taken, v_takers, p_now_ms);
  END IF;
  IF cardinality(v_none) > 0 THEN
    v_results := v_results || ARRAY(
      SELECT json_build_object('i', n, 'none', true, 'ready', coxswain.any_ready(p_project, p_types)) FROM unnest(v_none) AS n);
  END IF;
  RETURN v_results;
END $$;
