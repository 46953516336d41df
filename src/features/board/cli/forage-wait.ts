import type { JsonObject } from '../../../kernel/json.ts';
import { StoreFailure } from '../../../kernel/refusal.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { housekeeperOf } from '../../../runtime/housekeeper.ts';
import { storeHints } from '../../../runtime/waiting.ts';
import { eventLine } from '../../../transports/cli/narration/event-line.ts';
import { PAGE } from '../../../transports/cli/narration/follow-log.ts';
import { Narrator } from '../../../transports/cli/narration/narrate.ts';
import { oneLine } from '../../../transports/cli/output/layout.ts';
import { type Terminal, viewOf } from '../../../transports/cli/output/terminal.ts';
import { counted, plain } from '../../../transports/cli/output/text.ts';
import type { CommonOptions } from '../../../transports/cli/program/common.ts';
import { outlineArtefact } from '../artefact.ts';
import { isBoardRow } from '../board-claim.ts';
import { type Descent, descentOf } from '../runner/descent.ts';
import { settleIfDue } from '../runner/settle-quietly.ts';
import { artefactLines } from './board-screen.ts';
import { claimTitle } from './board-words.ts';
import { boardRow } from './up-news.ts';

/** A hint may be lost, and deadlines pass without one. */
const LOOK_MS = 2_000;
const AWAY_MS = 1_000;

export interface Patience {
  /** Aborted when the caller no longer wants to wait. */
  readonly signal: AbortSignal;
  /** The longest time to wait. */
  readonly wait_ms: number;
}

/** Undefined: the caller no longer wanted to wait. */
export async function waitForThread(
  coxswain: Coxswain,
  root: string,
  after: number,
  options: CommonOptions,
  terminal: Terminal,
  { signal, wait_ms }: Patience,
): Promise<JsonObject | undefined> {
  const { store, clock, project } = coxswain;
  const until_ms = clock.elapsed_ms() + wait_ms;
  const hints = storeHints(store, clock, project, signal, isBoardRow);
  const housekeeper = housekeeperOf(coxswain);
  const teller =
    options.json === true ? undefined : new ThreadTeller(coxswain, root, after, options, terminal);
  let settled = false;
  try {
    while (!signal.aborted) {
      try {
        const next_ms = await settleIfDue(coxswain, housekeeper);
        const descent = await descentOf(coxswain, root);
        await teller?.tell();
        const isOver = descent.claims.every(({ fate }) => fate.fate !== 'open');
        // Looked at twice: on some stores, a read of many records is not a consistent snapshot.
        if (isOver && settled) return outcomeOf(descent);
        settled = isOver;
        const now_ms = clock.elapsed_ms();
        if (!isOver && now_ms >= until_ms)
          return { ...outcomeOf(descent), success: false, outcome: 'unfinished' };
        if (!isOver) await hints.next(Math.min(until_ms, now_ms + Math.min(LOOK_MS, next_ms)));
      } catch (error) {
        if (!(error instanceof StoreFailure) || error.refusal.error !== 'database_unavailable') throw error;
        await clock.sleep(AWAY_MS, signal).catch(() => {});
      }
    }
    return undefined;
  } finally {
    hints.close();
  }
}

function outcomeOf({ claims, artefacts, truncated }: Descent): JsonObject {
  const failed = claims.filter(({ fate }) => fate.fate === 'failed');
  const waiting = claims.flatMap(({ claim, fate }) =>
    fate.fate === 'waits_for_person' ? [{ claim, fate }] : [],
  );
  const outcome = failed.length > 0 ? 'failed' : waiting.length > 0 ? 'waits_for_person' : 'complete';
  const reasonOf = (claim_id: string) =>
    artefacts.findLast(({ state }) => state.claim_id === claim_id && state.structural_type === 'Failure')
      ?.state.summary;
  return {
    success: outcome !== 'failed',
    outcome,
    ...(outcome === 'waits_for_person' ? { waiting_for_person: true } : {}),
    claims: claims.map(({ claim: { id, state }, fate }) => ({
      claim_id: id,
      artefact_id: state.artefact_id,
      artefact_type: state.artefact_type,
      status: state.status,
      termination_reason: state.termination_reason ?? null,
      ...fate,
    })),
    failures: failed.map(({ claim: { id, state } }) => ({
      claim_id: id,
      artefact_id: state.artefact_id,
      artefact_type: state.artefact_type,
      reason: reasonOf(id) ?? state.termination_reason ?? null,
    })),
    decisions: waiting.map(({ claim: { id, state }, fate: { approval_id } }) => ({
      claim_id: id,
      artefact_id: state.artefact_id,
      artefact_type: state.artefact_type,
      approval_id,
      command: `cox approve ${approval_id}`,
    })),
    artefacts: artefacts.map(outlineArtefact),
    ...(truncated ? { truncated } : {}),
  };
}

export function outcomeLines(answer: JsonObject, terminal: Terminal, options: CommonOptions): string[] {
  const [artefacts, failures, decisions, claims] = ['artefacts', 'failures', 'decisions', 'claims'].map(
    (name) => (answer[name] ?? []) as JsonObject[],
  ) as [JsonObject[], JsonObject[], JsonObject[], JsonObject[]];
  const now_ms = Math.max(0, ...artefacts.map(({ created_at_ms }) => Number(created_at_ms)));
  const view = viewOf(terminal, { color: options.color, now_ms });
  const title = (row: JsonObject) =>
    claimTitle({ artefact_type: String(row.artefact_type), artefact_id: String(row.artefact_id) });
  const done = claims.filter(({ fate }) => fate === 'complete' || fate === 'sent_back').length;
  const words = {
    complete: { text: 'Done', style: 'green' as const },
    failed: { text: 'It came to nothing', style: 'red' as const },
    waits_for_person: { text: 'It waits for a person', style: 'yellow' as const },
    unfinished: { text: 'Not done yet, it goes on', style: 'yellow' as const },
  }[String(answer.outcome)] ?? { text: String(answer.outcome), style: undefined };
  return [
    '',
    oneLine(
      [
        words,
        `: ${done} of ${counted(claims.length, 'claim')} done, ${counted(artefacts.length, 'artefact')}.`,
      ],
      view,
    ),
    ...artefactLines(artefacts.slice(0, 30), view),
    ...failures.map((row) =>
      oneLine([{ text: '! ', style: 'red' }, `${title(row)}: ${plain(row.reason ?? '')}`], view, 2),
    ),
    ...decisions.flatMap((row) => [
      oneLine([{ text: '! ', style: 'red' }, `${title(row)} was sent back too often`], view, 2),
      `    ${plain(row.command ?? '')}`,
    ]),
  ];
}

/**
 * Tells the events of the log that belong to one thread. Everything in it was published, opened and decided
 * after its root.
 */
class ThreadTeller {
  readonly #coxswain: Coxswain;
  readonly #options: CommonOptions;
  readonly #terminal: Terminal;
  readonly #narrator: Narrator;
  readonly #known: Set<string>;
  #position: number;

  constructor(coxswain: Coxswain, root: string, after: number, options: CommonOptions, terminal: Terminal) {
    this.#coxswain = coxswain;
    this.#options = options;
    this.#terminal = terminal;
    this.#narrator = new Narrator(coxswain);
    this.#known = new Set([root]);
    this.#position = after;
  }

  async tell(): Promise<void> {
    const { store, project, clock } = this.#coxswain;
    for (;;) {
      const { entries } = await store.read(project, this.#position, PAGE);
      const rows = entries.flatMap((entry) => this.#own(entry));
      const view = viewOf(this.#terminal, { color: this.#options.color, now_ms: clock.now_ms() });
      const lines = (await this.#narrator.tell(rows)).map((sentence) => eventLine(sentence, view));
      if (lines.length > 0) await this.#terminal.out(`${lines.join('\n')}\n`);
      this.#position = entries.at(-1)?.position ?? this.#position;
      if (entries.length < PAGE) return;
    }
  }

  #own(entry: LogEntry): LogEntry[] {
    const row = boardRow(entry);
    if (row === undefined) return [];
    const events = row.events.filter(({ id, data }) => {
      const opened = (data.opened ?? {}) as JsonObject;
      const context = (data.context ?? {}) as JsonObject;
      const sources = (data.source_artefacts ?? []) as string[];
      const ours = [id, opened.artefact_id, context.claim_id, data.claim_id, ...sources].some(
        (each) => typeof each === 'string' && this.#known.has(each),
      );
      if (ours) this.#known.add(id);
      return ours;
    });
    return events.length === 0 ? [] : [{ ...row, events }];
  }
}
