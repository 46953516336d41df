import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal, type Refusal } from '../../../kernel/refusal.ts';
import { EXIT_CODES, verdictOf } from '../../../runtime/answer.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { endOfLog } from '../../../transports/cli/narration/follow-log.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { clip, plain, span } from '../../../transports/cli/output/text.ts';
import {
  type CommonOptions,
  cliIdentity,
  cliShowing,
  conclude,
  type Result,
  withStore,
} from '../../../transports/cli/program/common.ts';
import { untilStopped } from '../../../transports/cli/program/signals.ts';
import { readSeconds } from '../../../transports/shared/input-fields.ts';
import { type BoardState, boardKey, boardOf } from '../board.ts';
import { type BoardClaimState, boardClaimKey, isBidding, isOpen, outstanding } from '../board-claim.ts';
import { publishArtefact } from '../operations/artefact-operations.ts';
import { claimTitle } from './board-words.ts';
import { outcomeLines, waitForThread } from './forage-wait.ts';

export interface ForageOptions extends CommonOptions {
  readonly type?: string;
  readonly wait?: boolean;
  readonly waitSeconds?: string;
}

const FIRST_TYPE = 'GoalDefined';
const SUMMARY_CHARS = 200;
const INTERRUPTED = 130;
const WAIT_SECONDS_MIN = 0.001;
const WAIT_SECONDS_MAX = 604_800;

/** Puts the first artefact on the board. If asked to, waits until all work that follows from it is done. */
export async function forage(
  goal: string,
  options: ForageOptions,
  terminal: Terminal,
  result: Result,
): Promise<void> {
  const who = cliIdentity(options, terminal.env);
  if (!who.ok) return await conclude(terminal, who.refusal, options, result);
  const wait_ms = patienceOf(options);
  if (typeof wait_ms !== 'number') return await conclude(terminal, wait_ms, options, result);
  const stopped = untilStopped();
  const over = new AbortController();
  void stopped.signal.then(() => over.abort());
  let interrupted = false;
  try {
    const answer = await withStore(options, terminal, async (coxswain) => {
      const after = await endOfLog(coxswain);
      const connection = coxswain.connect(who.actor, 'operator', cliShowing(terminal.env, options));
      const type = options.type ?? FIRST_TYPE;
      const input = { type, payload: goal, summary: summaryOf(goal) };
      const published = await connection.perform(publishArtefact, input);
      if (isRefusal(published)) return published;
      const next = await nextStep(coxswain, published);
      if (options.json !== true) await terminal.out(`${publishedLines(published, type, next).join('\n')}\n`);
      if (wait_ms === 0) return { ...published, next };
      const found = await waitForThread(coxswain, String(published.artefact_id), after, options, terminal, {
        signal: over.signal,
        wait_ms,
      });
      interrupted = found === undefined;
      return { ...published, ...found };
    });
    const isTold = answer.artefact_id !== undefined;
    if (options.json === true || !isTold) await conclude(terminal, answer, options, result);
    else if (answer.outcome !== undefined)
      await terminal.out(`${outcomeLines(answer, terminal, options).join('\n')}\n`);
    result.code = interrupted ? INTERRUPTED : EXIT_CODES[verdictOf(answer)];
  } finally {
    stopped.dispose();
  }
}

/** 0: do not wait. */
function patienceOf({ wait, waitSeconds }: ForageOptions): number | Refusal {
  if (waitSeconds === undefined) return wait === true ? Number.POSITIVE_INFINITY : 0;
  return readSeconds(waitSeconds, 'wait_seconds', WAIT_SECONDS_MIN, WAIT_SECONDS_MAX);
}

/** The goal's first line, for lists. */
function summaryOf(goal: string): string | undefined {
  const line = plain(goal.trim().split('\n')[0] ?? '').trim();
  return line === '' ? undefined : clip(line, SUMMARY_CHARS);
}

/** Says in one sentence whose turn it is now. */
async function nextStep({ store, project }: Coxswain, { claim_id }: JsonObject): Promise<string> {
  const key = boardClaimKey(String(claim_id));
  const { loaded, now_ms } = await store.find(project, { keys: [boardKey, key] });
  const state = loaded.get<BoardClaimState>(key)?.state;
  if (state === undefined) return 'nothing: nobody bids on it';
  if (boardOf(loaded.get<BoardState>(boardKey)).members.length === 0)
    return 'nobody is on the board yet: start `cox up`, or let agents join (cox board join)';
  if (!isOpen(state)) return 'nobody wanted it, so it is done';
  if (!isBidding(state))
    return `${outstanding(state).join(', ')} (${state.phase}); a running \`cox up\` begins with it`;
  const left = state.bids_due_ms === undefined ? '' : `, for ${span(state.bids_due_ms - now_ms)} at most`;
  return `bids of ${state.awaited.join(', ')}${left}`;
}

function publishedLines({ artefact_id, claim_id }: JsonObject, type: string, next: string): string[] {
  const id = String(artefact_id);
  return [
    `${claimTitle({ artefact_type: type, artefact_id: id })} is on the board.`,
    `  artefact  ${id}`,
    `  claim     ${String(claim_id ?? 'none')}`,
    `  next      ${plain(next)}`,
    `  look      cox board, cox unearth ${id}`,
  ];
}
