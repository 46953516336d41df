import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, need, refused, type Verdict } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { Actor } from '../../ledger/log.ts';
import type { TrustLevel } from '../../runtime/access.ts';
import {
  type Changeset,
  changesetEvent,
  changesetKey,
  changesNoted,
  type NewChangeset,
  type Routed,
  sessionChangesKey,
} from '../changesets/index.ts';
import { type RulebookState, rulebookKey, standingOf } from '../trust/index.ts';
import { policiesIn, policyBookKey } from './policy-book.ts';
import { ASKED_MS, askPerson } from './verification-approval.ts';
import { type ChangedFiles, type PlannedRun, planFor } from './verification-plan.ts';
import {
  describeRun,
  FINAL,
  overall,
  type RunRecord,
  type RunState,
  runEvent,
  runId,
  runKey,
} from './verification-run.ts';

/** Files as git or GitHub has them; without, the changeset's own word is taken. */
export interface ChangeSeen extends ChangedFiles {
  readonly from: 'git' | 'push';
}

export interface ChangesetRouting {
  readonly changeset_id: string;
  /** Of a changeset that was submitted without one. */
  readonly commit_sha?: string | undefined;
  readonly seen?: ChangeSeen | undefined;
  /** What has a result is run once more. */
  readonly force?: boolean | undefined;
  readonly is_person: boolean;
  /** Of authors without a profile, where it is not what ships. */
  readonly default_trust?: TrustLevel | undefined;
}

const NEEDS = [policyBookKey, rulebookKey];
/** An abbreviation may mean another commit tomorrow, and would be verified a second time beside its full name. */
const FULL_COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const UNDECLARED_SHOWN = 20;
/** Of those that made a policy apply; the changeset has more of them. */
const FILES_KEPT = 20;

/** Kept, and answered with what will have to be verified; nothing is run before it is routed. */
export function submitChangeset(
  id: string,
  caller: Actor,
  changeset: NewChangeset,
  { default_trust }: Pick<ChangesetRouting, 'default_trust'> = {},
): Decision<JsonObject> {
  return {
    needs: { keys: [changesetKey(id), sessionChangesKey(caller), ...NEEDS] },
    decide(loaded) {
      const { planned, trust_level } = planOf(loaded, caller, changeset, default_trust);
      return commit([changesetEvent(id, caller, changeset), ...changesNoted(caller, loaded)], {
        success: true,
        changeset_id: id,
        session_id: caller.session_id,
        trust_level,
        plan: planned.map(describePlanned),
      });
    },
  };
}

/** Every policy that applies to the changeset gets its run for the commit; what has one already keeps it. */
export function routeChangeset(routing: ChangesetRouting): Decision<JsonObject> {
  const key = changesetKey(routing.changeset_id);
  return {
    needs: { keys: [key, ...NEEDS] },
    decide(loaded, now_ms) {
      const changeset = loaded.get<Changeset>(key)?.state;
      if (changeset === undefined) return refused(unknownChangeset(routing.changeset_id));
      return route(loaded, routing, changeset, [], now_ms);
    },
  };
}

/**
 * Submitted and routed in one step, by a door that has seen the files itself. The id comes from what was seen: the same push
 * delivered again, the same commit looked at again, is the same changeset.
 */
export function receiveChange(
  id: string,
  caller: Actor,
  changeset: NewChangeset,
  routing: Omit<ChangesetRouting, 'changeset_id'> & { readonly seen: ChangeSeen },
): Decision<JsonObject> {
  const key = changesetKey(id);
  return {
    needs: { keys: [key, sessionChangesKey(caller), ...NEEDS] },
    decide(loaded, now_ms) {
      const known = loaded.get<Changeset>(key)?.state;
      const routed = { ...routing, changeset_id: id };
      if (known !== undefined) return route(loaded, routed, known, [], now_ms);
      const submitted = changesetEvent(id, caller, changeset);
      const first = [submitted, ...changesNoted(caller, loaded)];
      return route(loaded, routed, submitted.data as unknown as Changeset, first, now_ms);
    },
  };
}

function planOf(loaded: Loaded, author: Actor, changed: ChangedFiles, default_trust?: TrustLevel) {
  const rulebook = loaded.get<RulebookState>(rulebookKey)?.state;
  const { trust_level } = standingOf(rulebook, author, default_trust);
  return { planned: planFor(changed, policiesIn(loaded), trust_level), trust_level };
}

function route(
  loaded: Loaded,
  routing: ChangesetRouting,
  changeset: Changeset,
  first: readonly EventBody[],
  now_ms: number,
): Verdict<JsonObject> {
  const { changeset_id, seen, force = false } = routing;
  const commit_sha = routing.commit_sha ?? changeset.commit_sha ?? changeset.routed?.commit_sha;
  if (commit_sha === undefined || !FULL_COMMIT.test(commit_sha)) return refused(needsCommit());
  if (force && !routing.is_person)
    return refused(refuse('forbidden', 'Only a person has a commit verified once more (force).'));
  const { agent_id, agent_type = 'unknown', session_id } = changeset;
  const author = { agent_id, agent_type, session_id };
  const { planned, trust_level } = planOf(loaded, author, seen ?? changeset, routing.default_trust);
  const routed = routedAs(changeset, commit_sha, planned, trust_level, seen);
  const idOf = (policy: string) => runId(commit_sha, policy);
  const missing = routed.policies.map((name) => runKey(idOf(name))).filter((key) => !loaded.hasKey(key));
  if (missing.length > 0) return need({ keys: missing });

  const events: EventBody[] = [];
  const runs = routed.policies.flatMap((name) => {
    const id = idOf(name);
    const record = loaded.get<RunState>(runKey(id));
    const plan = planned.find(({ policy }) => policy.name === name);
    if (plan === undefined || (record !== undefined && !isAskedAgain(record, plan, force, now_ms)))
      return record === undefined ? [] : [{ id, state: record.state }];
    const queued = queue(plan, { changeset_id, commit_sha, author });
    events.push(runEvent(id, 'verification_queued', queued));
    if (plan.status === 'waiting_for_person') {
      const { summary, diff } = changeset;
      const { files, policy } = plan;
      const asked = {
        run_id: id,
        policy: policy.name,
        requested_by: author,
        commit_sha,
        files,
        summary,
        diff,
      };
      events.push(...askPerson(asked));
    }
    return [{ id, state: { ...queued, attempts: 0, queued_at_ms: 0 } }];
  });
  if (JSON.stringify(routed) !== JSON.stringify(changeset.routed))
    events.unshift({
      ...changesetKey(changeset_id),
      type: 'changeset_routed',
      data: { ...routed } as unknown as JsonObject,
    });
  return commit([...first, ...events], {
    success: true,
    changeset_id,
    commit_sha,
    trust_level,
    undeclared_files: routed.undeclared_files?.slice(),
    status: overall(runs.map(({ state }) => state.status)),
    queued: events.filter(({ type }) => type === 'verification_queued').length,
    runs: runs.map(({ id, state }) => briefly(id, state)),
  });
}

function queue(plan: PlannedRun, about: Pick<RunState, 'changeset_id' | 'commit_sha' | 'author'>) {
  const { policy, files, status, reason } = plan;
  const kept = files.slice(0, FILES_KEPT);
  return { ...about, policy, files: kept, file_count: files.length, status, reason };
}

/** Times are the commit's own, and known only after it: verification_status shows them. */
function briefly(id: string, state: RunState): JsonObject {
  const { queued_at: _, ...rest } = describeRun(id, state);
  return rest;
}

function isAskedAgain({ state }: RunRecord, plan: PlannedRun, force: boolean, now_ms: number): boolean {
  if (state.status === 'waiting_for_person') return now_ms >= state.queued_at_ms + ASKED_MS;
  if (FINAL.has(state.status)) return force;
  if (state.status === 'error' || state.status === 'timed_out') return plan.status !== 'skipped';
  // Left out for one author's trust, wanted for another's.
  return state.status === 'skipped' && (plan.status !== 'skipped' || force);
}

function routedAs(
  changeset: Changeset,
  commit_sha: string,
  planned: readonly PlannedRun[],
  trust_level: number,
  seen: ChangeSeen | undefined,
): Routed {
  const policies = planned.map(({ policy }) => policy.name);
  const before = changeset.routed?.commit_sha === commit_sha ? changeset.routed : undefined;
  // What git has seen can't be talked away by asking again with the agent's own list.
  if (seen === undefined && before !== undefined && before.files_from !== 'agent')
    return { ...before, policies: [...new Set([...before.policies, ...policies])] };
  const declared = new Set(changeset.files);
  const undeclared = seen?.from === 'git' ? seen.files.filter((file) => !declared.has(file)) : [];
  return {
    commit_sha,
    policies,
    trust_level,
    files_from: seen?.from ?? 'agent',
    file_count: seen?.files.length ?? changeset.files.length,
    ...(undeclared.length === 0 ? {} : { undeclared_files: undeclared.slice(0, UNDECLARED_SHOWN) }),
  };
}

function describePlanned({ policy, files, status, reason }: PlannedRun): JsonObject {
  const { name, tier, executor } = policy;
  return { policy: name, tier, executor, status, reason, file_count: files.length };
}

export function unknownChangeset(changeset_id: string): Refusal {
  const message = `There is no changeset ${changeset_id}.`;
  return refuse('unknown_changeset', message, { field: 'changeset_id', changeset_id });
}

function needsCommit(): Refusal {
  const expected = 'the full id of the commit that holds the change (git rev-parse HEAD)';
  return refuse('invalid_input', `commit_sha: expected ${expected}`, { field: 'commit_sha', expected });
}
