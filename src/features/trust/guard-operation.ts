import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, type Needs, type Verdict } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { Actor } from '../../ledger/log.ts';
import type { TrustLevel } from '../../runtime/access.ts';
import { type ApprovalRecord, type ApprovalState, approvalKey } from './approvals/approval.ts';
import { noticeEvent } from './approvals/notice.ts';
import {
  type ApprovalWanted,
  approvalId,
  forbids,
  permits,
  requestEvent,
  useEvent,
  waits,
  wanted,
} from './approvals/request-approval.ts';
import { ACTIONS, type Action, type Finding } from './finding.ts';
import type { Standing } from './profile.ts';
import { type RulebookState, rulebookKey, standingOf, trustLowered } from './rulebook.ts';
import { actionFor, type TrustJudgement } from './verdict.ts';
import {
  countEvent,
  type ViolationCount,
  type ViolationOutcome,
  violationCountKey,
  violationEvent,
} from './violations.ts';

/**
 * Something an agent is about to do, and what was found in it. The code that builds it has masked every
 * secret.
 */
export interface Guard {
  readonly caller: Actor;
  /** `command`, `change`, `task`, `file` …: the kind of thing a person would be shown. */
  readonly kind: string;
  /** Hash of exactly what would be done, before masking: an approval covers this and nothing similar. */
  readonly hash: string;
  /** In one line. */
  readonly subject: string;
  /** All of it, for a person to see: the command, the diff, where it runs. */
  readonly context: JsonObject;
  readonly findings: readonly Finding[];
  /** A person sits at the agent's client and can be asked directly. */
  readonly can_ask?: boolean | undefined;
  /**
   * Whether verification of tier 3 or above has passed. Undefined: unknown, and then there is only a warning.
   */
  readonly verified?: boolean | undefined;
  /** Default trust of agents without a profile, where it differs from the shipped one. */
  readonly default_trust?: TrustLevel | undefined;
}

interface Judged extends TrustJudgement {
  readonly finding: Finding;
}

/** Everything the decision depends on, loaded and judged. */
interface Case {
  readonly guard: Guard;
  readonly standing: Standing;
  readonly judged: readonly Judged[];
  readonly want: ApprovalWanted;
  readonly record: ApprovalRecord | undefined;
  readonly count: ViolationCount | undefined;
  readonly lower_after: number;
  readonly now_ms: number;
}

const strictness = (action: Action) => ACTIONS.indexOf(action);

/**
 * The one decision about dangerous operations. One commit contains the violations and the request to a
 * person; or the use of the approval that permits exactly this; or the notice that it went ahead on the
 * agent's trust. `permitted` is what would then be done: it is committed together with what permits it, or
 * not at all.
 */
export function guardOperation(guard: Guard, permitted?: Decision<JsonObject>): Decision<JsonObject> {
  const own = guardNeeds(guard);
  const inner = permitted?.needs ?? {};
  return {
    needs: {
      keys: [...(own.keys ?? []), ...(inner.keys ?? [])],
      ranges: inner.ranges ?? [],
    },
    decide(loaded, now_ms) {
      const seen = look(guard, loaded, now_ms);
      const blocking = seen.judged.filter(({ action }) => stops(action, guard));
      if (blocking.length === 0) return goAhead(seen, permitted, loaded, undefined);
      if (permits(seen.record, seen.want, now_ms)) return goAhead(seen, permitted, loaded, seen.record);
      return blocked(seen, blocking);
    },
  };
}

function guardNeeds(guard: Guard): Needs {
  const { kind, hash, caller } = guard;
  const id = approvalId({ kind, hash, requested_by: caller.agent_id });
  return { keys: [rulebookKey, violationCountKey(caller.agent_id), approvalKey(id)] };
}

function look(guard: Guard, loaded: Loaded, now_ms: number): Case {
  const rulebook = loaded.get<RulebookState>(rulebookKey)?.state;
  const standing = standingOf(rulebook, guard.caller, guard.default_trust);
  const judged = guard.findings
    .map((finding) => ({ finding, ...actionFor(finding, standing) }))
    // The strictest finding determines the outcome; among equals the first.
    .sort((a, b) => strictness(b.action) - strictness(a.action));
  const settings = rulebook?.settings;
  const ttl_ms = (settings?.approval_hours ?? limits.approval_hours_default) * 3600 * 1000;
  const { kind, subject, context, hash } = guard;
  const operation = judged[0]?.finding.operation ?? kind;
  const requested_by = guard.caller.agent_id;
  const findings = judged.map(shownFinding);
  const want = wanted({ kind, operation, findings, subject, context, requested_by, hash }, ttl_ms);
  return {
    guard,
    standing,
    judged,
    want,
    record: loaded.get<ApprovalState>(approvalKey(want.id)),
    count: loaded.get<ViolationCount>(violationCountKey(guard.caller.agent_id))?.state,
    lower_after: settings?.lower_trust_after ?? limits.lower_trust_after_default,
    now_ms,
  };
}

function stops(action: Action, { can_ask, verified }: Guard): boolean {
  if (action === 'ask') return can_ask !== true;
  if (action === 'verify') return verified === false;
  return action === 'block' || action === 'review';
}

/** What is shown of a finding; its text was masked where it was found. */
function shownFinding({ finding, action, why }: Judged): JsonObject {
  return { ...finding, action, why } as JsonObject;
}

function violations(seen: Case, outcomeOf: (judged: Judged) => ViolationOutcome): EventBody[] {
  const { guard, standing, want, count } = seen;
  return seen.judged.slice(0, limits.violations_per_commit).map((judged, index) => {
    const { operation, category, pattern, matched } = judged.finding;
    const outcome = outcomeOf(judged);
    return violationEvent(guard.caller, (count?.recorded ?? 0) + index + 1, {
      operation,
      category,
      pattern_matched: pattern,
      matched_text: matched,
      context: { kind: guard.kind, subject: guard.subject, why: judged.why },
      blocked: outcome === 'blocked',
      outcome,
      trust_level: standing.trust_level,
      approval_id: outcome === 'blocked' || outcome === 'approved' ? want.id : undefined,
    });
  });
}

function blocked(seen: Case, blocking: readonly Judged[]): Verdict<JsonObject> {
  const { guard, want, record, count, now_ms } = seen;
  const { agent_id } = guard.caller;
  const asksAgain = waits(record, want, now_ms);
  const denied = forbids(record, want, now_ms);
  const stopped = new Set(blocking);
  const recorded = violations(seen, (judged) => (stopped.has(judged) ? 'blocked' : 'warned'));
  // Trying again what already waits for a person is no new violation.
  const before = count?.towards_lowering ?? 0;
  const towards = asksAgain ? before : before + 1;
  const lowered = loweredTo(seen, towards);
  const counts = {
    recorded: recorded.length,
    blocked: 1,
    towards_lowering: lowered === undefined ? towards : 0,
  };
  const events = [...recorded, countEvent(agent_id, counts)];
  if (lowered !== undefined) events.push(trustLowered(agent_id, lowered, `${towards} blocked violations`));
  if (!asksAgain && !denied) {
    events.push(requestEvent(want, guard.caller));
    const { operation, subject } = want.shown;
    const notice = { about: 'approval' as const, operation, subject, approval_id: want.id };
    events.push(noticeEvent(noticeId(seen), guard.caller, notice));
  }
  return commit(
    events,
    blockedAnswer(seen, blocking, denied, lowered),
    asksAgain ? record?.state.expires_at_ms : undefined,
  );
}

/** Has the id of the first violation in the same commit. */
function noticeId({ guard, count }: Case): string {
  return `${guard.caller.agent_id}\n${(count?.recorded ?? 0) + 1}`;
}

function loweredTo({ standing, lower_after }: Case, towards: number): TrustLevel | undefined {
  const isEnough = lower_after > 0 && towards >= lower_after && standing.trust_level > 0;
  return isEnough ? ((standing.trust_level - 1) as TrustLevel) : undefined;
}

function blockedAnswer(
  { judged, want, record }: Case,
  blocking: readonly Judged[],
  denied: boolean,
  lowered: TrustLevel | undefined,
): Refusal {
  const { operation, subject } = want.shown;
  const [first] = blocking;
  const isReview = first?.action === 'review';
  const waiting = isReview
    ? { requires: 'manual_review' }
    : {
        operation,
        approval_required: true,
        ...(first?.action === 'verify' ? { requires: 'verification' } : {}),
      };
  const about = {
    safe: false,
    ...waiting,
    approval_id: want.id,
    approval_status: denied ? 'denied' : 'pending',
    ...(denied
      ? { decided_by: record?.state.decided_by, decision_reason: record?.state.decision_reason }
      : {}),
    ...(lowered === undefined ? {} : { trust_lowered_to: lowered }),
    violations: blocking.map(shownFinding),
    warnings: judged.filter((each) => !blocking.includes(each)).map(shownFinding),
  };
  const decision = denied
    ? ` A person has denied it: ${record?.state.decision_reason ?? ''}`
    : ` It waits for a person as ${want.id}.`;
  const message = `${first?.finding.reason ?? operation} (${subject})${decision}`;
  return refuse(isReview ? 'credential_file_protected' : 'destructive_operation_blocked', message, about);
}

function goAhead(
  seen: Case,
  permitted: Decision<JsonObject> | undefined,
  loaded: Loaded,
  approval: ApprovalRecord | undefined,
): Verdict<JsonObject> {
  const inner = permitted?.decide(loaded, seen.now_ms) ?? commit([], {});
  if (inner.verdict !== 'commit') return inner;
  const events = [...inner.events, ...passEvents(seen, approval)];
  const answer = { ...inner.answer, ...passAnswer(seen, approval, permitted === undefined) };
  const ends = [inner.not_after_ms, approval?.state.expires_at_ms].filter((end) => end !== undefined);
  return commit(events, answer, ends.length === 0 ? undefined : Math.min(...ends));
}

function passEvents(seen: Case, approval: ApprovalRecord | undefined): EventBody[] {
  const { guard, want, judged, count } = seen;
  if (judged.length === 0) return [];
  const recorded = violations(seen, ({ action, elevated }) => {
    if (elevated === true) return 'elevated';
    if (stops(action, guard)) return 'approved';
    return action === 'ask' ? 'asked' : 'warned';
  });
  const towards_lowering = count?.towards_lowering ?? 0;
  const counts = countEvent(guard.caller.agent_id, {
    recorded: recorded.length,
    blocked: 0,
    towards_lowering,
  });
  const events = [...recorded, counts];
  if (approval !== undefined) events.push(useEvent(want, guard.caller));
  const elevated = judged.find((each) => each.elevated === true);
  if (elevated !== undefined) {
    const notice = {
      about: 'elevated' as const,
      operation: elevated.finding.operation,
      subject: guard.subject,
    };
    events.push(noticeEvent(noticeId(seen), guard.caller, notice));
  }
  return events;
}

function passAnswer(
  { judged, guard }: Case,
  approval: ApprovalRecord | undefined,
  alone: boolean,
): JsonObject {
  const told = judged.filter(({ action }) => action !== 'pass').map(shownFinding);
  const asks =
    judged.some(({ action }) => action === 'ask') && guard.can_ask === true && approval === undefined;
  return {
    ...(alone ? { success: true, safe: !asks } : {}),
    ...(asks ? { ask: true } : {}),
    ...(judged.some(({ elevated }) => elevated === true) ? { elevated: true } : {}),
    ...(approval === undefined ? {} : { approval_id: approval.id, approved_by: approval.state.decided_by }),
    ...(alone || told.length > 0 ? { warnings: told } : {}),
  };
}
