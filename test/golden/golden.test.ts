import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { EventBody } from '../../src/ledger/entity.ts';
import { EVENT_SCHEMA, type LogEntry } from '../../src/ledger/log.ts';
import { apply, canonical, type State } from '../../src/ledger/replay.ts';
import { entities } from '../../src/runtime/entities.ts';
import { tellStory } from './scenario.ts';

interface Golden {
  readonly log: LogEntry[];
  readonly state: Record<string, unknown>;
}

/** Logs of every schema there ever was are kept: what a user has on disk must still be understood. */
function golden(schema: number): Golden {
  const file = new URL(`./schema-${schema}.json`, import.meta.url);
  assert.ok(existsSync(file), `a golden log of schema ${schema} is missing`);
  return JSON.parse(readFileSync(file, 'utf8')) as Golden;
}

/** What stores hold and other programs read. A change here is a decision: raise EVENT_SCHEMA and add a golden log. */
const EVENTS: Record<string, string> = {
  'api_key/key_created': 'agent_id? agent_type? created_at_ms created_by expires_at_ms? hash name role',
  'api_key/key_revoked': 'agent_id revoked_at_ms',
  'approval/approval_approved': 'decided_by decision_reason?',
  'approval/approval_denied': 'decided_by decision_reason',
  'approval/approval_requested':
    'agent_type context findings hash kind operation requested_by session_id shown_hash subject ttl_ms',
  'approval/approval_used': 'agent_id session_id',
  'artefact/artefact_published':
    'claim_id? late? logical_id payload phase? produced_by_agent produced_by_role source_artefacts structural_type summary? type version',
  'board/bidder_joined': 'agent_id files? max_attempts? on_failure? role standing_bid? timeout_ms?',
  'board/bidder_left': 'agent_id',
  'board/board_configured': 'agents settings',
  'board_claim/bid_placed': 'agent_id placed',
  'board_claim/bidders_changed': 'roster',
  'board_claim/bids_closed': 'silent',
  'board_claim/claim_completed': '',
  'board_claim/claim_opened': 'opened',
  'board_claim/claim_terminated': 'agent_id? reason terminated_by?',
  'board_claim/grant_repeated': 'agent_id artefact_id grant reason',
  'board_claim/grant_taken': 'agent_id grant',
  'board_claim/phase_started': 'granted phase',
  'board_claim/work_assigned': 'agent_id granted',
  'board_claim/work_delivered': 'agent_id artefact_id verdict',
  'calls/call_counted': '',
  'changeset/changeset_routed': 'commit_sha file_count files_from policies trust_level undeclared_files?',
  'changeset/changeset_submitted':
    'agent_id agent_type? base_sha? branch? commit_sha? diff? file_count? files session_id summary?',
  'claim/claim_expired': 'edge feature held_by seconds_idle source',
  'claim/claim_kept': 'edge feature kept_by reason?',
  'claim/claim_rejected': 'agent_id agent_role? edge feature held_by reason',
  'claim/claim_renewed': 'agent_id edge feature lease',
  'claim/convergence_escalated':
    'action agent_id agent_role? approval_id asked_until_ms edge feature norm_edge reason',
  'claim/edge_converged':
    'agent_id agent_role? approved_by? convergence_type? edge evaluators? feature iteration?',
  'claim/edge_released': 'agent_id cause edge feature reason released_by',
  'claim/edge_started': 'agent_role? edge feature granted_to lease source',
  'claim/iteration_completed': 'agent_id edge feature iteration lease note?',
  'claim/review_completed': 'decision edge feature feedback lease? reviewed_by',
  'claim_mode/claim_mode_changed': 'agent? cause changed_by mode second_agent',
  'claim_mode/single_agent_changed': 'agent_id caller_id',
  'handoff/handoff_written':
    'agent_name completed_work decisions in_progress next_steps relevant_files session_id summary',
  'lock/lock_acquired': 'lease pattern? reason? shared?',
  'lock/lock_awaited': 'waiter',
  'lock/lock_expired': 'lease pattern?',
  'lock/lock_refreshed': 'lease pattern? reason? shared?',
  'lock/lock_released': 'agent_id? cause? pattern? token',
  'lock/lock_wait_ended': 'pattern? waiter_id',
  'lock_folders/lock_folder_closed': 'folder',
  'lock_folders/lock_folder_opened': 'folder',
  'message/message_acknowledged': '',
  'message/message_sent': 'addressed_to? body from in_reply_to? message_id recipients? subject? thread_id to',
  'notice/notice_claimed': 'channel',
  'notice/notice_failed': 'channel error',
  'notice/notice_raised': 'about agent_id agent_type approval_id? operation session_id subject',
  'notice/notice_sent': 'channel',
  'promotion/promotion_completed': '',
  'promotion/promotion_conflicted': 'published reason',
  'promotion/promotion_started': 'agent_id approval_id? approved_by? edge feature files',
  'promotions_under_way/promotion_closed': 'promotion_id',
  'promotions_under_way/promotion_opened': 'assets promotion_id',
  'rulebook/network_policy_removed': 'name',
  'rulebook/network_policy_set': 'allow default? deny name',
  'rulebook/profile_assigned': 'agent_id? agent_type? by profile',
  'rulebook/profile_removed': 'by name',
  'rulebook/profile_set': 'by profile',
  'rulebook/profile_unassigned': 'agent_id? agent_type? by',
  'rulebook/rulebook_settings_set': 'approval_hours? by default_trust? lower_trust_after?',
  'rulebook/trust_lowered': 'agent_id reason to',
  'rulebook/trust_restored': 'agent_id by',
  'session/session_active': 'calls',
  'session/session_ended': 'end_reason',
  'session/session_freed': 'locks_released tasks_returned',
  'session/session_heartbeat': 'calls',
  'session/session_registered': 'agent_type capabilities? current_task? token_hash',
  'session/session_resumed': 'calls',
  'session/session_started': 'agent_id agent_type capabilities session_id',
  'session_changes/session_changed_files': '',
  'task/dependency_failed': 'task_id',
  'task/dependency_met': 'task_id',
  'task/dependents_released': '',
  'task/task_cancelled': 'agent_id? error_message? file?',
  'task/task_claimed': 'lease',
  'task/task_completed': 'agent_id changes? file? moved_from? result? token?',
  'task/task_dead_lettered': 'agent_id error_message token',
  'task/task_depended_on': '',
  'task/task_failed': 'agent_id changes? error_message? file? moved_from? result? token?',
  'task/task_file_changed': 'changes? file moved_from?',
  'task/task_filed': 'changes? file moved_from? task?',
  'task/task_lease_expired': 'agent_id retry_at_ms token',
  'task/task_promoted': '',
  'task/task_renewed': 'lease',
  'task/task_reprioritised': 'priority',
  'task/task_retried': '',
  'task/task_skipped': 'error_message task_id',
  'task/task_submitted':
    'attempt_count created_at_ms depends_on description failed_dependencies files has_dependents input_data? max_attempts not_before_ms? on_dependency_failure? priority releasing submitted_by task_type unmet',
  'thread/rework_granted': 'granted_by',
  'thread/rework_started': 'claim_id',
  'thread/thread_advanced': 'artefact_id version',
  'usage/usage_counted': 'file_reads? files? spawned_agents?',
  'usage/usage_ended': '',
  'verification_policy/verification_policy_removed': 'name removed_by',
  'verification_policy/verification_policy_set': 'policy set_by',
  'verification_result/verification_approved': 'decided_by reason?',
  'verification_result/verification_dispatched': 'external lease',
  'verification_result/verification_finished':
    'decided_by? error_message? executor? exit_code? output? status url?',
  'verification_result/verification_queued':
    'author changeset_id commit_sha file_count files policy reason? status',
  'verification_result/verification_renewed': 'lease',
  'verification_result/verification_started': 'executor lease secret_hash?',
  'violation/violation_recorded':
    'agent_id agent_type approval_id? blocked category context matched_text operation outcome pattern_matched session_id trust_level',
  'violation_count/violation_counted': 'blocked recorded towards_lowering',
  'work_holder/work_counted': '',
  'work_line/line_joined': 'waiter',
  'work_line/line_left': 'waiter_ids',
};

const LEASE = /^agent_id agent_type expires_at_ms granted_at_ms session_id token$/;
const WAITER =
  /^agent_id (agent_type )?alive_until_ms id (pattern )?(session_id )?(shared )?(since_ms|task_types)?$/;
/** What events of the board hold in one of their fields. */
const INSIDE: Record<string, string> = {
  opened:
    'additional_context_ids artefact_id artefact_type awaited bids bids_due_ms? generation logical_id produced_by_agent produced_by_role',
  roster: 'awaited bids bids_due_ms? generation',
  placed: 'bid by files? invalid?',
  grant: 'attempt deadline_ms granted_at_ms limit_ms phase role started_at_ms? taken?',
  settings:
    'allow_duplicate_roles bid_deadline_ms max_attempts max_review_iterations on_failure stuck_ms timeouts_ms',
};
/** Where a task lies that is a file. */
const FILE = 'agent depends_on? directory filing? id path stalls_at_ms? started_at_ms? started_by? status';
const ROW =
  'agent_id agent_type at_ms duration_ms events operation operation_id parameters position project result schema sequence session_id';

const names = (value: object) => Object.keys(value).sort().join(' ');

function fieldsAre(what: string, shape: string, value: object): void {
  const known = new Set(shape.split(' ').map((name) => name.replace('?', '')));
  for (const name of Object.keys(value)) assert.ok(known.has(name), `${what} has a new field ${name}`);
  for (const name of shape.split(' ').filter((each) => each !== '' && !each.endsWith('?')))
    assert.ok(name in value, `${what} has lost its field ${name}`);
}

function shapeIsKnown({ kind, type, data }: EventBody): void {
  const shape = EVENTS[`${kind}/${type}`];
  assert.ok(shape !== undefined, `${kind}/${type} is not in the list`);
  fieldsAre(type, shape, data);
  if (data.lease !== undefined) assert.match(names(data.lease as object), LEASE);
  if (data.waiter !== undefined) assert.match(names(data.waiter as object), WAITER);
  if (kind === 'task' && data.file !== undefined) fieldsAre(`${type}.file`, FILE, data.file as object);
  if (!kind.startsWith('board')) return;
  for (const [field, inside] of Object.entries(INSIDE))
    if (data[field] !== undefined) fieldsAre(`${type}.${field}`, inside, data[field] as object);
}

test('[AUD-5] golden logs of every schema replay to the state that was pinned with them', () => {
  for (let schema = 1; schema <= EVENT_SCHEMA; schema += 1) {
    const { log, state: pinned } = golden(schema);
    const state: State = new Map();
    for (const entry of log) apply(entities, state, entry);
    assert.deepEqual(JSON.parse(canonical(Object.fromEntries(state))), pinned);
    assert.deepEqual([...new Set(log.map((entry) => entry.schema))], [schema]);
  }
});

test('[AUD-5] the golden log has every event, and rows and events have the pinned fields', () => {
  const { log } = golden(EVENT_SCHEMA);
  const events = log.flatMap((entry) => entry.events);
  assert.deepEqual(
    [...new Set(events.map(({ kind, type }) => `${kind}/${type}`))].sort(),
    Object.keys(EVENTS),
  );
  for (const event of events) shapeIsKnown(event);
  for (const entry of log) assert.equal(names(entry), ROW);
});

/** Secrets come from the system alone, never from a test's randomness. */
function withoutSecrets({ kind, id, type, data }: EventBody): JsonObject {
  const { hash: _, token_hash: __, ...rest } = data;
  return { kind, id: kind === 'api_key' ? '' : id, type, data: rest };
}

test('[AUD-1] the same story told today gives the golden log: same rows, same events, same order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cox-golden-'));
  try {
    const told = await tellStory(folder);
    // The wording of answers may change without a new schema.
    const essence = (log: LogEntry[]) =>
      log.map(({ result, parameters, events, ...rest }) => ({
        ...rest,
        success: result.success,
        events: events.map(withoutSecrets),
      }));
    assert.deepEqual(essence(told), essence(golden(EVENT_SCHEMA).log));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
