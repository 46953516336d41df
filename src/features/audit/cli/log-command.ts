import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal, type Refusal, type StoreFailure } from '../../../kernel/refusal.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import { invalid } from '../../../runtime/answer.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { endOfLog, follow } from '../../../transports/cli/narration/follow-log.ts';
import { readLimit } from '../../../transports/cli/output/pick.ts';
import { type Terminal, viewOf } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  conclude,
  type Result,
  withStoreThere,
} from '../../../transports/cli/program/common.ts';
import { untilStopped } from '../../../transports/cli/program/signals.ts';
import { type LogFilter, spanOf, wantedOf } from './log-filter.ts';
import { objects, sentences, type Tell } from './log-lines.ts';
import { type History, openHistory, readMoment } from './read-history.ts';

type Output = 'text' | 'jsonl' | 'json';

type Texts = Omit<LogFilter, 'since' | 'until'>;

/** Here `agent` selects whose rows are shown, not who asks. */
export interface LogOptions extends Omit<CommonOptions, 'agent'>, Texts {
  readonly since?: string;
  readonly until?: string;
  readonly limit?: string;
  readonly output?: Output;
  readonly follow?: boolean;
  readonly archive?: readonly string[];
}

/** What a person sees without a limit of their own; a program gets everything. */
const NEWEST_SHOWN = 100;
const NEWEST_BEFORE_FOLLOWING = 10;
/** Rows that are formatted, and written, together. */
const PAGE = 100;
const STRETCH_MAX = 50_000;

/** One run of the command: what is wanted, its format and its destination. */
interface Telling {
  readonly coxswain: Coxswain;
  readonly history: History;
  readonly filter: LogFilter;
  readonly limit: number;
  readonly tell: Tell;
  readonly write: (lines: readonly string[]) => Promise<void>;
  readonly over: AbortSignal;
}

export async function showLog(options: LogOptions, terminal: Terminal, result: Result): Promise<void> {
  const output = options.json === true ? 'json' : (options.output ?? 'text');
  const wrong = wrongOptions(options, output);
  const stopped = options.follow === true ? untilStopped() : undefined;
  const over = new AbortController();
  void stopped?.signal.then(() => over.abort());
  terminal.gone?.addEventListener('abort', () => over.abort());
  try {
    const answer =
      wrong ??
      (await withStoreThere(options, terminal, async (coxswain) =>
        tellLog(coxswain, { ...options, output }, terminal, over.signal),
      ));
    // The output has already been written.
    if (isRefusal(answer)) await conclude(terminal, answer, { ...options, json: output !== 'text' }, result);
  } finally {
    stopped?.dispose();
  }
}

function wrongOptions(options: LogOptions, output: Output): Refusal | undefined {
  if (readLimit(options.limit, 0) === undefined) return invalid('limit', 'a whole number, or all');
  if (options.follow !== true) return undefined;
  if (output === 'json') return invalid('output', 'jsonl with --follow: one object would never end');
  return options.until === undefined ? undefined : invalid('until', 'no end with --follow');
}

async function tellLog(
  coxswain: Coxswain,
  options: LogOptions & { readonly output: Output },
  terminal: Terminal,
  over: AbortSignal,
): Promise<JsonObject> {
  const read = await readFilter(coxswain, options);
  if (!read.ok) return read.refusal;
  const { filter } = read;
  const history = await openHistory(coxswain, terminal, options.archive);
  const isText = options.output === 'text';
  const view = viewOf(terminal, { color: options.color, now_ms: coxswain.clock.now_ms() });
  const everything = [filter.all, filter.type, filter.kind, filter.id].some((each) => each !== undefined);
  const telling: Telling = {
    coxswain,
    history,
    filter,
    limit: readLimit(options.limit, defaultLimit(options)) ?? 0,
    tell: isText ? sentences(coxswain, view, everything) : objects,
    write: writer(terminal, options.output),
    over,
  };
  if (isText && history.missing.length > 0)
    await terminal.err(
      `cox: older rows were moved to ${history.missing.join(', ')}; --archive FILE shows them.\n`,
    );
  if (options.output === 'json') await terminal.out('{"success":true,"events":[');
  const end = await tellPast(telling, options.follow === true);
  if (options.output === 'json') await terminal.out(']}\n');
  if (options.follow === true) await tellOn(telling, end, terminal);
  return { success: true };
}

/** A program that asks for lines wants them all; a person wants the newest, unless a start is given. */
function defaultLimit({ output, since, follow }: LogOptions): number {
  if (output !== 'text' || since !== undefined) return Number.POSITIVE_INFINITY;
  return follow === true ? NEWEST_BEFORE_FOLLOWING : NEWEST_SHOWN;
}

async function readFilter(
  coxswain: Coxswain,
  options: LogOptions,
): Promise<{ ok: true; filter: LogFilter } | { ok: false; refusal: Refusal }> {
  const { type, agent, feature, edge, operation, kind, id, all } = options;
  let filter: LogFilter = { type, agent, feature, edge, operation, kind, id, all };
  for (const field of ['since', 'until'] as const) {
    const text = options[field];
    if (text === undefined) continue;
    const read = await readMoment(coxswain, field, text);
    if (!read.ok) return read;
    filter = { ...filter, [field]: read.moment };
  }
  return { ok: true, filter };
}

/** A row is written as a whole: a reader that continues after its position has all of it. */
function writer(terminal: Terminal, output: Output): Telling['write'] {
  let isFirst = true;
  return async (lines) => {
    if (lines.length === 0) return;
    const before = isFirst ? '' : ',';
    isFirst = false;
    await terminal.out(output === 'json' ? `${before}${lines.join(',')}` : `${lines.join('\n')}\n`);
  };
}

/** What has happened so far. Returns where that ends. */
async function tellPast(telling: Telling, goesOn: boolean): Promise<number> {
  const { coxswain, history, filter, limit, tell, write, over } = telling;
  const end = await endOfLog(coxswain);
  const span = spanOf(filter);
  // When following, rows that arrive meanwhile are written by the follower; otherwise they are written here
  // like all the others.
  const last = Math.min(span.last ?? Number.MAX_SAFE_INTEGER, goesOn ? end : Number.MAX_SAFE_INTEGER);
  if (limit === 0) return end;
  if (limit === Number.POSITIVE_INFINITY) {
    for await (const lines of told(history.rows({ ...span, last }), filter, tell, over)) await write(lines);
    return end;
  }
  // Backwards from the end, unless the start is known.
  const isBounded = history.archived || filter.since !== undefined;
  await write(
    isBounded
      ? await newest(told(history.rows({ ...span, last }), filter, tell, over), limit)
      : await newestOf(telling, Math.min(last, end)),
  );
  return end;
}

/** Page by page, so that a log of any length takes no more memory than a short one. */
async function* told(
  rows: AsyncIterable<LogEntry>,
  filter: LogFilter,
  tell: Tell,
  over: AbortSignal,
): AsyncGenerator<string[]> {
  let page: LogEntry[] = [];
  for await (const row of rows) {
    if (over.aborted) return;
    const wanted = wantedOf(row, filter);
    if (wanted === undefined) continue;
    page.push(wanted);
    if (page.length < PAGE) continue;
    yield await tell(page);
    page = [];
  }
  yield await tell(page);
}

async function newest(pages: AsyncIterable<string[]>, limit: number): Promise<string[]> {
  let kept: string[] = [];
  for await (const lines of pages) {
    kept.push(...lines);
    // Only now and then: doing it on every page would copy a long list for each few lines.
    if (kept.length > 2 * limit + PAGE) kept = kept.slice(-limit);
  }
  return kept.slice(-limit);
}

/**
 * Reads backwards from the end, stretch by stretch, until there are enough: the newest rows of a long log are
 * available at once.
 */
async function newestOf({ history, filter, limit, tell, over }: Telling, end: number): Promise<string[]> {
  let kept: string[] = [];
  let rows = PAGE;
  for (
    let last = end;
    last > 0 && kept.length < limit && !over.aborted;
    rows = Math.min(rows * 2, STRETCH_MAX)
  ) {
    const after = Math.max(0, last - rows);
    const span = { ...spanOf(filter), after, last };
    kept = [...(await newest(told(history.rows(span), filter, tell, over), limit - kept.length)), ...kept];
    last = after;
  }
  return kept;
}

async function tellOn({ coxswain, filter, tell, write, over }: Telling, end: number, terminal: Terminal) {
  const complain = ({ message }: StoreFailure) => void terminal.err(`cox: ${message}\n`).catch(() => {});
  for await (const rows of follow(coxswain, end, over, complain)) {
    await write(await tell(rows.flatMap((row) => wantedOf(row, filter) ?? [])));
    if (over.aborted) return;
  }
}
