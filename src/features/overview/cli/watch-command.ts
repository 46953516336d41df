import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal, StoreFailure } from '../../../kernel/refusal.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import { invalid } from '../../../runtime/answer.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { eventLine } from '../../../transports/cli/narration/event-line.ts';
import { endOfLog, follow, PAGE } from '../../../transports/cli/narration/follow-log.ts';
import { Narrator, type Sentence } from '../../../transports/cli/narration/narrate.ts';
import { keepDrawing } from '../../../transports/cli/output/live.ts';
import { withoutSecrets } from '../../../transports/cli/output/mask-typed-secrets.ts';
import { jsonLine, type Terminal, viewOf } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  conclude,
  type Result,
  withStoreThere,
} from '../../../transports/cli/program/common.ts';
import { untilStopped } from '../../../transports/cli/program/signals.ts';
import { lookAround } from '../take-overview.ts';
import { type Frame, frameLines } from './watch-frame.ts';

export interface WatchOptions extends CommonOptions {
  readonly since?: string;
  readonly once?: boolean;
}

/** Rows at the end of the log that are shown at the start, and sentences that are kept. */
const TAIL_ROWS = 400;
const TAIL_KEPT = 200;

/** A live view in a terminal; for a program or a file, one line per event. */
export async function watch(options: WatchOptions, terminal: Terminal, result: Result): Promise<void> {
  // As `cox log` writes it, or the bare number.
  const since = options.since === undefined ? undefined : Number(options.since.replace(/^#(?=\d)/, ''));
  if (since !== undefined && !(Number.isSafeInteger(since) && since >= 0))
    return await conclude(terminal, invalid('since', 'a position of the log, 0 or more'), options, result);
  const stopped = untilStopped();
  const over = new AbortController();
  void stopped.signal.then(() => over.abort());
  terminal.gone?.addEventListener('abort', () => over.abort());
  try {
    const answer = await withStoreThere(options, terminal, async (coxswain) => {
      const pictured = terminal.seen?.out === true && options.json !== true;
      if (!pictured) await tellLines(coxswain, since, options, terminal, over.signal);
      else if (options.once === true) await drawOnce(coxswain, options, terminal);
      else await draw(coxswain, options, terminal, over);
      return { success: true };
    });
    if (isRefusal(answer)) await conclude(terminal, answer, options, result);
  } finally {
    stopped.dispose();
  }
}

async function tellLines(
  coxswain: Coxswain,
  since: number | undefined,
  options: WatchOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const narrator = new Narrator(coxswain);
  const complain = ({ message }: StoreFailure) => void terminal.err(`cox: ${message}\n`).catch(() => {});
  const after = since ?? (await endOfLog(coxswain));
  for await (const entries of follow(coxswain, after, signal, complain)) {
    const view = viewOf(terminal, { color: options.color, now_ms: coxswain.clock.now_ms() });
    const lines =
      options.json === true
        ? entries.flatMap(eventObjects).map(jsonLine)
        : (await narrator.tell(entries)).map((sentence) => eventLine(sentence, view));
    // A row is written as a whole: a reader that continues after its position has all of it.
    if (lines.length > 0) await terminal.out(`${lines.join('\n')}\n`);
    if (signal.aborted || (options.once === true && entries.length < PAGE)) return;
  }
}

/**
 * Each event with its agent. A refusal counts as an event too, because programs that watch want to know of
 * it.
 */
function eventObjects(entry: LogEntry): JsonObject[] {
  const { position, at_ms, agent_id, agent_type, session_id, operation, result, events } = entry;
  const row = { position, at: isoTime(at_ms), agent_id, agent_type, session_id, operation };
  if (events.length === 0)
    return result.success === false
      ? [{ ...row, type: 'refused', kind: 'operation', id: operation, data: result }]
      : [];
  return events.map(({ type, kind, id, data }) => ({ ...row, type, kind, id, data: withoutSecrets(data) }));
}

async function recent(coxswain: Coxswain, narrator: Narrator): Promise<{ end: number; events: Sentence[] }> {
  const end = await endOfLog(coxswain);
  const { entries } = await coxswain.store.read(coxswain.project, Math.max(0, end - TAIL_ROWS), TAIL_ROWS);
  const last = entries.at(-1)?.position ?? 0;
  return { end: Math.max(end, last), events: await narrator.tell(entries) };
}

async function drawOnce(coxswain: Coxswain, options: WatchOptions, terminal: Terminal): Promise<void> {
  const { events } = await recent(coxswain, new Narrator(coxswain));
  const { seen, now_ms } = await lookAround(coxswain);
  const lines = frameLines({ seen, events }, viewOf(terminal, { ...options, now_ms }), terminal.rows ?? 24);
  await terminal.out(`${lines.join('\n')}\n`);
}

async function draw(
  coxswain: Coxswain,
  options: WatchOptions,
  terminal: Terminal,
  over: AbortController,
): Promise<void> {
  const narrator = new Narrator(coxswain);
  const { end, events } = await recent(coxswain, narrator);
  const frame: { -readonly [K in keyof Frame]: Frame[K] } & { now_ms: number } = {
    seen: undefined,
    events,
    now_ms: coxswain.clock.now_ms(),
  };
  const begin = async (stir: () => void) => {
    const complain = ({ message }: StoreFailure) => {
      frame.trouble = message;
    };
    for await (const entries of follow(coxswain, end, over.signal, complain)) {
      frame.events = [...frame.events, ...(await narrator.tell(entries))].slice(-TAIL_KEPT);
      stir();
    }
  };
  await keepDrawing(coxswain.clock, over, begin, async () => {
    await look(coxswain, frame);
    const view = viewOf(terminal, { color: options.color, now_ms: frame.now_ms });
    return frameLines(frame, view, terminal.rows ?? 24);
  });
}

async function look(
  coxswain: Coxswain,
  frame: { seen?: JsonObject | undefined; now_ms: number; trouble?: string | undefined },
): Promise<void> {
  try {
    const { seen, now_ms } = await lookAround(coxswain);
    Object.assign(frame, { seen, now_ms, trouble: undefined });
  } catch (error) {
    if (!(error instanceof StoreFailure) || error.refusal.error !== 'database_unavailable') throw error;
    frame.trouble = error.message;
  }
}
