import type { JsonObject } from '../../../src/kernel/json.ts';
import type { EventBody } from '../../../src/ledger/entity.ts';
import type { LogEntry } from '../../../src/ledger/log.ts';
import { insist } from '../model.ts';
import { ThreadModel } from './model-threads.ts';

const PHASES = ['review', 'parallel', 'exclusive'];
const WORDS: Readonly<Record<string, string>> = {
  review: 'review',
  parallel: 'claim',
  exclusive: 'exclusive',
};

interface Lease {
  readonly session_id: string;
  readonly until_ms: number;
  readonly queued?: boolean;
}

/** What one agent is to deliver in one phase. */
export interface Part {
  readonly phase: string;
  /** Position at which it was granted. */
  readonly since: number;
  attempt: number;
  deadline_ms: number;
  limit_ms: number;
  started_at_ms: number | undefined;
  lease: Lease | undefined;
  verdict: string | undefined;
}

/** A claim on the board, as the log tells it. */
export interface Claimed {
  readonly id: string;
  readonly artefact_id: string;
  readonly isRework: boolean;
  awaited: Set<string>;
  bids: Map<string, string>;
  bids_due_ms: number;
  phase: string | undefined;
  readonly phases: string[];
  readonly parts: Map<string, Part>;
  ended: string | undefined;
  /** Position of its last event, and since when it has asked for the bids it asks for now. */
  changed: number;
  asked: number;
}

interface Member {
  readonly agent_id: string;
  readonly timeout_ms?: number;
}

interface Settings {
  readonly bid_deadline_ms: number;
  readonly timeouts_ms: Readonly<Record<string, number>>;
  readonly on_failure: string;
  readonly max_attempts: number;
  readonly max_review_iterations: number;
}

type Handler = (claim: Claimed, event: EventBody, row: LogEntry) => void;

/** The promises about the board, checked on the log as it grows; it shares no code with the deciders. */
export class BoardModel {
  readonly claims = new Map<string, Claimed>();
  readonly threads = new ThreadModel(this);
  readonly members = new Map<string, Member>();
  settings: Settings | undefined;
  /** Position at which the roster last changed: claims may not have been told yet. */
  rosterSince = 0;
  readonly #touched = new Set<Claimed>();
  readonly #handlers: Readonly<Record<string, Handler>> = {
    bid_placed: (claim, event, row) => this.#bid(claim, event, row),
    bids_closed: (claim, event, row) => this.#closed(claim, event, row),
    bidders_changed: (claim, event, row) => this.#asked(claim, event, row),
    phase_started: (claim, event, row) => this.#started(claim, event, row),
    work_assigned: (claim, event, row) => this.#assigned(claim, event, row),
    grant_taken: (claim, event, row) => this.#taken(claim, event, row),
    grant_repeated: (claim, event, row) => this.#repeated(claim, event, row),
    work_delivered: (claim, event, row) => this.#delivered(claim, event, row),
    claim_completed: (claim, _event, row) => this.#completed(claim, row),
    claim_terminated: (claim, event, row) => this.#terminated(claim, event, row),
  };

  apply(event: EventBody, row: LogEntry): void {
    if (event.kind === 'board') this.#roster(event, row);
    else if (event.kind === 'board_claim') this.#claim(event, row);
    else this.threads.apply(event, row);
  }

  /** After each row: whatever its commit made possible has happened in it. */
  end(row: LogEntry): void {
    for (const claim of this.#touched) {
      if (claim.ended !== undefined) continue;
      const isIdle = claim.phase === undefined && claim.awaited.size === 0 && this.members.size > 0;
      insist(!isIdle, 'everybody has bid and nothing goes on', claim.id, row.position);
      insist(
        claim.phase === undefined || this.outstanding(claim).length > 0,
        'everybody has delivered and nothing goes on',
        claim.id,
        row.position,
      );
    }
    this.#touched.clear();
    this.threads.end(row);
  }

  open(): Claimed[] {
    return [...this.claims.values()].filter(({ ended }) => ended === undefined);
  }

  outstanding({ ended, phase, parts }: Claimed): string[] {
    if (ended !== undefined) return [];
    return [...parts]
      .filter(([, part]) => part.phase === phase && part.verdict === undefined)
      .map(([name]) => name);
  }

  dueAt_ms(claim: Claimed): number {
    const deadlines = this.outstanding(claim).map((name) => claim.parts.get(name)?.deadline_ms ?? 0);
    if (claim.phase === undefined && claim.awaited.size > 0) deadlines.push(claim.bids_due_ms);
    return Math.min(Number.POSITIVE_INFINITY, ...deadlines);
  }

  #roster({ type, data }: EventBody, row: LogEntry): void {
    this.rosterSince = row.position;
    const { settings, agents, agent_id } = data as unknown as Member & {
      settings: Settings;
      agents: Member[];
    };
    if (type === 'board_configured') {
      this.settings = settings;
      // In these runs only the configured agents take part before the first configuration.
      for (const member of agents) this.members.set(member.agent_id, member);
    } else if (type === 'bidder_joined') this.members.set(agent_id, data as unknown as Member);
    else
      insist(type === 'bidder_left' && this.members.delete(agent_id), 'left without being there', agent_id);
  }

  #claim(event: EventBody, row: LogEntry): void {
    if (event.type === 'claim_opened') {
      this.#opened(event, row);
      return;
    }
    const claim = this.claims.get(event.id);
    insist(claim !== undefined, 'a claim that was never opened', event.id, row.position);
    insist(claim.ended === undefined, 'after the end of a claim', event.type, event.id, row.position);
    const known = this.#handlers[event.type];
    insist(known !== undefined, 'an event nobody knows', event.type);
    known(claim, event, row);
    claim.changed = row.position;
    this.#touched.add(claim);
  }

  #opened({ id, data }: EventBody, row: LogEntry): void {
    insist(!this.claims.has(id), 'opened twice', id, row.position);
    const { artefact_id } = data.opened as { artefact_id: string };
    const claim: Claimed = {
      id,
      artefact_id,
      isRework: row.events.some((event) => event.id === id && event.type === 'work_assigned'),
      awaited: new Set(),
      bids: new Map(),
      bids_due_ms: Number.POSITIVE_INFINITY,
      phase: undefined,
      phases: [],
      parts: new Map(),
      ended: undefined,
      changed: row.position,
      asked: row.position,
    };
    this.claims.set(id, claim);
    this.#touched.add(claim);
    this.threads.claimOpened(claim, row);
    if (!claim.isRework) this.#ask(claim, data.opened as JsonObject, row);
  }

  /** By name: every agent on the roster, and no other, has bid or is asked. */
  #ask(claim: Claimed, asked: JsonObject, row: LogEntry): void {
    claim.awaited = new Set(asked.awaited as string[]);
    const words = Object.entries(asked.bids as Record<string, { bid: string }>);
    for (const [name, { bid }] of words)
      insist((claim.bids.get(name) ?? bid) === bid, 'a word that did not stand', name, row.position);
    claim.bids = new Map(words.map(([name, { bid }]) => [name, bid]));
    claim.bids_due_ms = (asked.bids_due_ms as number | undefined) ?? Number.POSITIVE_INFINITY;
    claim.asked = row.position;
    const names = [...claim.awaited, ...claim.bids.keys()].sort();
    const roster = [...this.members.keys()].sort();
    insist(
      JSON.stringify(names) === JSON.stringify(roster),
      'asked are others than the roster',
      names,
      roster,
    );
  }

  #asked(claim: Claimed, { data }: EventBody, row: LogEntry): void {
    insist(claim.phase === undefined && !claim.isRework, 'asked after the bids', claim.id, row.position);
    this.#ask(claim, data.roster as JsonObject, row);
  }

  #bid(claim: Claimed, { data }: EventBody, row: LogEntry): void {
    const name = String(data.agent_id);
    insist(claim.phase === undefined, 'a bid after the bids', claim.id, row.position);
    insist(name === row.agent_id, 'a bid in another’s name', row.position);
    insist(claim.awaited.delete(name), 'a bid that nobody waits for', name, row.position);
    claim.bids.set(name, String((data.placed as JsonObject).bid));
  }

  #closed(claim: Claimed, { data }: EventBody, row: LogEntry): void {
    insist(claim.bids_due_ms <= row.at_ms, 'bids closed early', claim.id, row.position);
    const silent = [...(data.silent as string[])].sort();
    insist(
      JSON.stringify(silent) === JSON.stringify([...claim.awaited].sort()),
      'others were silent',
      row.position,
    );
    for (const name of silent) claim.bids.set(name, 'ignore');
    claim.awaited.clear();
  }

  #winners(claim: Claimed, phase: string): string[] {
    const names = [...claim.bids].filter(([, bid]) => bid === WORDS[phase]).map(([name]) => name);
    const sorted = names.sort((a, b) => (a < b ? -1 : 1));
    return phase === 'exclusive' ? sorted.slice(0, 1) : sorted;
  }

  /** The same bids, the same grants: worked out anew from the bids alone. */
  #started(claim: Claimed, { data }: EventBody, row: LogEntry): void {
    const phase = String(data.phase);
    insist(claim.awaited.size === 0, 'granted before the last bid', claim.id, row.position);
    insist(!claim.phases.includes(phase), 'a phase twice', claim.id, phase, row.position);
    insist(this.#nextPhase(claim) === phase, 'another phase than is next', claim.id, phase, row.position);
    this.#phaseIsDone(claim, row);
    const granted = Object.keys(data.granted as object).sort((a, b) => (a < b ? -1 : 1));
    const winners = this.#winners(claim, phase);
    insist(JSON.stringify(granted) === JSON.stringify(winners), 'granted to others', granted, winners);
    this.#grant(claim, phase, data.granted as JsonObject, row);
  }

  #nextPhase(claim: Claimed): string | undefined {
    const last = claim.phases.length === 0 ? -1 : PHASES.indexOf(String(claim.phases.at(-1)));
    return PHASES.slice(last + 1).find((phase) => this.#winners(claim, phase).length > 0);
  }

  #phaseIsDone(claim: Claimed, row: LogEntry): void {
    for (const [name, { phase, verdict }] of claim.parts)
      if (phase === claim.phase)
        insist(verdict === 'approved' || verdict === 'done', 'went on without', name, verdict, row.position);
  }

  #assigned(claim: Claimed, { data }: EventBody, row: LogEntry): void {
    insist(claim.isRework && claim.phase === undefined, 'assigned in the middle', claim.id, row.position);
    this.#grant(claim, 'exclusive', data.granted as JsonObject, row);
  }

  #grant(claim: Claimed, phase: string, granted: JsonObject, row: LogEntry): void {
    claim.phase = phase;
    claim.phases.push(phase);
    for (const [name, grant] of Object.entries(granted)) {
      insist(!claim.parts.has(name), 'two parts in one claim', name, row.position);
      const { limit_ms, deadline_ms, attempt } = grant as unknown as Part;
      const limit = this.members.get(name)?.timeout_ms ?? this.settings?.timeouts_ms[phase];
      insist(limit_ms === limit && deadline_ms === row.at_ms + limit_ms, 'another limit', name, grant, limit);
      insist(attempt === 1, 'begins with another attempt', name, row.position);
      const fresh = { started_at_ms: undefined, lease: undefined, verdict: undefined };
      claim.parts.set(name, { phase, since: row.position, attempt, deadline_ms, limit_ms, ...fresh });
    }
  }

  #part(claim: Claimed, name: string, row: LogEntry): Part {
    const part = claim.parts.get(name);
    insist(part !== undefined && part.phase === claim.phase, 'no part in this phase', name, row.position);
    insist(part.verdict === undefined, 'done with its part already', name, row.position);
    return part;
  }

  /** No agent begins with what another one holds. */
  #taken(claim: Claimed, { data }: EventBody, row: LogEntry): void {
    const part = this.#part(claim, String(data.agent_id), row);
    insist(data.agent_id === row.agent_id, 'taken in another’s name', row.position);
    const { taken, attempt, started_at_ms, deadline_ms } = data.grant as unknown as Part & { taken?: Lease };
    const { lease: before } = part;
    insist(attempt === part.attempt, 'taken is another attempt', row.position);
    if (taken === undefined)
      insist(before?.session_id === row.session_id, 'returned by another', row.position);
    else {
      insist(taken.session_id === row.session_id, 'taken for another', row.position);
      const isOthers = before !== undefined && before.session_id !== row.session_id && before.queued !== true;
      const isFree =
        !isOthers || before.until_ms <= row.at_ms || row.parameters.instead_of === before.session_id;
      insist(isFree, 'two at one part', before, taken, row.position);
      const began = part.started_at_ms ?? started_at_ms;
      insist(started_at_ms === began, 'its time began twice', row.position);
      if (part.started_at_ms !== undefined)
        insist(deadline_ms === part.deadline_ms, 'more time', row.position);
    }
    Object.assign(part, { lease: taken, started_at_ms, deadline_ms });
  }

  #repeated(claim: Claimed, { data }: EventBody, row: LogEntry): void {
    const part = this.#part(claim, String(data.agent_id), row);
    this.#failed(part, data, row);
    const { attempt, deadline_ms, limit_ms } = data.grant as unknown as Part;
    insist(this.settings?.on_failure === 'retry', 'again although nobody said so', row.position);
    insist(
      attempt === part.attempt + 1 && attempt <= this.settings.max_attempts,
      'once too often',
      row.position,
    );
    Object.assign(part, { attempt, deadline_ms, limit_ms, lease: undefined, started_at_ms: undefined });
  }

  /** It said so itself, or its time was up and the board says so. */
  #failed(part: Part, { agent_id }: JsonObject, row: LogEntry): void {
    if (row.operation === 'settle_board')
      insist(part.deadline_ms <= row.at_ms, 'failed before its time was up', agent_id, row.position);
    else insist(row.agent_id === agent_id, 'failed in another’s name', row.position);
  }

  #delivered(claim: Claimed, { data }: EventBody, row: LogEntry): void {
    const name = String(data.agent_id);
    const part = this.#part(claim, name, row);
    const made = row.events.find(({ id, type }) => type === 'artefact_published' && id === data.artefact_id);
    insist(made !== undefined, 'delivered without an artefact', row.position);
    insist(made.data.late === undefined, 'a late one counts', row.position);
    part.verdict = String(data.verdict);
    if (part.verdict === 'failed') {
      this.#failed(part, data, row);
      insist(made.data.structural_type === 'Failure', 'failed without a Failure', row.position);
      const left = this.settings?.on_failure === 'retry' ? this.settings.max_attempts - part.attempt : 0;
      insist(left <= 0, 'given up early', name, left, row.position);
      return;
    }
    insist(name === row.agent_id, 'delivered in another’s name', row.position);
    const isApproval = made.data.payload === '{}' || made.data.payload === '[]';
    const verdict = part.phase === 'review' ? (isApproval ? 'approved' : 'feedback') : 'done';
    insist(part.verdict === verdict, 'another verdict', made.data.payload, part.verdict, row.position);
  }

  #completed(claim: Claimed, row: LogEntry): void {
    insist(claim.awaited.size === 0, 'complete before the last bid', claim.id, row.position);
    this.#phaseIsDone(claim, row);
    if (!claim.isRework)
      insist(this.#nextPhase(claim) === undefined, 'a phase was left out', claim.id, row.position);
    claim.ended = 'complete';
  }

  #terminated(claim: Claimed, { data }: EventBody, row: LogEntry): void {
    const verdicts = [...claim.parts.values()]
      .filter(({ phase }) => phase === claim.phase)
      .map((part) => part.verdict);
    if (data.reason === 'review_rejected') {
      insist(claim.phase === 'review' && verdicts.includes('feedback'), 'rejected by nobody', row.position);
      insist(!verdicts.includes(undefined), 'rejected before the last review', claim.id, row.position);
      this.threads.rejected(claim, row);
    } else if (data.reason === 'timeout' || data.reason === 'agent_failed')
      insist(verdicts.includes('failed'), 'ended for nobody’s failure', claim.id, row.position);
    else insist(row.operation === 'terminate_claim', 'ended by the way', data.reason, row.position);
    claim.ended = String(data.reason);
  }
}
