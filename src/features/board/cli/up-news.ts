import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import type { Sentence } from '../../../transports/cli/narration/narrate.ts';
import type { Style } from '../../../transports/cli/output/paint.ts';
import { jsonLine } from '../../../transports/cli/output/terminal.ts';
import { plain } from '../../../transports/cli/output/text.ts';
import type { BoardNews } from '../runner/news.ts';
import { claimTitle } from './board-words.ts';

/** Something worth a line: from the log, or known only to the process that runs the agents. */
export interface News extends Pick<Sentence, 'at_ms' | 'text' | 'style'> {
  readonly what: string;
  /** For programs. */
  readonly about: JsonObject;
}

type Tell = (agent: string, title: string, text: string) => string;

/** News that is also in the log is told from the log. */
const OWN: Readonly<Partial<Record<BoardNews['what'], readonly [Tell, Style?]>>> = {
  started: [(agent, title) => `${agent} begins with ${title}`],
  adopted: [(agent, title) => `${agent} goes on with ${title}, begun before`],
  queued: [(agent, title) => `${title} waits for its turn with ${agent}`],
  cancelled: [(agent, title, text) => `${agent} is stopped at ${title}: ${text}`, 'yellow'],
  warning: [
    (agent, title, text) => [[agent, title].filter(Boolean).join(', '), text].filter(Boolean).join(': '),
    'yellow',
  ],
  store: [(_agent, _title, text) => `the store is away: ${text}`, 'red'],
};

export function ownNews({ at_ms, what, text, ...about }: BoardNews): News[] {
  const [tell, style] = OWN[what] ?? [];
  if (tell === undefined) return [];
  const { agent_id = '', artefact_type = '', artefact_id = '' } = about;
  const title = artefact_id === '' ? '' : claimTitle({ artefact_type, artefact_id });
  return [{ at_ms, what, text: tell(plain(agent_id), title, plain(text)), style, about: { ...about } }];
}

const KINDS = new Set(['artefact', 'board_claim', 'board', 'thread', 'approval']);

/** Only events about the board's work. That the board was configured is said at the start. */
export function boardRow(entry: LogEntry): LogEntry | undefined {
  const events = entry.events.filter(({ kind, type }) => KINDS.has(kind) && type !== 'board_configured');
  return events.length === 0 ? undefined : { ...entry, events };
}

export function loggedNews({ at_ms, text, style, position, event }: Sentence): News {
  const { kind, id, type, data = {} } = event ?? {};
  const { agent_id, phase, claim_id, artefact_id } = data;
  const about = {
    agent_id: agent_id ?? data.produced_by_agent,
    claim_id: kind === 'board_claim' ? id : claim_id,
    artefact_id: kind === 'artefact' ? id : artefact_id,
    approval_id: kind === 'approval' ? id : undefined,
    phase,
    position,
  };
  return { at_ms, what: type ?? 'refused', text, style, about };
}

export function newsJson({ at_ms, what, text, about }: News): string {
  return jsonLine({ at: isoTime(at_ms), what, ...about, text });
}
