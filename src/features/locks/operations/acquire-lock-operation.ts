import { areaName } from '../../../kernel/area.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, type Refusal, refusalCode, refuse } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import type { Uses } from '../../../runtime/access.ts';
import { namedAreas } from '../../../runtime/call.ts';
import type { AreasInput, Operation, Step } from '../../../runtime/operation.ts';
import { waitFor } from '../../../runtime/waiting.ts';
import { notOwner, teamService } from '../../teams/index.ts';
import type { AcquireLock, LockStep } from '../acquire-lock.ts';
import { AUTOMATIC } from '../automatic-lock.ts';
import { mayFreeLock, TIDIED_PLACES } from '../await-lock.ts';
import { awaitLock, acquireLock as decide, tidyLocks, withdrawLock } from '../commands.ts';

export interface AcquireLockInput extends AreasInput {
  shared?: boolean | undefined;
  wait_seconds?: number | undefined;
  reason?: string | undefined;
  ttl_minutes: number;
  fencing_token?: number | undefined;
}

export const acquireLock = {
  name: 'acquire_lock',
  group: 'lock',
  verb: 'acquire',
  summary:
    'Lock files, folders or globs before you change them, all or none. Calling again extends your lock. If it is blocked, someone else is on it: wait_seconds waits in line.',
  route: { method: 'POST', path: '/locks/acquire' },
  mutates: true,
  proven: true,
  repeatable: true,
  standard: true,
  positional: ['file_path'],
  several: 'file_paths',
  waits: 'wait_seconds',
  examples: [
    'cox lock acquire src/app.ts --reason "rename the router" --ttl-minutes 30',
    "cox lock acquire src/a.ts src/api/ 'web/**/*.css' --wait-seconds 60",
    'cox lock acquire docs/ --shared',
  ],
  sample: { file_path: 'src/app.ts', reason: 'rename the router', ttl_minutes: 30 },
  input: async () => (await import('../schemas.ts')).acquireLock,
  async handle(input, step) {
    const named = namedAreas(input, step);
    if ('success' in named) return named;
    const { areas, single, names } = named;
    const team = await step.use(teamService)();
    const foreign = team === undefined ? undefined : notOwner(areas, team, step.caller.agent_id);
    if (foreign !== undefined) return foreign;
    const caller = { ...step.caller, token: input.fencing_token };
    const ttl_ms = input.ttl_minutes * 60_000;
    const command = { areas, single, caller, ttl_ms, reason: input.reason, shared: input.shared };
    const answer = await acquire(command, (input.wait_seconds ?? 0) * 1000, step);
    if (isRefusal(answer)) return answer;
    for (const [name, area] of names) step.grants.rememberName(name, area);
    for (const { file_path, fencing_token } of single ? [answer] : (answer.locks as JsonObject[]))
      step.grants.remember(`lock/${file_path}`, fencing_token as number);
    return answer;
  },
} satisfies Operation<AcquireLockInput>;

/** Rounds of clearing expired leases before a caller gives up. */
const TIDY_ROUNDS_MAX = 40;
const ANNOUNCEMENTS_MAX = 5;

async function acquire(command: AcquireLock, wait_ms: number, step: Step): Promise<JsonObject | Refusal> {
  let first = await attempt(command, step);
  if (isBlocked(first) && (await step.reclaimFromDeadSessions())) first = await attempt(command, step);
  const isPatient = wait_ms > 0 && isBlocked(first);
  if (first !== ANNOUNCE_FIRST && !isPatient) return first;
  const wish: InLine = { ...command, waiter_id: step.ids.uuid(), waited: wait_ms > 0, standing: false };
  // Subscribe before joining the line, so that no change by another process is missed afterwards.
  const hints = wait_ms === 0 ? undefined : step.hints((row) => mayFreeLock(wish.areas, row));
  try {
    const started_ms = step.elapsed_ms();
    let answer = await announce(wish, wait_ms > 0, step);
    if (hints !== undefined && isBlocked(answer)) {
      let last: Refusal = answer;
      const look = async () => {
        await step.reclaimFromDeadSessions();
        const looked = await lookAgain(wish, step);
        if (!isBlocked(looked)) return looked;
        if (looked.position !== last.position || looked.locked_by !== last.locked_by) step.waiting(looked);
        last = looked;
        return undefined;
      };
      const renew = async () => {
        await step.stillHere();
        await step.chore('wait_for_lock', awaitLock({ ...wish, stays: false }));
      };
      step.waiting(answer);
      const renew_ms = limits.waiter_alive_ms / 2;
      const soonest_ms = () => untilFree_ms(last) - step.now_ms();
      const awaited = { timeout_ms: wait_ms, renew_ms, attempt: look, renew, soonest_ms };
      const got = await waitFor(step, hints, awaited);
      const waited_seconds = Math.round((step.elapsed_ms() - started_ms) / 100) / 10;
      answer = got ?? { ...last, waited_seconds };
    }
    return answer;
  } finally {
    hints?.close();
    // Best effort: a silent waiter counts as dead within a few seconds.
    if (wish.standing) await step.chore('leave_line', withdrawLock(wish)).catch(() => {});
  }
}

interface InLine extends AcquireLock {
  readonly waiter_id: string;
  /** The caller may be in line; only its own grant removes it. */
  standing: boolean;
}

/** When the last of the blocking leases expires. */
function untilFree_ms(refusal: Refusal): number {
  const obstacles = (refusal.conflicts as JsonObject[] | undefined) ?? [refusal];
  return Math.max(...obstacles.map(({ expires_at }) => Date.parse(expires_at as string)));
}

/** Joins the line and checks from there: no caller that came later can be in the way now. */
async function announce(wish: InLine, stays: boolean, step: Step): Promise<JsonObject | Refusal> {
  for (let round = 0; round < ANNOUNCEMENTS_MAX; round += 1) {
    wish.standing = true;
    let joined = answerOf(await step.chore('wait_for_lock', awaitLock({ ...wish, stays })));
    if (isRefusal(joined) && joined.folders_max !== undefined) {
      await tidyFolders(step);
      joined = answerOf(await step.chore('wait_for_lock', awaitLock({ ...wish, stays })));
    }
    if (isRefusal(joined)) return joined;
    const answer = await attempt(wish, step);
    // Repeated only if the process slept past its own announcement.
    if (answer !== ANNOUNCE_FIRST) return answer;
  }
  return refuse('database_unavailable', 'Announcing the lock took longer than an announcement holds.');
}

/** The caller has to say in a folder's record that it wants the folder, before it is granted. */
const ANNOUNCE_FIRST = 'announce';

type Attempted = JsonObject | Refusal | typeof ANNOUNCE_FIRST;

function isBlocked(answer: Attempted): answer is Refusal {
  return answer !== ANNOUNCE_FIRST && isRefusal(answer) && refusalCode(answer) === 'blocked';
}

async function attempt(wish: AcquireLock | InLine, step: Step): Promise<Attempted> {
  for (let round = 0; round < TIDY_ROUNDS_MAX; round += 1) {
    const outcome = await step.run(decide(wish), usesOf(wish));
    // A repeated outcome was granted to an earlier call with the same id, and left this one in line.
    if (outcome.status === 'committed' && !outcome.repeated && 'standing' in wish) wish.standing = false;
    if (outcome.status !== 'first') return answerOf(outcome);
    const first = outcome.first as LockStep;
    if (first.step === 'announce') return ANNOUNCE_FIRST;
    await tidyPlaces(first.places, step);
  }
  return refuse('too_large', 'More locks ran out than could be cleared away; try again.');
}

async function tidyPlaces(places: readonly string[], step: Step): Promise<void> {
  for (let start = 0; start < places.length; start += TIDIED_PLACES)
    await step.chore('tidy_locks', tidyLocks({ places: places.slice(start, start + TIDIED_PLACES) }));
}

/** An exclusive lock is taken to change something; a lock taken for an edit is the change. */
function usesOf({ areas, shared, reason }: AcquireLock): Uses | undefined {
  if (shared === true) return undefined;
  const names = areas.map(areaName);
  return reason === AUTOMATIC ? { modifies: names, locks_them: true } : { means_to_modify: names };
}

/** Reads first: a commit is only worthwhile for what is available now. */
async function lookAgain(wish: InLine, step: Step): Promise<JsonObject | Refusal> {
  const now = await step.consider(decide(wish));
  if (now.verdict === 'refuse') return now.refusal;
  const answer = await attempt(wish, step);
  return answer === ANNOUNCE_FIRST ? await announce(wish, false, step) : answer;
}

async function tidyFolders(step: Step): Promise<void> {
  for (let offset = 0; offset < limits.lock_folders_max; offset += TIDIED_PLACES)
    await step.chore('tidy_locks', tidyLocks({ offset }));
}
