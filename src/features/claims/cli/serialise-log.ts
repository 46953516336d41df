import type { Clock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal, refuse, StoreFailure } from '../../../kernel/refusal.ts';
import { type Decided, isSerialiser, type Serialised, type Serialiser } from '../../../ledger/serialiser.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { jsonLine, type Terminal } from '../../../transports/cli/output/terminal.ts';
import { plain } from '../../../transports/cli/output/text.ts';
import {
  type CommonOptions,
  conclude,
  type Result,
  withStore,
} from '../../../transports/cli/program/common.ts';
import { untilStopped } from '../../../transports/cli/program/signals.ts';

export interface SerialiseOptions extends CommonOptions {
  readonly watch?: boolean;
}

/** One pass over the inbox, or pass after pass until stopped. */
export async function serialise(
  options: SerialiseOptions,
  terminal: Terminal,
  result: Result,
): Promise<void> {
  const answer = await withStore(
    options,
    terminal,
    async (coxswain) => await decideInbox(coxswain, options, terminal),
  );
  // The text, and the lines of `--watch`, have already been written as they came.
  if (isRefusal(answer) || (options.json === true && options.watch !== true))
    await conclude(terminal, answer, options, result);
}

type Deciding = Pick<Coxswain, 'store' | 'store_url' | 'clock'>;

export async function decideInbox(
  { store, store_url, clock }: Deciding,
  options: SerialiseOptions,
  terminal: Terminal,
): Promise<JsonObject> {
  if (!isSerialiser(store)) {
    const kind = store_url.slice(0, store_url.indexOf(':'));
    return refuse('store_decides_at_once', `Nothing is proposed to this store (${kind}): it has no inbox.`);
  }
  if (options.watch === true) return await keepDeciding(store, clock, options, terminal);
  const pass = await store.serialise();
  if (options.json !== true) await tell(pass, options, terminal);
  return {
    success: true,
    taken: pass.taken,
    decided: pass.decided.map((one) => ({ ...one })),
    set_aside: pass.set_aside.map((one) => ({ ...one })),
  };
}

const AGAIN_MS = 1000;
/**
 * These errors pass with time, and the proposals are still there then. No other error clears up by itself.
 */
const PASSING: ReadonlySet<unknown> = new Set(['database_unavailable', 'disk_full']);

async function keepDeciding(
  store: Serialiser,
  clock: Clock,
  options: SerialiseOptions,
  terminal: Terminal,
): Promise<JsonObject> {
  const stopped = untilStopped();
  const over = new AbortController();
  void stopped.signal.then(() => over.abort());
  terminal.gone?.addEventListener('abort', () => over.abort());
  if (options.json !== true) await terminal.err('cox serialise: watching the inbox; stop with Ctrl-C.\n');
  let known: Serialised['set_aside'] = [];
  try {
    for await (const _ of store.arrivals(over.signal)) {
      try {
        const pass = await store.serialise();
        // Every pass finds again what can't be moved.
        const set_aside = pass.set_aside.filter((one) => !known.some(({ file }) => file === one.file));
        known = pass.set_aside;
        if (pass.decided.length + set_aside.length > 0) await tell({ ...pass, set_aside }, options, terminal);
      } catch (error) {
        if (!(error instanceof StoreFailure) || !PASSING.has(error.refusal.error)) throw error;
        await terminal.err(`cox serialise: ${plain(error.message)}\n`);
        await clock.sleep(AGAIN_MS, over.signal).catch(() => {});
      }
    }
  } finally {
    stopped.dispose();
  }
  return { success: true };
}

/** One line per item: JSON for a program, words for a person. */
async function tell(pass: Serialised, options: SerialiseOptions, terminal: Terminal): Promise<void> {
  const lines =
    options.json === true
      ? [
          ...pass.decided.map((one) => jsonLine({ type: 'decided', ...one })),
          ...pass.set_aside.map((one) => jsonLine({ type: 'set_aside', ...one })),
        ]
      : [...pass.decided.map(sentenceOf), ...pass.set_aside.map(asideOf)];
  if (lines.length === 0) lines.push('Nothing was proposed.');
  await terminal.out(`${lines.join('\n')}\n`);
}

function sentenceOf({ agent_id, event_type, feature, edge, outcome }: Decided): string {
  const place = [feature, edge].filter((part) => part !== undefined).join(' ');
  const word =
    outcome.action ?? outcome.error ?? outcome.reason ?? (outcome.success === true ? 'done' : 'refused');
  const why = outcome.success === false && typeof outcome.message === 'string' ? `: ${outcome.message}` : '';
  return plain(`${agent_id}  ${event_type} ${place} -> ${String(word)}${why}`);
}

function asideOf({ file, reason }: Serialised['set_aside'][number]): string {
  return plain(`set aside ${file}: ${reason}`);
}
