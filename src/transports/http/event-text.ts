import { API_KEY } from '../../features/keys/index.ts';
import { MESSAGE } from '../../features/mail/index.ts';
import { approvalEntity, noticeEntity } from '../../features/trust/approvals/index.ts';
import {
  callsEntity,
  usageEntity,
  violationCountEntity,
  violationEntity,
} from '../../features/trust/index.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { LogEntry } from '../../ledger/log.ts';
import type { Rows } from '../../runtime/log-feed.ts';

/** What one listener may see. Views with the same key get the same text. */
export interface View {
  readonly key: string;
  /** A person sees every row as it is. An agent sees what happened, but not which requests were refused. */
  readonly everything: boolean;
  readonly kinds?: ReadonlySet<string> | undefined;
  readonly types?: ReadonlySet<string> | undefined;
}

/**
 * Kinds that agents may not see, or that concern only one agent. Operations show those to that agent alone.
 * All agents share a stream, so none of these is in it; an agent that wants its own asks for it.
 */
const PRIVATE_KINDS: ReadonlySet<string> = new Set([
  API_KEY,
  MESSAGE,
  ...[approvalEntity, noticeEntity, violationEntity, violationCountEntity, usageEntity, callsEntity].map(
    ({ kind }) => kind,
  ),
]);

/**
 * Rows as server-sent events: one per commit, so that a client that resumes after it has missed no part of
 * it.
 */
export function eventText(rows: Rows, view: View): string {
  let text = '';
  for (const row of rows) {
    const shown = describeRow(row, view);
    if (shown !== undefined) text += `id: ${row.position}\ndata: ${JSON.stringify(shown)}\n\n`;
  }
  return text;
}

function describeRow(row: LogEntry, view: View): JsonObject | undefined {
  const events = row.events.filter((event) => isShown(event, view));
  const filtered = view.kinds !== undefined || view.types !== undefined;
  if (events.length === 0 && (filtered || !view.everything)) return undefined;
  const { position, at_ms, agent_id, agent_type, operation } = row;
  const shown = {
    position,
    at: isoTime(at_ms),
    agent_id,
    agent_type,
    operation,
    events: events.map(describe),
  };
  if (!view.everything) return shown;
  const { session_id, sequence, operation_id, parameters, result, duration_ms } = row;
  return { ...shown, session_id, sequence, operation_id, parameters, result, duration_ms };
}

function isShown({ kind, type }: EventBody, { everything, kinds, types }: View): boolean {
  if (!everything && PRIVATE_KINDS.has(kind)) return false;
  return (kinds?.has(kind) ?? true) && (types?.has(type) ?? true);
}

/** Hashes of secrets are for comparing, not for showing. */
function describe({ kind, id, type, data }: EventBody): JsonObject {
  const shown: Record<string, Json | undefined> = { ...data };
  for (const name of Object.keys(shown)) if (/(^|_)hash$/.test(name)) delete shown[name];
  return { kind, id, type, data: shown };
}
