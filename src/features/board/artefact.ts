import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { prefixed, type Range } from '../../ledger/decision.ts';
import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../ledger/entity.ts';
import { newestFirst, padded } from '../../ledger/index-order.ts';
import type { Phase } from './board-settings.ts';

export const STRUCTURAL_TYPES = ['Standard', 'Review', 'Question', 'Answer', 'Failure', 'Terminal'] as const;
export type StructuralType = (typeof STRUCTURAL_TYPES)[number];

/** Artefacts that no agent bids on: a verdict, a failure, an end. */
const UNCLAIMED: ReadonlySet<StructuralType> = new Set(['Review', 'Failure', 'Terminal']);

export function opensClaim({ structural_type, late }: Pick<ArtefactState, 'structural_type' | 'late'>) {
  return late !== true && !UNCLAIMED.has(structural_type);
}

/** Immutable. A new version is a new artefact with the same `logical_id`. */
export interface ArtefactState {
  /** The id of the first version. */
  readonly logical_id: string;
  readonly version: number;
  readonly structural_type: StructuralType;
  readonly type: string;
  readonly payload: string;
  readonly summary?: string | undefined;
  readonly source_artefacts: readonly string[];
  readonly produced_by_role: string;
  readonly produced_by_agent: string;
  readonly created_at_ms: number;
  /** The claim it was made for, and in which phase. */
  readonly claim_id?: string | undefined;
  readonly phase?: Phase | undefined;
  /** It arrived after the board had stopped waiting for it. It is kept, but changes nothing. */
  readonly late?: true | undefined;
}

export type ArtefactRecord = EntityRecord<ArtefactState>;

const ARTEFACT = 'artefact';

export function artefactKey(id: string): EntityKey {
  return { kind: ARTEFACT, id };
}

export function artefactEvent(id: string, artefact: Omit<ArtefactState, 'created_at_ms'>): EventBody {
  return { ...artefactKey(id), type: 'artefact_published', data: { ...artefact } as unknown as JsonObject };
}

const VERSIONS = 'version/';
const madeFrom = (source: string) => `source/${source}`;
const madeFor = (claim_id: string) => `claim/${claim_id}`;

export const artefactEntity: EntityType<ArtefactState> = {
  kind: ARTEFACT,
  evolve(state, event, at_ms) {
    if (event.type !== 'artefact_published') throw new Error(`unknown event of an artefact: ${event.type}`);
    // An artefact is published once and never changes.
    return state ?? { ...(event.data as unknown as ArtefactState), created_at_ms: at_ms };
  },
  index({ logical_id, version, created_at_ms, source_artefacts, claim_id }) {
    return {
      sort: newestFirst(created_at_ms),
      group: `${VERSIONS}${logical_id}/${padded(version)}`,
      links: [...source_artefacts.map(madeFrom), ...(claim_id === undefined ? [] : [madeFor(claim_id)])],
    };
  },
};

/** Newest first, starting at a key of the index: where the previous page ended. */
export function newestArtefacts(limit: number, from = ''): Range {
  return { by: 'sort', kind: ARTEFACT, from, before: '\u{10FFFF}', limit };
}

export function versionsOf(logical_id: string): Range {
  return prefixed('group', ARTEFACT, `${VERSIONS}${logical_id}/`, limits.range_rows_max);
}

export function artefactsFrom(source: string, limit: number): Range {
  const link = madeFrom(source);
  return { by: 'link', kind: ARTEFACT, from: link, before: `${link}\u0000`, limit };
}

export function artefactsFor(claim_id: string): Range {
  const link = madeFor(claim_id);
  return {
    by: 'link',
    kind: ARTEFACT,
    from: link,
    before: `${link}\u0000`,
    limit: limits.artefacts_listed_max,
  };
}

export function describeArtefact({ id, state }: Pick<ArtefactRecord, 'id' | 'state'>): JsonObject {
  const { created_at_ms, source_artefacts, ...rest } = state;
  return {
    id,
    ...rest,
    source_artefacts: [...source_artefacts],
    created_at_ms,
    created_at: isoTime(created_at_ms),
  };
}

/** What a list shows of an artefact. */
export function outlineArtefact(record: Pick<ArtefactRecord, 'id' | 'state'>): JsonObject {
  const { payload, ...rest } = describeArtefact(record);
  return { ...rest, payload_chars: (payload as string).length };
}

/** A review approves by having nothing to say: exactly `{}` or `[]`. Everything else is feedback. */
export function isApproval(payload: string): boolean {
  try {
    const value: unknown = JSON.parse(payload);
    return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  } catch {
    return false;
  }
}
