import type { JsonObject } from '../../../src/kernel/json.ts';
import type { EventBody } from '../../../src/ledger/entity.ts';
import type { LogEntry } from '../../../src/ledger/log.ts';
import { type Circumstances, type Grant, grantOf, insist } from '../model.ts';
import { mayConvergeAlone, pairNamed, STALE_MS, type Terms } from './rules.ts';

const HOUSEKEEPER = 'coxswain';
const isPerson = (agent_id: string) => agent_id.startsWith('person:');

/** One feature on one edge, as the log tells it. */
export interface Pair {
  readonly id: string;
  grant: Grant | undefined;
  role: string;
  /** Position at which the present grant began, or the last one ended. */
  since: number;
  last_active_ms: number;
  /** It was said of this silence that it is one. */
  said: boolean;
  /** A person has seen it and lets it be. */
  kept: boolean;
  /** A person is asked about this grant, until then; its time is not up meanwhile. */
  waiting: { readonly approval_id: string; readonly token: number; readonly until_ms: number } | undefined;
  token_max: number;
}

/** Every grant of the past and present, and the position at which it ended. */
export interface Held {
  readonly id: string;
  readonly grant: Grant;
  readonly since: number;
  until: number;
}

type Handler = (pair: Pair, event: EventBody, row: LogEntry, circumstances: Circumstances) => void;

/** The promises about claims, checked on the log as it grows; it shares no code with the deciders. */
export class ClaimModel {
  readonly all = new Map<string, Pair>();
  readonly everHeld: Held[] = [];
  /** Ids of what was put before a person. */
  readonly asked = new Set<string>();
  terms: Terms = { ttl_ms: undefined, auto_release: false };

  readonly #handlers: Readonly<Record<string, Handler>> = {
    edge_started: (pair, event, row) => this.#started(pair, event, row),
    claim_rejected: (pair, event, row) => this.#rejected(pair, event, row),
    claim_renewed: (...happened) => this.#renewed(...happened),
    iteration_completed: (...happened) => this.#renewed(...happened),
    edge_converged: (...happened) => this.#converged(...happened),
    edge_released: (...happened) => this.#released(...happened),
    claim_expired: (pair, event, row) => this.#expired(pair, event, row),
    claim_kept: (pair, _event, row) => this.#kept(pair, row),
    convergence_escalated: (...happened) => this.#escalated(...happened),
    review_completed: (pair, event, row) => this.#reviewed(pair, event, row),
  };

  of(feature: string, edge: string): Pair {
    const id = pairNamed(feature, edge);
    let pair = this.all.get(id);
    if (pair === undefined) {
      pair = {
        id,
        grant: undefined,
        role: '',
        since: 0,
        last_active_ms: 0,
        said: false,
        kept: false,
        waiting: undefined,
        token_max: 0,
      };
      this.all.set(id, pair);
    }
    return pair;
  }

  apply(event: EventBody, row: LogEntry, circumstances: Circumstances): void {
    if (event.kind !== 'claim') return;
    const { feature, edge } = event.data as Record<string, string>;
    const pair = this.of(String(feature), String(edge));
    insist(event.id === pair.id, 'the same pair under another id', event.id, pair.id);
    const known = this.#handlers[event.type];
    insist(known !== undefined, 'an event nobody knows', event.type);
    known(pair, event, row, circumstances);
  }

  /** After each row: what a review was about is over, and an answered convergence has freed its claim. */
  end(row: LogEntry): void {
    for (const { kind, type, data } of row.events) {
      if (kind !== 'claim') continue;
      const pair = this.of(String(data.feature), String(data.edge));
      if (type === 'edge_converged')
        insist(pair.grant === undefined, 'converged and still held', pair.id, row.position);
      if (type === 'convergence_escalated')
        insist(pair.grant !== undefined, 'waits for a person and is not held', pair.id, row.position);
      if (type === 'review_completed') pair.waiting = undefined;
    }
  }

  #started(pair: Pair, event: EventBody, row: LogEntry): void {
    const grant = grantOf(event.data);
    insist(pair.grant === undefined, 'two holders', pair.id, pair.grant, grant, row.position);
    insist(
      grant.agent_id === row.agent_id && grant.session_id === row.session_id,
      'granted to another',
      row.position,
    );
    insist(event.data.granted_to === row.agent_id, 'says that another got it', row.position);
    this.#tokenGrows(pair, grant, row);
    pair.role = String(event.data.agent_role);
    this.#begin(pair, grant, row);
  }

  #rejected(pair: Pair, event: EventBody, row: LogEntry): void {
    const { grant } = pair;
    insist(grant !== undefined, 'rejected for nobody', pair.id, row.position);
    insist(endOf(pair) > row.at_ms, 'rejected for a holder whose time was up', row.position);
    insist(grant.agent_id !== row.agent_id, 'rejected for itself', row.position);
    insist(event.data.held_by === grant.agent_id, 'the log names another holder', row.position);
  }

  #renewed(pair: Pair, event: EventBody, row: LogEntry, circumstances: Circumstances): void {
    const old = this.#own(pair, row, circumstances);
    const grant = grantOf(event.data);
    insist(grant.agent_id === old.agent_id, 'renewed for another', row.position);
    if (grant.session_id === old.session_id)
      insist(grant.token === old.token, 'a renewal within a session is the same grant', row.position);
    else this.#tokenGrows(pair, grant, row);
    // What was asked about the grant before it is not asked about this one.
    if (grant.token !== old.token) pair.waiting = undefined;
    this.#endGrant(pair, row);
    this.#begin(pair, grant, row);
  }

  /** By its holder within its role; or by a person who was asked about this very grant. */
  #converged(pair: Pair, event: EventBody, row: LogEntry, circumstances: Circumstances): void {
    const { grant, waiting } = pair;
    insist(grant !== undefined, 'converged what nobody held', pair.id, row.position);
    insist(event.data.agent_id === grant.agent_id, 'converged in another’s name', row.position);
    if (isPerson(row.agent_id)) {
      insist(row.operation === 'approve', 'converged by a person who was not asked', row.position);
      insist(waiting?.token === grant.token, 'an approval of another grant', pair.id, row.position);
      insist(event.data.approved_by === row.agent_id, 'nobody knows who let it pass', row.position);
      insist(
        row.events.some(({ type, data }) => type === 'review_completed' && data.decision === 'approved'),
        'let pass without a review',
        row.position,
      );
    } else {
      this.#own(pair, row, circumstances);
      const role = String(event.data.agent_role);
      insist(
        mayConvergeAlone(role, String(event.data.edge)),
        'converged outside its role',
        role,
        row.position,
      );
      insist(event.data.approved_by === undefined, 'says that a person let it pass', row.position);
    }
    this.#free(pair, row);
  }

  #released(pair: Pair, event: EventBody, row: LogEntry, circumstances: Circumstances): void {
    const { grant } = pair;
    insist(grant !== undefined, 'released what nobody held', pair.id, row.position);
    insist(event.data.agent_id === grant.agent_id, 'released in another’s name', row.position);
    switch (event.data.cause) {
      case 'holder':
        this.#own(pair, row, circumstances);
        break;
      case 'person':
        insist(isPerson(row.agent_id), 'released by no person', row.position);
        insist(row.operation === 'resolve_stale_claim', 'freed by the way', row.position);
        insist(row.at_ms - pair.last_active_ms >= STALE_MS, 'freed while active', pair.id, row.position);
        break;
      case 'ttl':
        insist(endOf(pair) <= row.at_ms, 'ended early', pair.id, row.position);
        break;
      case 'stale':
        insist(this.terms.auto_release, 'freed by itself although nobody said so', row.position);
        insist(row.agent_id === HOUSEKEEPER, 'freed for its silence by another', row.position);
        insist(row.at_ms - pair.last_active_ms >= STALE_MS, 'freed while active', pair.id, row.position);
        break;
      default:
        insist(false, 'released for no cause', event.data);
    }
    this.#free(pair, row);
  }

  #expired(pair: Pair, event: EventBody, row: LogEntry): void {
    insist(row.agent_id === HOUSEKEEPER, 'a signal in an agent’s name', row.position);
    insist(pair.grant !== undefined, 'stale and free', pair.id, row.position);
    insist(event.data.held_by === pair.grant.agent_id, 'stale in another’s name', row.position);
    insist(!pair.said, 'said twice of one silence', pair.id, row.position);
    const idle_ms = row.at_ms - pair.last_active_ms;
    insist(idle_ms >= STALE_MS, 'stale while active', pair.id, idle_ms, row.position);
    insist(
      event.data.seconds_idle === Math.floor(idle_ms / 1000),
      'silent for another time',
      event.data,
      idle_ms,
    );
    pair.said = true;
  }

  #kept(pair: Pair, row: LogEntry): void {
    insist(isPerson(row.agent_id), 'kept by no person', row.position);
    insist(pair.grant !== undefined, 'kept for nobody', pair.id, row.position);
    pair.kept = true;
  }

  #escalated(pair: Pair, event: EventBody, row: LogEntry, circumstances: Circumstances): void {
    const grant = this.#own(pair, row, circumstances);
    const { agent_role, edge, approval_id } = event.data as Record<string, string>;
    insist(!mayConvergeAlone(agent_role ?? '', edge ?? ''), 'asked a person without need', row.position);
    const requested = row.events.some(({ type, id }) => type === 'approval_requested' && id === approval_id);
    insist(
      requested || pair.waiting?.approval_id === approval_id,
      'waits for a person whom nobody asked',
      row.position,
    );
    const until_ms = event.data.asked_until_ms as number;
    insist(until_ms > row.at_ms, 'asks for no time at all', row.position);
    pair.waiting = { approval_id: approval_id ?? '', token: grant.token, until_ms };
    this.asked.add(approval_id ?? '');
    this.#active(pair, row);
  }

  /** A no gives the holder its time back, and never more than any agent gets. */
  #reviewed(pair: Pair, event: EventBody, row: LogEntry): void {
    insist(isPerson(row.agent_id), 'reviewed by no person', row.position);
    insist(
      row.operation === 'approve' || row.operation === 'deny_approval',
      'a review by the way',
      row.position,
    );
    insist(pair.waiting?.token === pair.grant?.token, 'a review of what nobody asked for', row.position);
    const isDenied = row.operation === 'deny_approval';
    insist(event.data.decision === (isDenied ? 'rejected' : 'approved'), 'another decision', row.position);
    insist(event.data.reviewed_by === row.agent_id, 'another person', row.position);
    if (event.data.lease === undefined || pair.grant === undefined) return;
    const grant = grantOf(event.data);
    insist(grant.token === pair.grant.token, 'a review that grants', row.position);
    const left_ms = grant.expires_at_ms - row.at_ms;
    // A clock that was set back gives time to every agent.
    const most_ms = Math.max(this.terms.ttl_ms ?? 0, pair.grant.expires_at_ms - pair.last_active_ms);
    insist(left_ms <= most_ms, 'more time than anybody gets', left_ms, row.position);
    pair.grant = grant;
  }

  /** The grant of the agent that wrote the row, which it held and meant. */
  #own(pair: Pair, row: LogEntry, { clock_ms, meant }: Circumstances): Grant {
    const { grant } = pair;
    insist(grant !== undefined, 'done on what nobody held', pair.id, row.operation, row.position);
    insist(grant.agent_id === row.agent_id, 'done by another than its holder', pair.id, row.position);
    insist(endOf(pair) > clock_ms, 'done after its time', pair.id, row.position);
    const token = meant(`claim/${pair.id}`) ?? grant.token;
    insist(token === grant.token, 'done under a grant that is over', pair.id, token, row.position);
    return grant;
  }

  #tokenGrows(pair: Pair, grant: Grant, row: LogEntry): void {
    insist(grant.token > pair.token_max, 'a fencing token that did not grow', pair.id, row.position);
    pair.token_max = grant.token;
  }

  #begin(pair: Pair, grant: Grant, row: LogEntry): void {
    const { ttl_ms } = this.terms;
    if (ttl_ms === undefined) insist(grant.expires_at_ms > row.at_ms + 1e12, 'an end that nobody set', grant);
    else insist(grant.expires_at_ms === row.at_ms + ttl_ms, 'granted for another time', grant);
    pair.grant = grant;
    pair.since = row.position;
    this.everHeld.push({ id: pair.id, grant, since: row.position, until: Number.POSITIVE_INFINITY });
    this.#active(pair, row);
  }

  #active(pair: Pair, row: LogEntry): void {
    pair.last_active_ms = row.at_ms;
    pair.said = false;
    pair.kept = false;
  }

  #free(pair: Pair, row: LogEntry): void {
    this.#endGrant(pair, row);
    pair.grant = undefined;
    pair.said = false;
    pair.kept = false;
    pair.waiting = undefined;
    pair.since = row.position;
  }

  #endGrant(pair: Pair, row: LogEntry): void {
    const held = this.everHeld.findLast(({ id }) => id === pair.id);
    if (held !== undefined) held.until = row.position;
  }
}

/** While a person thinks about it, it does not run out. */
export function endOf({ grant, waiting }: Pair): number {
  return Math.max(grant?.expires_at_ms ?? 0, waiting?.until_ms ?? 0);
}

/** The live record says what the log says. */
export function sameAsLive(pair: Pair, live: JsonObject): boolean {
  const lease = live.lease as Grant | undefined;
  return (
    lease?.token === pair.grant?.token &&
    lease?.agent_id === pair.grant?.agent_id &&
    (pair.grant === undefined ||
      (live.last_active_ms === pair.last_active_ms && (live.stale_since_ms !== undefined) === pair.said))
  );
}
