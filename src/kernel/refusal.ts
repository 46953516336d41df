import type { JsonObject } from './json.ts';

/**
 * A refusal is a value with a stable code. The seeds put that code under three different names, so each code
 * says which one it uses. `remedy` tells an agent what to do next; it is part of the answer, not of the
 * manual.
 */
const catalogue = {
  // input
  invalid_input: ['error', 'Correct the named field and call again; nothing was changed.'],
  unknown_operation: ['error', 'List the operations with `cox --help`, tools/list or GET /openapi.json.'],
  path_invalid: ['error', 'Give a path relative to the repository, such as src/app.ts.'],
  path_too_long: ['error', 'Give a shorter path.'],
  path_outside_repository: [
    'error',
    'Only files inside the repository can be locked; give a path inside it.',
  ],
  path_is_root: ['error', 'Lock the files you mean to change; all of the repository is ./ with its slash.'],
  path_in_git_dir: ['error', "Git keeps its own files in order; lock the work tree's files instead."],
  path_symlink_loop: ['error', 'Give the path of the file itself, not of a link that leads in a circle.'],
  path_unreadable: ['error', 'Make the folder readable for this user, or give another path.'],
  logical_key_invalid: ['error', 'Logical keys look like api:users or db:schema; see the message.'],
  operation_id_reused: ['error', 'Use a new operation_id for a different request.'],
  too_large: ['error', 'Make the request smaller; large contents belong in a file or a commit.'],
  // locks
  blocked: [
    'action',
    'Work on something else, or try again after expires_at; ask locked_by if it is urgent.',
  ],
  not_held: ['error', 'Nothing to do: you do not hold it now. Acquire it again before you change the file.'],
  not_holder: ['error', 'Only the holder can do this. Wait until it is released or expires.'],
  superseded: [
    'error',
    'Your grant is over and a newer one exists. Stop writing, acquire again, then re-read.',
  ],
  would_deadlock: [
    'error',
    'Release what you hold, then ask for all of it in one call; each of you would wait for the other.',
  ],
  // queue
  no_tasks_available: ['reason', 'Try again later, or submit work.'],
  unknown_task: ['error', 'Check the task id; submit_work returns it.'],
  unknown_dependency: ['error', 'Submit the dependencies first, then use the ids that were returned.'],
  dependency_cycle: ['error', 'Remove one of the dependencies that form the cycle.'],
  dependency_failed: [
    'error',
    'Retry that task first, leave it out, or submit with on_dependency_failure skip or run.',
  ],
  lease_expired: [
    'error',
    'Your claim ran out and the task goes to another agent. Drop your result or get_work again.',
  ],
  task_is_filed: [
    'error',
    'Change the file instead: `cox task start|done|error|freeze|retry`, or edit or move it; the queue follows.',
  ],
  wrong_status: ['error', 'Look at the status; this step is not possible from it.'],
  // sessions, mail, teams
  session_ended: ['error', 'Look what you still hold (check_locks), then ask again for what you need.'],
  unknown_message: ['error', 'Check the message id; read_inbox lists what is addressed to you.'],
  no_recipients: ['error', 'Nobody matches; see discover_agents, or name agents in `to`.'],
  not_owner: ['error', 'Ask one of the owners to do it (send_message), or work on another part.'],
  team_limit_reached: ['error', 'Complete what you have claimed before you take more.'],
  team_invalid: ['error', 'Correct teams.yaml as the errors say; `cox team check` shows all of them.'],
  roles_invalid: [
    'error',
    'Correct agent_roles.yml as the errors say, or take it away; then call again. Nothing was changed.',
  ],
  board_invalid: [
    'error',
    'Correct the file as the errors say, then call again; docs/board-file.md describes it. Nothing was changed.',
  ],
  // work directories
  no_work_directory: [
    'error',
    'Name the folder, or make one: `mkdir -p work/inbox work/assigned/NAME` for each agent.',
  ],
  unknown_task_file: [
    'error',
    'Check the id: it is the file’s name without .yaml; list_task_files shows all.',
  ],
  task_invalid: ['error', 'Correct the file as the errors say, then call again; nothing was changed.'],
  task_changed: ['error', 'Look at it again (show_task_file), then decide about what is there.'],
  not_assignee: ['error', 'Leave it to the agent it is for; list_task_files shows what is yours.'],
  git_failed: ['error', 'Do what git says, then run it again; nothing that was written is lost.'],
  unpushed_commits: ['error', 'Push them yourself, or leave --push out; then run it again.'],
  would_overwrite: ['error', 'Look at what is there; --force writes over it. Nothing was written.'],
  coordinator_invalid: ['error', 'Correct coordinator.yml as the errors say; nothing was changed.'],
  // ports
  no_ports_available: [
    'error',
    'Release ports nobody uses (`cox port status` shows them), or try again later.',
  ],
  state_unavailable: [
    'error',
    'Make the named folder and file yours and writable, or set COX_STATE_DIR to another folder.',
  ],
  // guardrails
  guardrails_invalid: ['error', 'Mend the named lines, then run `cox guard test` again.'],
  // setting up agent clients
  config_unusable: ['error', 'Repair the named file, then run the command again; nothing was changed.'],
  config_changed: ['error', 'Run the command again: it plans anew with what is there now.'],
  // profiles and trust
  operation_not_permitted: [
    'error',
    'Do what your profile allows (get_my_profile); somebody with another profile can do this.',
  ],
  insufficient_trust_level: [
    'error',
    'Ask a person, or an agent with more trust, to do it; get_my_profile says what you have.',
  ],
  resource_limit_exceeded: ['error', 'Stop here: hand off what is left (write_handoff) and end the session.'],
  lock_required: ['error', 'Lock the named files first (acquire_lock), then do it again.'],
  unknown_profile: ['error', 'See list_profiles for the names there are.'],
  profiles_invalid: ['error', 'Correct the file as the errors say; nothing was changed.'],
  // network
  domain_blocked: [
    'error',
    'Go on without it; if you need it, ask whoever runs this to list it in your network policy.',
  ],
  // permissions
  forbidden: ['error', 'Ask whoever runs this; an agent’s key does not do it.'],
  unknown_key: ['error', 'List the keys with `cox key list --all`; the id stands in the middle of a key.'],
  person_required: [
    'error',
    'A person does this, in a terminal of their own or with a person’s key in COX_PERSON_KEY.',
  ],
  not_confirmed: ['error', 'Nothing was changed; say it again if it was meant.'],
  // guardrails and approvals
  destructive_operation_blocked: [
    'error',
    'Do it another way (see `instead`), or wait until a person approves it; then repeat it exactly as it is.',
  ],
  credential_file_protected: [
    'error',
    'Leave the file as it is and go on without it; a person has been asked to look at it.',
  ],
  unknown_approval: ['error', 'List what waits with `cox approval list`.'],
  approval_decided: ['error', 'Nothing to do: somebody has decided about it before you.'],
  approval_expired: ['error', 'Nothing to do: if it is tried again, it is asked for again.'],
  approval_changed: ['error', 'Look at it again with `cox approval show`, then decide about what is there.'],
  // verification
  unknown_changeset: ['error', 'Check the changeset id; submit_changeset returns it.'],
  unknown_run: ['error', 'Check the run id; verify_changeset and verification_status show it.'],
  changes_unreadable: [
    'error',
    'Give what was changed as result.diff (what `git diff` prints), or the names as result.files.',
  ],
  tests_required: [
    'error',
    'Have the commit verified (verify_changeset) and complete with it in result.commit.',
  ],
  // the board
  unknown_artefact: ['error', 'Check the id; list_artefacts shows what there is.'],
  unknown_claim: ['error', 'Check the id; board_status lists the claims.'],
  not_a_bidder: ['error', 'Join the board first (join_board), then bid on what is opened from then on.'],
  bidding_over: ['error', 'Nothing to do: it goes on without your bid. my_grants shows what is yours.'],
  not_granted: ['error', 'Deliver only what you were granted; my_grants shows it.'],
  grant_taken: ['error', 'Leave it: the other process delivers, or its hold runs out.'],
  duplicate_role: ['error', 'Give one of them another role, or set allow_duplicate_roles.'],
  // claims
  claim_rejected: [
    'action',
    'Take the suggestion, or something else (route_work); wait_seconds waits until it is free.',
  ],
  convergence_escalated: [
    'action',
    'A person decides (`cox approve`). You keep the claim; go on with something else meanwhile.',
  ],
  edge_not_started: ['error', 'Claim it first (claim_edge); what you hold is in claims_status.'],
  evaluators_failed: [
    'error',
    'Go on until all of them pass, then converge again; the claim is still yours.',
  ],
  role_mismatch: ['error', 'Leave agent_role out, or name the role that the message says.'],
  outside_authority: [
    'error',
    'Release the edge (release_edge) for an agent whose role may converge it; agent_roles.yml says which.',
  ],
  single_agent_mode: [
    'error',
    'Wait until the other one has gone; or whoever runs this says `cox claim mode many`.',
  ],
  claim_not_stale: ['error', 'Ask its holder (send_message); or say even_if_active if you know better.'],
  approval_required: [
    'error',
    'Go on with something else until a person has decided (`cox approve`); then repeat it exactly as it is.',
  ],
  draft_unusable: ['error', 'Correct the named drafts, or leave them out with `paths`; nothing was changed.'],
  no_drafts: [
    'error',
    'Write the new contents into your drafts folder (draft_status names it), then call again.',
  ],
  promotion_under_way: ['error', 'Try again in a moment; draft_status shows what is under way.'],
  promotion_conflicted: [
    'error',
    'Somebody has changed the asset meanwhile: merge that into your draft, then promote again.',
  ],
  promotion_unfinished: [
    'error',
    'Mend what the message names; the next draft_status or promote_draft, of anybody, finishes it.',
  ],
  // store
  database_unavailable: ['error', 'Go on with what needs no coordination and try again in a few seconds.'],
  pending: [
    'action',
    'It is decided when the log can be written again (`cox serialise`); then ask again: the answer is the decision.',
  ],
  store_damaged: [
    'error',
    'Move the damaged file away and restore a copy; a new one is created if none is there.',
  ],
  store_moved: [
    'error',
    'The store was moved, replaced or deleted. Restart this process to use what is there now.',
  ],
  store_unsupported: [
    'error',
    'Put the store on a local disk (--store sqlite:PATH) or use PostgreSQL or DynamoDB.',
  ],
  store_unusable: ['error', 'Do what the message says, then call again; nothing was changed.'],
  store_decides_at_once: [
    'error',
    'Nothing has to be serialised: each call is decided at once. For an inbox, name its folder: --store files:.ai-workspace.',
  ],
  histories_diverged: [
    'error',
    'Go on with one of the two stores and do there again what only the other one has; or copy into an empty store.',
  ],
  disk_full: ['error', 'Free some disk space; nothing was written.'],
  upgrade_required: ['error', 'A newer Coxswain has upgraded this store; update this one.'],
  internal_error: ['error', 'This is a fault of Coxswain: please report it with the message.'],
} as const satisfies Record<string, readonly ['error' | 'reason' | 'action', string]>;

export type RefusalCode = keyof typeof catalogue;

export interface Refusal extends JsonObject {
  success: false;
  message: string;
  remedy: string;
}

export function refuse(code: RefusalCode, message: string, details: JsonObject = {}): Refusal {
  const [field, remedy] = catalogue[code];
  return { success: false, [field]: code, ...details, message, remedy };
}

/** The stable code of a refusal, under whichever name the seeds put it. */
export function refusalCode(refusal: Refusal): RefusalCode {
  for (const field of ['error', 'action', 'reason'] as const) {
    const code = refusal[field];
    if (typeof code === 'string' && Object.hasOwn(catalogue, code)) return code as RefusalCode;
  }
  return 'internal_error';
}

export function isRefusal(answer: JsonObject): answer is Refusal {
  return answer.success === false;
}

/** Thrown by a store that cannot do its work at all; the coordinator turns it into its refusal. */
export class StoreFailure extends Error {
  readonly refusal: Refusal;
  constructor(
    code: RefusalCode,
    message: string,
    options?: {
      readonly cause?: unknown;
      readonly details?: JsonObject;
      /** Where the code's own would not help. */
      readonly remedy?: string;
    },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'StoreFailure';
    const refusal = refuse(code, message, options?.details);
    this.refusal = options?.remedy === undefined ? refusal : { ...refusal, remedy: options.remedy };
  }
}

/**
 * An environment variable with an invalid value: a person has to correct it, and until then nothing is
 * guessed.
 */
export function unusableSetting(field: string, expected: string): StoreFailure {
  return new StoreFailure('invalid_input', `${field}: expected ${expected}`, {
    details: { field, expected },
  });
}
