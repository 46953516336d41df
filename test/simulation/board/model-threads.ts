import type { EventBody } from '../../../src/ledger/entity.ts';
import type { LogEntry } from '../../../src/ledger/log.ts';
import { insist } from '../model.ts';
import type { BoardModel, Claimed } from './model-board.ts';

const UNCLAIMED = ['Review', 'Failure', 'Terminal'];

interface Thread {
  version: number;
  newest: string;
  reworks: number;
  granted: number;
}

interface Published {
  readonly logical_id: string;
  readonly produced_by_agent: string;
  readonly produced_by_role: string;
}

/** Artefacts, their versions, and how often they were sent back. */
export class ThreadModel {
  readonly artefacts = new Map<string, Published>();
  /** Ids of what was put before a person. */
  readonly asked = new Set<string>();
  readonly #board: BoardModel;
  readonly #threads = new Map<string, Thread>();

  constructor(board: BoardModel) {
    this.#board = board;
  }

  apply(event: EventBody, row: LogEntry): void {
    if (event.type === 'artefact_published') this.#published(event, row);
    if (event.kind !== 'thread') return;
    const thread = this.#of(event.id);
    if (event.type === 'thread_advanced') {
      thread.version = event.data.version as number;
      thread.newest = String(event.data.artefact_id);
    } else if (event.type === 'rework_started') thread.reworks += 1;
    else {
      insist(row.operation === 'approve', 'another round by the way', row.position);
      thread.granted += 1;
    }
  }

  #of(logical_id: string): Thread {
    let thread = this.#threads.get(logical_id);
    if (thread === undefined) {
      thread = { version: 1, newest: logical_id, reworks: 0, granted: 0 };
      this.#threads.set(logical_id, thread);
    }
    return thread;
  }

  #published({ id, data }: EventBody, row: LogEntry): void {
    insist(!this.artefacts.has(id), 'published twice', id, row.position);
    const { logical_id, version, late, structural_type } = data as Record<string, unknown>;
    this.artefacts.set(id, data as unknown as Published);
    const happens = (kind: string, type: string) =>
      row.events.some((event) => event.kind === kind && event.type === type && isAbout(event, id));
    const opens = happens('board_claim', 'claim_opened');
    if (late === true) {
      insist(version === 1 && !opens, 'a late one has consequences', id, row.position);
      return;
    }
    insist(
      opens !== UNCLAIMED.includes(String(structural_type)),
      'an artefact without its claim',
      id,
      row.position,
    );
    const next = logical_id === id ? 1 : this.#of(String(logical_id)).version + 1;
    insist(version === next, 'a version that is not the next', version, next, row.position);
    insist(
      version === 1 || happens('thread', 'thread_advanced'),
      'a version nobody knows of',
      id,
      row.position,
    );
  }

  claimOpened({ artefact_id, isRework }: Claimed, row: LogEntry): void {
    insist(this.artefacts.has(artefact_id), 'a claim on nothing', artefact_id, row.position);
    if (isRework) return;
    const isNew = row.events.some(({ type, id }) => type === 'artefact_published' && id === artefact_id);
    insist(isNew, 'claimed apart from its publication', artefact_id, row.position);
  }

  /** What becomes of rejected work is in the commit that rejects it. */
  rejected({ artefact_id, id }: Claimed, row: LogEntry): void {
    const { logical_id, produced_by_agent, produced_by_role } = this.artefacts.get(artefact_id) as Published;
    const { newest, reworks, granted } = this.#of(logical_id);
    const { members, settings } = this.#board;
    const roles = [...members.values()].map((member) => (member as unknown as { role: string }).role);
    const hasAuthor = members.has(produced_by_agent) || roles.includes(produced_by_role);
    const most = settings?.max_review_iterations ?? 0;
    const types = row.events.map(({ type, data }) =>
      type === 'artefact_published' ? String(data.type) : type,
    );
    const expected =
      newest !== artefact_id
        ? undefined
        : !hasAuthor
          ? 'MissingAgentConfiguration'
          : most > 0 && reworks >= most + granted
            ? 'MaxIterationsExceeded'
            : 'work_assigned';
    for (const follows of ['MissingAgentConfiguration', 'MaxIterationsExceeded', 'work_assigned'])
      insist(
        types.includes(follows) === (follows === expected),
        'sent elsewhere',
        id,
        follows,
        expected,
        row.position,
      );
    insist(
      types.includes('approval_requested') === (expected === 'MaxIterationsExceeded'),
      'a person who was not asked, or for nothing',
      id,
      row.position,
    );
  }

  /** No thing is sent back more often than it may be. */
  end(row: LogEntry): void {
    for (const { type, id, data } of row.events)
      if (type === 'approval_requested' && data.kind === 'rework') this.asked.add(id);
    const most = this.#board.settings?.max_review_iterations ?? 0;
    if (most === 0) return;
    for (const { kind, id } of row.events) {
      if (kind !== 'thread') continue;
      const { reworks, granted } = this.#of(id);
      insist(reworks <= most + granted, 'one round too many', id, reworks, granted, row.position);
    }
  }
}

function isAbout({ id, data }: EventBody, artefact_id: string): boolean {
  const { artefact_id: named, opened } = data as { artefact_id?: string; opened?: { artefact_id: string } };
  return id === artefact_id || named === artefact_id || opened?.artefact_id === artefact_id;
}
