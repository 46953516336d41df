import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal } from '../../../kernel/refusal.ts';
import type { Connection } from '../../../runtime/coordinator.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { housekeeperOf } from '../../../runtime/housekeeper.ts';
import { dueIn_ms, freshNotices, type Notice } from '../approvals/notice.ts';
import { claimNotice, concludeNotice } from '../operations/notice-operations.ts';
import type { Channel } from './channels.ts';

/** How often a long-lived process checks by itself; it then sends what other processes could not send. */
const LOOK_MS = 30_000;
const LEAVE_MS_MAX = 1_000;

export interface Round {
  readonly sent: number;
  readonly failed: number;
  /** When the next attempt is due; undefined: nothing waits. */
  readonly next_ms: number | undefined;
}

/**
 * Tells each channel what it has not been told. If several processes try, the one whose claim is committed
 * sends.
 */
export async function deliverRound(
  coxswain: Coxswain,
  channels: readonly Channel[],
  signal: AbortSignal = new AbortController().signal,
): Promise<Round> {
  const { store, project } = coxswain;
  const { now_ms } = await store.find(project, {});
  const range = freshNotices(now_ms);
  const { loaded } = await store.find(project, { ranges: [range] });
  const housekeeper = housekeeperOf(coxswain);
  const counts = { sent: 0, failed: 0 };
  const later: number[] = [];
  // Oldest first, in the order in which it happened.
  for (const notice of loaded.list<Notice>(range).toReversed())
    for (const channel of channels) {
      const due_ms = dueIn_ms(notice, channel.name, now_ms);
      if (due_ms === undefined || signal.aborted) continue;
      if (due_ms > 0) later.push(due_ms);
      else {
        const outcome = await deliver(notice.id, channel, housekeeper, signal);
        if (outcome !== undefined) counts[outcome] += 1;
        if (outcome === 'failed') later.push(0);
      }
    }
  return { ...counts, next_ms: later.length === 0 ? undefined : Math.min(...later) };
}

async function deliver(
  notice_id: string,
  channel: Channel,
  housekeeper: Connection,
  signal: AbortSignal,
): Promise<'sent' | 'failed' | undefined> {
  const which = { notice_id, channel: channel.name };
  const claimed = await housekeeper.performBuilt(claimNotice, which);
  if (isRefusal(claimed)) return undefined;
  const notice = { ...(claimed.notice as JsonObject), attempt: claimed.attempt };
  const error = await failure(channel, notice, signal);
  await housekeeper.performBuilt(concludeNotice, { ...which, error });
  return error === undefined ? 'sent' : 'failed';
}

async function failure(
  channel: Channel,
  notice: JsonObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await channel.send(notice, signal);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'failed';
  }
}

/** Runs rounds until nothing is due, or the time is over. */
export async function deliverAll(
  coxswain: Coxswain,
  channels: readonly Channel[],
  limit_ms: number,
): Promise<Omit<Round, 'next_ms'>> {
  const { clock } = coxswain;
  const end_ms = clock.elapsed_ms() + limit_ms;
  const total = { sent: 0, failed: 0 };
  for (;;) {
    const { sent, failed, next_ms } = await deliverRound(coxswain, channels);
    total.sent += sent;
    total.failed += failed;
    if (next_ms === undefined || clock.elapsed_ms() + next_ms > end_ms) return total;
    await clock.sleep(Math.max(100, next_ms));
  }
}

/**
 * In a long-lived process: sends at once what is raised here, and from time to time what other processes
 * raised.
 */
export class Courier {
  readonly #coxswain: Coxswain;
  readonly #channels: readonly Channel[];
  readonly #stopping = new AbortController();
  readonly #dropping = new AbortController();
  #stirred = new AbortController();
  readonly #done: Promise<void>;

  constructor(coxswain: Coxswain, channels: readonly Channel[]) {
    this.#coxswain = coxswain;
    this.#channels = channels;
    this.#done = channels.length === 0 ? Promise.resolve() : this.#work();
  }

  stir(): void {
    this.#stirred.abort();
  }

  /** Deliveries in progress get a moment to finish; the next process that tries sends the rest. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stirred.abort();
    const late = new AbortController();
    const giveUp = this.#coxswain.clock.sleep(LEAVE_MS_MAX, late.signal).then(
      () => this.#dropping.abort(),
      () => {},
    );
    await this.#done;
    late.abort();
    await giveUp;
  }

  async #work(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      // Set before the round: a notice raised during it needs another round.
      this.#stirred = new AbortController();
      // A store that is unavailable now may be back later.
      const round = await deliverRound(this.#coxswain, this.#channels, this.#dropping.signal).catch(
        () => undefined,
      );
      if (this.#stopping.signal.aborted) return;
      const pause_ms = Math.min(LOOK_MS, Math.max(100, round?.next_ms ?? LOOK_MS));
      await this.#coxswain.clock.sleep(pause_ms, this.#stirred.signal).catch(() => {});
    }
  }
}
