import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { localTime } from '../../../kernel/moment.ts';
import type { EventBody } from '../../../ledger/entity.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { Narrator, type Sentence } from '../../../transports/cli/narration/narrate.ts';
import { oneLine, type View } from '../../../transports/cli/output/layout.ts';
import { withoutSecrets } from '../../../transports/cli/output/mask-typed-secrets.ts';
import { jsonLine } from '../../../transports/cli/output/terminal.ts';
import { bareWords } from '../../../transports/cli/output/words.ts';
import { eventsOf } from './log-filter.ts';

/** Rows as lines, in order; some rows have none and some have several. */
export type Tell = (rows: readonly LogEntry[]) => Promise<string[]>;

const POSITION_CHARS = 8;

/** One sentence per line. Coxswain's own bookkeeping is shown only on request. */
export function sentences(coxswain: Coxswain, view: View, everything: boolean): Tell {
  const narrator = new Narrator(coxswain);
  return async (rows) => {
    const told = Map.groupBy(await narrator.tell(rows), ({ position }) => position);
    return rows.flatMap((row) => {
      const { position, at_ms } = row;
      const found = told.get(position) ?? [];
      const bare = () => bareWords(row).map((words) => ({ position, at_ms, ...words }));
      return (found.length > 0 || !everything ? found : bare()).map((sentence) => line(sentence, view));
    });
  };
}

function line({ position, at_ms, text, style }: Sentence, view: View): string {
  const place = `${localTime(at_ms)}  ${`#${position}`.padEnd(POSITION_CHARS)} `;
  return oneLine(
    [
      { text: place, style: 'dim' },
      { text, style },
    ],
    view,
  );
}

/** One object per line, in the flat shape that other readers of such logs know, followed by more fields. */
export const objects: Tell = async (rows) =>
  rows.flatMap((row) => eventsOf(row).map((event) => jsonLine(flatRecord(row, event))));

function flatRecord(row: LogEntry, { type, kind, id, data }: EventBody): JsonObject {
  const { position, at_ms, project, agent_id, agent_type, session_id, operation, parameters } = row;
  const { feature, edge } = kind === 'operation' ? parameters : data;
  return {
    event_type: type,
    timestamp: isoTime(at_ms),
    project,
    ...(typeof feature === 'string' ? { feature } : {}),
    ...(typeof edge === 'string' ? { edge } : {}),
    agent_id,
    instance_id: session_id,
    data: withoutSecrets(data),
    position,
    kind,
    id,
    operation,
    agent_type,
  };
}
