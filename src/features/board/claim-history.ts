import { isoTime } from '../../kernel/clock.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { ApprovalRecord } from '../trust/approvals/index.ts';
import type { ArtefactRecord } from './artefact.ts';
import { byName } from './board.ts';
import {
  type BoardClaimRecord,
  type BoardClaimState,
  type BoardGrant,
  bidBy,
  grantTo,
} from './board-claim.ts';
import { PHASES, type Phase } from './board-settings.ts';

/** A claim with everything that was delivered for it. */
export interface ClaimStory {
  readonly claim: BoardClaimRecord;
  readonly made: readonly ArtefactRecord[];
}

/** One version of an artefact with the claim that it opened and, if it was rejected, the claim that sent it back. */
export interface VersionStory {
  readonly artefact: ArtefactRecord;
  readonly claims: readonly ClaimStory[];
}

type Step = { readonly at_ms: number; readonly what: string } & {
  readonly [field: string]: Json | undefined;
};

/**
 * What happened to an artefact since its first version. Built from the records, so it works even where the
 * start of the log is archived.
 */
export function historyOf(
  versions: readonly VersionStory[],
  decisions: readonly ApprovalRecord[],
): JsonObject[] {
  const steps = [
    ...versions.flatMap((version) => [published(version.artefact), ...version.claims.flatMap(claimSteps)]),
    ...decisions.flatMap(decisionSteps),
  ];
  // Steps of the same time stay in this order, in which one led to the other.
  return steps
    .toSorted((a, b) => a.at_ms - b.at_ms)
    .map(({ at_ms, ...step }) => ({ at: isoTime(at_ms), ...step }));
}

function published({ id, state }: ArtefactRecord): Step {
  const { created_at_ms, version, type, produced_by_agent, summary } = state;
  return {
    at_ms: created_at_ms,
    what: 'published',
    artefact_id: id,
    version,
    type,
    agent_id: produced_by_agent,
    summary,
  };
}

function claimSteps({ claim, made }: ClaimStory): Step[] {
  const { id, state } = claim;
  const isRework = Object.keys(state.bids).length === 0 && state.additional_context_ids.length > 0;
  const others = made.filter(({ state: { logical_id } }) => logical_id !== state.logical_id);
  const handedIn = new Map(others.map((artefact) => [artefact.id, artefact]));
  const extra = Map.groupBy(mishaps(state, others), ({ what }) => what === 'late');
  const steps = [
    ...bidSteps(state),
    // A second grant is always the result of a failure.
    ...(extra.get(false) ?? []),
    ...PHASES.flatMap((phase) => phaseSteps(state, phase, isRework, handedIn)),
  ];
  // The version that the rework produced stands for its end.
  const isToldOtherwise = isRework && state.status === 'complete';
  if (state.ended_at_ms !== undefined && !isToldOtherwise)
    steps.push({
      at_ms: state.ended_at_ms,
      what: 'ended',
      status: state.status,
      reason: state.termination_reason,
    });
  return [...steps, ...(extra.get(true) ?? [])].map((step) => ({ ...step, claim_id: id }));
}

/** All standing bids are one step, since no agent was asked. */
function bidSteps(state: BoardClaimState): Step[] {
  const placed = Object.keys(state.bids)
    .sort(byName)
    .flatMap((agent_id) => {
      const bid = bidBy(state, agent_id);
      return bid === undefined ? [] : [{ agent_id, ...bid }];
    });
  const standing = placed.filter(({ by }) => by === 'strategy');
  const together = Map.groupBy(standing, ({ at_ms }) => at_ms);
  return [
    ...[...together].map(([at_ms, bids]) => ({
      at_ms,
      what: 'standing_bids',
      bids: Object.fromEntries(bids.map(({ agent_id, bid }) => [agent_id, bid])),
    })),
    ...placed
      .filter(({ by }) => by !== 'strategy')
      .map(({ agent_id, at_ms, bid, by, invalid }) => ({
        at_ms,
        what: by === 'deadline' ? 'silent' : 'bid',
        agent_id,
        bid,
        invalid,
      })),
  ];
}

function phaseSteps(
  state: BoardClaimState,
  phase: Phase,
  isRework: boolean,
  handedIn: ReadonlyMap<string, ArtefactRecord>,
): Step[] {
  const granted = Object.keys(state.grants)
    .sort(byName)
    .flatMap((agent_id) => {
      const grant = grantTo(state, agent_id);
      return grant?.phase === phase ? [{ agent_id, grant }] : [];
    });
  const together = Map.groupBy(granted, ({ grant }) => grant.granted_at_ms);
  return [
    ...[...together].map(([at_ms, grants]) => ({
      at_ms,
      what: isRework ? 'sent_back' : 'granted',
      phase,
      agents: grants.map(({ agent_id }) => agent_id),
    })),
    ...granted.flatMap(({ agent_id, grant }) => partSteps(agent_id, grant, handedIn)),
  ];
}

function partSteps(
  agent_id: string,
  grant: BoardGrant,
  handedIn: ReadonlyMap<string, ArtefactRecord>,
): Step[] {
  const { started_at_ms, attempt, phase, delivered } = grant;
  const begun =
    started_at_ms === undefined ? [] : [{ at_ms: started_at_ms, what: 'started', agent_id, phase, attempt }];
  const result = delivered === undefined ? undefined : handedIn.get(delivered.artefact_id);
  if (delivered === undefined || result === undefined) return begun;
  const { verdict } = delivered;
  return [...begun, handed(result, 'delivered', { agent_id, phase, verdict })];
}

function handed({ id, state }: ArtefactRecord, what: string, more: JsonObject): Step {
  const { created_at_ms, type, summary, structural_type, payload } = state;
  // A reviewer's feedback is its payload. Other payloads are shown by `get_artefact`.
  const feedback = structural_type === 'Review' ? payload : undefined;
  return { at_ms: created_at_ms, what, ...more, artefact_id: id, type, summary, feedback };
}

/** What was delivered and did not become a result: failed attempts, and deliveries that came too late. */
function mishaps(state: BoardClaimState, made: readonly ArtefactRecord[]): Step[] {
  const results = new Set(
    Object.keys(state.grants).map((name) => grantTo(state, name)?.delivered?.artefact_id),
  );
  return made
    .filter(({ id }) => !results.has(id))
    .map((artefact) => {
      const { late, structural_type, produced_by_agent, phase } = artefact.state;
      const what = late === true ? 'late' : structural_type === 'Failure' ? 'failed' : 'delivered';
      return handed(artefact, what, { agent_id: produced_by_agent, phase });
    });
}

function decisionSteps({ id, state }: ApprovalRecord): Step[] {
  const { created_at_ms, decided_at_ms, decided_by, decision_reason, subject, status } = state;
  const asked = { at_ms: created_at_ms, what: 'person_asked', approval_id: id, subject };
  if (decided_at_ms === undefined) return [asked];
  const verdict = status === 'denied' ? 'denied' : 'approved';
  return [
    asked,
    {
      at_ms: decided_at_ms,
      what: 'person_decided',
      approval_id: id,
      decided_by,
      verdict,
      reason: decision_reason,
    },
  ];
}
