import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXIT_CODES, HTTP_STATUS, verdictOf } from '../../src/doors/answer.ts';
import { type RefusalCode, refuse } from '../../src/kernel/refusal.ts';
import { operations } from '../../src/operations/index.ts';

/** What other programs are written against. A change here breaks them: add, never rename. */
const OPERATIONS = [
  'acquire_lock POST /locks/acquire cox lock acquire',
  'release_lock POST /locks/release cox lock release',
  'check_locks POST /locks/check cox lock check',
  'submit_work POST /work/submit cox work submit',
  'get_work POST /work/claim cox work get',
  'complete_work POST /work/complete cox work complete',
  'renew_work POST /work/renew cox work renew',
  'show_work POST /work/show cox work show',
  'list_work POST /work/list cox work list',
  'cancel_work POST /work/cancel cox work cancel',
  'reprioritise_work POST /work/reprioritise cox work reprioritise',
  'retry_work POST /work/retry cox work retry',
  'submit_work_batch POST /work/submit-batch cox work submit-batch',
  'get_work_batch POST /work/claim-batch cox work get-batch',
  'complete_work_batch POST /work/complete-batch cox work complete-batch',
  'register_session POST /sessions/register cox session register',
  'heartbeat POST /sessions/heartbeat cox session heartbeat',
  'discover_agents POST /agents/discover cox session list',
  'end_session POST /sessions/end cox session end',
  'cleanup_dead_agents POST /sessions/cleanup cox session cleanup',
  'write_handoff POST /handoffs/write cox handoff write',
  'read_handoff POST /handoffs/read cox handoff read',
  'send_message POST /mail/send cox mail send',
  'read_inbox POST /mail/inbox cox mail inbox',
  'acknowledge_message POST /mail/acknowledge cox mail acknowledge',
  'show_team POST /team/show cox team check',
  'submit_changeset POST /changesets/submit cox changeset submit',
  'list_changesets POST /changesets/list cox changeset list',
  'verify_changeset POST /changesets/verify cox changeset verify',
  'verification_status POST /verification/status cox verification status',
  'list_verification_policies GET /verification/policies cox verification list',
  'set_verification_policy POST /verification/policies/set cox verification set',
  'remove_verification_policy POST /verification/policies/remove cox verification remove',
  'start_verification POST /verification/start cox verification start',
  'record_verification POST /verification/record cox verification record',
  'draft_status POST /drafts/status cox draft status',
  'promote_draft POST /drafts/promote cox draft promote',
  'discard_drafts POST /drafts/discard cox draft discard',
  'rebuild_views POST /views/rebuild cox views rebuild',
  'allocate_ports POST /ports/allocate cox port allocate',
  'release_ports POST /ports/release cox port release',
  'ports_status GET /ports/status cox port status',
  'check_network POST /network/check cox network check',
  'list_network_access POST /network/log cox network log',
  'set_network_policy POST /network/policies/set cox network set-policy',
  'remove_network_policy POST /network/policies/remove cox network remove-policy',
  'list_network_policies POST /network/policies/list cox network policies',
  'create_key POST /keys/create cox key create',
  'list_keys POST /keys/list cox key list',
  'revoke_key POST /keys/revoke cox key revoke',
  'query_audit GET /audit cox audit query',
  'get_stats GET /stats cox audit stats',
  'check_guardrails POST /guardrails/check cox guard check',
  'list_violations POST /guardrails/violations cox guard violations',
  'list_approvals POST /approvals/list cox approval list',
  'show_approval POST /approvals/show cox approval show',
  'approve POST /approvals/approve cox approval approve',
  'deny_approval POST /approvals/deny cox approval deny',
  'get_my_profile GET /profiles/me cox profile me',
  'list_profiles POST /profiles/list cox profile list',
  'show_profile POST /profiles/show cox profile show',
  'set_profile POST /profiles/set cox profile set',
  'remove_profile POST /profiles/remove cox profile remove',
  'assign_profile POST /profiles/assign cox profile assign',
  'unassign_profile POST /profiles/unassign cox profile unassign',
  'restore_trust POST /profiles/restore-trust cox profile restore-trust',
  'apply_profiles POST /profiles/apply cox profile apply',
  'check_policy POST /policy/check cox profile check',
  'report_usage POST /profiles/usage cox profile report-usage',
  'claim_edge POST /claims/claim cox claim take',
  'heartbeat_claim POST /claims/heartbeat cox claim heartbeat',
  'release_edge POST /claims/release cox claim release',
  'converge_edge POST /claims/converge cox claim converge',
  'claims_status GET /claims/status cox claim status',
  'resolve_stale_claim POST /claims/resolve cox claim resolve',
  'set_claim_mode POST /claims/mode cox claim mode',
  'route_work POST /claims/route cox claim route',
];

test('names: operations, routes and commands', () => {
  assert.deepEqual(
    operations.map(
      ({ name, route, group, verb }) => `${name} ${route.method} ${route.path} cox ${group} ${verb}`,
    ),
    OPERATIONS,
  );
});

/** Addresses that users of other coordinators know. */
const ALIASES = ['claims_status GET /api/status', 'route_work POST /api/start'];

test('[CLAIM-12] names: aliases', () => {
  assert.deepEqual(
    operations.flatMap(({ name, aliases = [] }) =>
      aliases.map(({ method, path }) => `${name} ${method} ${path}`),
    ),
    ALIASES,
  );
});

/** The fields of each operation's input; those with a question mark may be left out. */
const FIELDS: Record<string, string> = {
  acquire_lock:
    'file_path? file_paths? shared? wait_seconds? reason? ttl_minutes? fencing_token? operation_id?',
  release_lock: 'file_path? file_paths? fencing_token? operation_id?',
  check_locks: 'file_paths?',
  submit_work:
    'task_type task_description input_data? priority? files? on_dependency_failure? not_before? max_attempts? idempotency_key? depends_on? operation_id?',
  get_work: 'task_types? lease_minutes? wait_seconds? operation_id?',
  complete_work: 'task_id success result? error_message? fencing_token? operation_id?',
  renew_work: 'task_id lease_minutes? fencing_token? operation_id?',
  show_work: 'task_id',
  list_work: 'limit?',
  cancel_work: 'task_id reason? operation_id?',
  reprioritise_work: 'task_id priority operation_id?',
  retry_work: 'task_id operation_id?',
  submit_work_batch: 'tasks operation_id?',
  get_work_batch: 'task_types? lease_minutes? count? wait_seconds? operation_id?',
  complete_work_batch: 'items operation_id?',
  register_session: 'capabilities? current_task? operation_id?',
  heartbeat: 'operation_id?',
  discover_agents: 'capability? status?',
  end_session: 'operation_id?',
  cleanup_dead_agents: 'stale_threshold_minutes? operation_id?',
  write_handoff: 'summary completed_work? in_progress? decisions? next_steps? relevant_files? operation_id?',
  read_handoff: 'agent_name? limit?',
  send_message: 'to? capability? subject? body in_reply_to? operation_id?',
  read_inbox: 'all? thread_id? limit?',
  acknowledge_message: 'message_ids operation_id?',
  show_team: '',
  submit_changeset: 'file_paths commit_sha? base? diff? summary? operation_id?',
  list_changesets: 'agent_name? of_session? limit?',
  verify_changeset: 'changeset_id commit_sha? force? operation_id?',
  verification_status: 'changeset_id? commit_sha?',
  list_verification_policies: '',
  set_verification_policy:
    'name tier executor fallback? patterns exclude_patterns? required_environment? timeout_seconds? requires_approval? command? workflow? ref? link? operation_id?',
  remove_verification_policy: 'name operation_id?',
  start_verification: 'run_id timeout_minutes? operation_id?',
  record_verification: 'run_id status secret? exit_code? output? url? operation_id?',
  draft_status: 'agent_id?',
  promote_draft: 'feature edge paths? evaluators? fencing_token? operation_id?',
  discard_drafts: 'paths? operation_id?',
  rebuild_views: 'operation_id?',
  allocate_ports: 'session_id ttl_minutes?',
  release_ports: 'session_id',
  ports_status: '',
  check_network: 'url? domain? port? addresses? server_name? operation_id?',
  list_network_access: 'agent_id? allowed? limit?',
  set_network_policy: 'name allow? deny? default? operation_id?',
  remove_network_policy: 'name operation_id?',
  list_network_policies: '',
  create_key: 'agent? agent_type? person? service? name? expires_days? operation_id?',
  list_keys: 'all?',
  revoke_key: 'key_id operation_id?',
  query_audit: 'agent_id? operation? since? until? result? limit? cursor?',
  get_stats: 'since?',
  check_guardrails: 'operation_text file_paths? dry_run? operation_id?',
  list_violations: 'agent_id? limit?',
  list_approvals: 'status? requested_by? limit?',
  show_approval: 'approval_id',
  approve: 'approval_id shown_hash reason? operation_id?',
  deny_approval: 'approval_id reason shown_hash? operation_id?',
  get_my_profile: '',
  list_profiles: '',
  show_profile: 'name',
  set_profile:
    'name trust_level? agent_types? connection? network_policy? network_default? required_domains? allowed_operations? blocked_operations? guardrails? elevated_operations? resource_limits? operation_id?',
  remove_profile: 'name operation_id?',
  assign_profile: 'profile to_agent? to_type? operation_id?',
  unassign_profile: 'to_agent? to_type? operation_id?',
  restore_trust: 'agent_name operation_id?',
  apply_profiles: 'document operation_id?',
  check_policy: 'operation resource? context?',
  report_usage: 'file_reads? files? operation_id?',
  claim_edge: 'feature edge agent_role? wait_seconds? operation_id?',
  heartbeat_claim: 'feature edge iteration? note? fencing_token? operation_id?',
  release_edge: 'feature edge reason? fencing_token? operation_id?',
  converge_edge:
    'feature edge agent_role? iteration? evaluators? convergence_type? fencing_token? operation_id?',
  claims_status: 'feature? agent_id?',
  resolve_stale_claim: 'feature edge decision reason? even_if_active? operation_id?',
  set_claim_mode: 'mode second_agent? operation_id?',
  route_work: 'agents? limit?',
};

test('names: fields of every input', async () => {
  const fields: Record<string, string> = {};
  for (const operation of operations) {
    const { properties = {}, required = [] } = (await operation.input()).json;
    const needed = new Set(required as string[]);
    fields[operation.name] = Object.keys(properties as object)
      .map((field) => (needed.has(field) ? field : `${field}?`))
      .join(' ');
  }
  assert.deepEqual(fields, FIELDS);
});

/** The compiler sees to it that none is missing. Code, the field it travels under, the exit code of the command, the HTTP status. */
const CODES: Record<RefusalCode, string> = {
  invalid_input: 'error 2 422',
  unknown_operation: 'error 2 422',
  path_invalid: 'error 2 422',
  path_too_long: 'error 2 422',
  path_outside_repository: 'error 2 422',
  path_is_root: 'error 2 422',
  path_in_git_dir: 'error 2 422',
  path_symlink_loop: 'error 2 422',
  path_unreadable: 'error 2 422',
  logical_key_invalid: 'error 2 422',
  operation_id_reused: 'error 1 200',
  too_large: 'error 2 422',
  blocked: 'action 1 200',
  not_held: 'error 1 200',
  not_holder: 'error 1 200',
  superseded: 'error 1 200',
  would_deadlock: 'error 1 200',
  no_tasks_available: 'reason 1 200',
  unknown_task: 'error 1 200',
  unknown_dependency: 'error 1 200',
  dependency_cycle: 'error 1 200',
  dependency_failed: 'error 1 200',
  lease_expired: 'error 1 200',
  wrong_status: 'error 1 200',
  session_ended: 'error 1 200',
  unknown_message: 'error 1 200',
  no_recipients: 'error 1 200',
  not_owner: 'error 1 200',
  team_limit_reached: 'error 1 200',
  team_invalid: 'error 1 200',
  roles_invalid: 'error 1 200',
  board_invalid: 'error 1 200',
  no_ports_available: 'error 1 200',
  state_unavailable: 'error 4 503',
  guardrails_invalid: 'error 2 422',
  config_unusable: 'error 2 422',
  config_changed: 'error 1 200',
  operation_not_permitted: 'error 1 200',
  insufficient_trust_level: 'error 1 200',
  resource_limit_exceeded: 'error 1 200',
  lock_required: 'error 1 200',
  unknown_profile: 'error 1 200',
  profiles_invalid: 'error 2 422',
  domain_blocked: 'error 1 200',
  forbidden: 'error 1 403',
  unknown_key: 'error 1 200',
  person_required: 'error 1 403',
  not_confirmed: 'error 1 200',
  destructive_operation_blocked: 'error 3 200',
  credential_file_protected: 'error 3 200',
  unknown_approval: 'error 1 200',
  approval_decided: 'error 1 200',
  approval_expired: 'error 1 200',
  approval_changed: 'error 1 200',
  unknown_changeset: 'error 1 200',
  unknown_run: 'error 1 200',
  changes_unreadable: 'error 1 200',
  tests_required: 'error 1 200',
  claim_rejected: 'action 1 200',
  convergence_escalated: 'action 3 200',
  edge_not_started: 'error 1 200',
  evaluators_failed: 'error 1 200',
  role_mismatch: 'error 1 200',
  outside_authority: 'error 1 200',
  single_agent_mode: 'error 1 200',
  claim_not_stale: 'error 1 200',
  approval_required: 'error 3 200',
  draft_unusable: 'error 1 200',
  no_drafts: 'error 1 200',
  promotion_under_way: 'error 1 200',
  promotion_conflicted: 'error 1 200',
  promotion_unfinished: 'error 1 200',
  database_unavailable: 'error 4 503',
  store_damaged: 'error 4 503',
  store_moved: 'error 4 503',
  store_unsupported: 'error 4 503',
  store_unusable: 'error 4 503',
  store_decides_at_once: 'error 1 200',
  histories_diverged: 'error 1 200',
  disk_full: 'error 4 503',
  pending: 'action 3 200',
  upgrade_required: 'error 4 503',
  internal_error: 'error 1 500',
};

test('names: refusal codes, and what each door makes of them', () => {
  for (const [code, expected] of Object.entries(CODES)) {
    const refusal = refuse(code as RefusalCode, 'message');
    const carrier = ['error', 'action', 'reason'].find((field) => refusal[field] === code);
    const verdict = verdictOf(refusal);
    assert.equal(`${carrier} ${EXIT_CODES[verdict]} ${HTTP_STATUS[verdict]}`, expected, code);
  }
  assert.equal(EXIT_CODES[verdictOf({ success: true })], 0);
  assert.equal(EXIT_CODES[verdictOf({ success: true, waiting_for_person: true })], 3);
  assert.equal(EXIT_CODES[verdictOf({ success: false, results: [] })], 1);
});
