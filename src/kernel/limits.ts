/**
 * Every size limit of the product, in one place. The ledger's limits are the tightest of all engines we
 * support (DynamoDB: 100 items a transaction, 400 KB an item, 1,024 bytes a sort key), so that what works on
 * one store works on all.
 */
export const limits = {
  entities_per_commit: 96,
  state_bytes_max: 320_000,
  entity_id_bytes_max: 950,
  index_key_bytes_max: 950,
  links_per_record: 50,
  range_rows_max: 1000,
  need_rounds: 4,
  commit_attempts: 60,
  operation_id_chars_max: 128,
  operation_kept_ms: 24 * 3600 * 1000,

  agent_id_chars_max: 128,
  reason_chars_max: 2000,
  ttl_minutes_min: 0.02,
  ttl_minutes_max: 480,
  port_ttl_minutes_max: 7 * 24 * 60,
  lock_ttl_minutes_default: 120,
  task_lease_minutes_default: 30,
  paths_per_call: 20,
  locks_listed_max: 1000,
  /** Locks and waiters under one folder that a lock on the folder looks through. */
  locks_below_max: 1000,
  /** Folders with a lock or a waiter, in total. */
  lock_folders_max: 300,
  lock_waiters_max: 100,
  work_waiters_max: 500,
  /** Expiries recorded together with a grant; further ones are recorded in separate rounds before it. */
  expiries_per_commit: 30,
  wait_seconds_max: 3600,
  /**
   * A waiter that has been silent for this long counts as dead and no longer delays the waiters behind it.
   */
  waiter_alive_ms: 6000,

  sessions_per_round: 50,
  sessions_listed_max: 500,
  capabilities_max: 20,
  /** One recorded sign of life covers all calls within this time. */
  session_touch_ms: 60_000,
  /** Three of these fit into the time after which a silent session counts as dead. */
  session_keep_alive_ms: 5 * 60_000,
  session_idle_minutes_default: 5,
  session_stale_minutes_default: 15,
  /** How much one commit of a clean-up frees. */
  freed_per_commit: 30,

  handoff_chars_max: 20_000,
  handoff_items_max: 50,
  handoff_item_chars_max: 2000,
  handoffs_listed_max: 50,

  changeset_files_max: 500,
  changeset_diff_chars_max: 100_000,

  /** Together with what one routing reads and writes, this many fit into a commit. */
  verification_policies_max: 40,
  verification_patterns_max: 100,
  verification_timeout_seconds_max: 24 * 3600,
  verification_output_chars_max: 16_000,
  verification_attempts_max: 3,
  /** A runner reports this often that it is alive; after three missed reports another one takes over. */
  verification_lease_ms: 60_000,
  /** Files of a push; GitHub leaves out the rest of a larger push. */
  push_files_max: 2048,

  /**
   * A claim may wait for each of them, and its record has a limited number of links. All of them are also in
   * the one record that every bid relies on.
   */
  board_agents_max: 40,
  board_roster_bytes_max: 200_000,
  board_areas_per_agent_max: 20,
  board_target_types_max: 50,
  /** Executions of one agent at once. */
  board_concurrent_max: 100,
  board_attempts_max: 100,
  board_review_iterations_max: 1000,
  /** A single timer can wait that long; the maximum of a timer is 24 days. */
  board_time_ms_max: 7 * 24 * 3600 * 1000,

  message_chars_max: 10_000,
  message_recipients_max: 40,
  messages_listed_max: 100,

  task_description_chars_max: 20_000,
  task_payload_bytes_max: 200_000,
  task_files_max: 20,
  task_dependencies_max: 50,
  task_batch_max: 50,
  task_attempts_max: 100,
  task_attempts_default: 3,
  task_delay_ms_max: 366 * 24 * 3600 * 1000,
  /** Rows of each kind that a status looks at, and stuck items that it lists. */
  overview_rows_max: 200,
  overview_stuck_max: 20,
  json_depth_max: 32,
  candidates_per_take: 32,
  /**
   * Tasks handed out plus the files checked for them. The folders above those files, and the records every
   * take relies on, come on top.
   */
  entities_per_take: 80,
  /**
   * Total size of several tasks handed out at once, in the answer and so in its row; a single task has the
   * limit of its state.
   */
  take_bytes_max: 320_000,
  due_per_round: 32,
  parents_per_round: 8,
  dependents_per_round: 50,

  artefact_type_chars_max: 100,
  artefact_payload_bytes_max: 200_000,
  artefact_sources_max: 40,
  artefacts_listed_max: 200,
  context_depth: 10,
  context_artefacts_max: 100,
  board_claims_listed_max: 200,
  /** Claims checked in one round of the board's deadlines. */
  board_claims_per_round: 8,
  /**
   * An orchestrator reports this often that it is alive; after three missed reports another one takes over.
   */
  grant_lease_ms: 60_000,
  feature_chars_max: 200,
  edge_chars_max: 100,
  agent_role_chars_max: 64,
  claims_listed_max: 1000,
  /** On a store without a disk or a process of ours, only this expiry ends what a dead agent holds. */
  claim_ttl_ms_default: 3600 * 1000,
  /** Claims checked for silence in one round. */
  claims_per_round: 30,
  evaluators_max: 50,
  evaluator_name_chars_max: 200,
  /**
   * The size of a file in an inbox, and how many files of one agent a pass of the serialiser takes: one
   * agent's flood must not delay other agents.
   */
  proposal_bytes_max: 16_000_000,
  proposals_per_pass: 1000,
  /** A file that can't be read yet may still be being written. */
  proposal_settles_ms: 2000,

  drafts_listed_max: 200,
  draft_bytes_max: 5_000_000,
  draft_depth_max: 32,
  /**
   * An object that a draft may replace: it is fetched for comparison, and a bucket has objects of any size.
   */
  asset_bytes_max: 50_000_000,
  /** Each file takes a lock's record, and all of them go into one commit. */
  promotion_files_max: 30,
  promotions_under_way_max: 20,
  /** In the worst encoding six bytes each; the names of the files come on top. */
  promotion_diff_chars_max: 40_000,
  /** After this long without its staged contents a promotion will not be finished. */
  promotion_lost_ms: 3600 * 1000,
  /** One of the files that describe a team or a fleet. */
  fleet_file_bytes_max: 256 * 1024,
  features_max: 5000,
  /** Task files of a work directory, not counting those in its archive. */
  workdir_files_max: 50_000,
  workdir_depth_max: 6,
  task_file_title_chars_max: 300,
  /** Artefacts, notes and the like of one task. */
  task_file_items_max: 100,
  task_file_item_chars_max: 2000,
  task_files_listed_max: 500,
  feature_folder_depth_max: 8,
  modules_per_feature_max: 500,
  modules_max: 10_000,
  routed_agents_max: 100,
  shared_modules_listed_max: 20,
  /** Warnings, groups and the like in one answer. */
  routing_listed_max: 200,

  approvals_looked_at_max: 200,
  approvals_listed_max: 100,
  approval_hours_default: 24,
  approval_hours_max: 30 * 24,
  violations_listed_max: 200,
  /** Findings of one operation that are recorded; the rest is counted. */
  violations_per_commit: 10,
  lower_trust_after_default: 5,
  operation_text_chars_max: 50_000,
  notice_attempts_max: 3,
  notices_per_round: 50,
  /** Older notices are not delivered. */
  notice_fresh_ms: 24 * 3600 * 1000,
  /** The rulebook is one record, and every commit relies on it. */
  profiles_max: 100,
  assignments_max: 500,
  lowered_agents_max: 500,
  profile_words_max: 100,
  network_policies_max: 100,
  rulebook_file_chars_max: 200_000,
  network_entries_max: 200,
  network_addresses_max: 32,
  network_access_listed_max: 200,

  /** What an agent's command may print, on each of its two streams. */
  agent_output_bytes_max: 10_000_000,
  /** Each text of a failure. */
  agent_failure_chars_max: 5000,
  bid_script_ms_max: 10_000,
  bid_output_bytes_max: 64 * 1024,

  keys_max: 1000,
  key_days_max: 3650,
  /**
   * MCP over HTTP: clients with an open session, and how long a session may be idle, without a request or a
   * listener.
   */
  mcp_sessions_max: 4096,
  mcp_session_idle_ms: 30 * 60 * 1000,
  /** MCP over HTTP: clients without a session whose grants are remembered. */
  mcp_callers_max: 4096,
  prompt_argument_chars_max: 4096,
  audit_rows_per_page: 200,
  audit_retention_days_default: 90,
  /** Twice as long as operation ids are remembered: a row they refer to is never removed. */
  audit_retention_ms_min: 2 * 24 * 3600 * 1000,
} as const;
