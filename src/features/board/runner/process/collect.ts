import { readFileSync, statSync } from 'node:fs';
import { isObject } from '../../../../kernel/json.ts';
import { limits } from '../../../../kernel/limits.ts';
import type { Delivery, GrantAssignment } from '../execution-port.ts';
import { type Answer, readAnswer } from './agent-answer.ts';
import { existingCommit, noteChanges, removeWorkspace, workspaceOf } from './agent-workspace.ts';
import { type Mishap, runFailed, secretsIn } from './failure.ts';
import { keepWork } from './kept-work.ts';
import type { Places, RunFiles } from './run-files.ts';

export const TOO_MUCH = `It printed more than ${limits.agent_output_bytes_max / 1e6} MB.`;
const DELIVERY = 'delivery.json';
/** Where the work of a run is that was lost and started anew. */
export const NOTES = 'notes';
const NAMED_MAX = 10;

export function printsTooMuch(run: RunFiles): boolean {
  return ['stdout', 'stderr'].some((name) => {
    const size = statSync(run.path(name), { throwIfNoEntry: false })?.size ?? 0;
    return size > limits.agent_output_bytes_max;
  });
}

/**
 * The result of a run that was collected before, by this process or by one that was killed before it could
 * report it.
 */
export function collected(run: RunFiles): Delivery | undefined {
  const found = run.readJson(DELIVERY);
  return isObject(found) ? (found as unknown as Delivery) : undefined;
}

/**
 * Judges a run that has no processes left, and removes its work tree. Answers the same however often it is
 * called.
 */
export async function collect(
  run: RunFiles,
  { agent }: Pick<GrantAssignment, 'agent'>,
  places: Places,
  mishap?: Mishap,
): Promise<Delivery> {
  const before = collected(run);
  if (before !== undefined) return before;
  const found = mishap ?? (await judge(run, places));
  const closed = await closeWorkspace(run, places, 'reason' in found ? undefined : found);
  const delivery = settle(run, closed, secretsIn(agent.program?.environment ?? {}), found);
  run.write(DELIVERY, JSON.stringify(delivery));
  await clearWorkspace(run, closed, places);
  return delivery;
}

function settle(
  run: RunFiles,
  { mishap, notes: own }: Closed,
  secrets: readonly string[],
  found: Answer | Mishap,
): Delivery {
  const notes = [
    ...own,
    ...(run
      .read(NOTES)
      ?.split('\n')
      .map((note) => `Before: ${note}`) ?? []),
  ];
  const wrong = 'reason' in found ? found : mishap;
  if (wrong !== undefined) {
    const error = [wrong.error ?? '', ...notes].filter((text) => text !== '').join('\n');
    return runFailed({ ...wrong, error }, run, secrets);
  }
  const answer = found as Answer;
  return { ok: true, ...answer, summary: [answer.summary, ...notes].join('\n') };
}

async function judge(run: RunFiles, places: Places): Promise<Answer | Mishap> {
  const exit = run.exit();
  const ended = run.read('ended')?.trim();
  const exit_code = exit?.code ?? null;
  if (ended !== undefined) return { reason: ended, exit_code };
  if (printsTooMuch(run)) return { reason: TOO_MUCH, exit_code };
  if (exit_code === null) return { reason: 'Somebody killed it and all of its processes.' };
  if (exit_code !== 0) return { reason: endedWith(exit_code), exit_code };
  const answer = readAnswer(readFileSync(run.path('stdout')));
  if ('problem' in answer)
    return { reason: 'Its output breaks the contract.', exit_code, error: answer.problem };
  if (answer.artefact_type !== 'CodeCommit') return answer;
  const commit = await existingCommit(answer.artefact_payload, places);
  if (commit !== undefined) return { ...answer, artefact_payload: commit };
  const error = `The payload of a CodeCommit is the id of a commit in the repository: ${JSON.stringify(answer.artefact_payload.slice(0, 100))}.`;
  return { reason: 'The commit that it names does not exist.', exit_code, error };
}

/** As a shell reports it: above 128 it was a signal, or looks like one. */
function endedWith(code: number): string {
  if (code === 127) return 'Its program was not found (exit code 127).';
  if (code === 126) return 'Its program could not be run (exit code 126).';
  return code > 128
    ? `It was ended by signal ${code - 128} (exit code ${code}).`
    : `It ended with exit code ${code}.`;
}

interface Closed {
  readonly notes: readonly string[];
  readonly mishap?: Mishap;
  /** The tree holds work that is nowhere else. */
  readonly stays?: true;
}

async function closeWorkspace(run: RunFiles, places: Places, answer: Answer | undefined): Promise<Closed> {
  const workspace = workspaceOf(run);
  if (workspace === undefined) return { notes: [] };
  try {
    const changed = await noteChanges(run, workspace, places);
    if (workspace.mode === 'ro') {
      const reason = 'It changed its work tree, which is read-only; the changes are thrown away.';
      return changed.length === 0 ? { notes: [] } : { notes: [], mishap: { reason, error: named(changed) } };
    }
    const delivered = answer?.artefact_type === 'CodeCommit' ? answer.artefact_payload : undefined;
    const kept = await keepWork(run, workspace, places, delivered);
    if (kept.uncommitted !== undefined)
      return { notes: [`What it had not committed is in ${kept.uncommitted}.`] };
    return { notes: answer === undefined && kept.committed ? [`Its commits are in ${kept.committed}.`] : [] };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (workspace.mode === 'ro')
      return { notes: [], mishap: { reason: 'Its read-only work tree could not be checked.', error: why } };
    return { notes: [`Its work tree stays at ${workspace.tree}: ${why}.`], stays: true };
  }
}

function named(files: readonly string[]): string {
  const more = files.length > NAMED_MAX ? ` and ${files.length - NAMED_MAX} more` : '';
  return `${files.slice(0, NAMED_MAX).join(', ')}${more}`;
}

const STAYS = 'stays';

/** Whether its tree holds work that is nowhere else. */
export function hasToStay(run: RunFiles): boolean {
  return run.read(STAYS) !== undefined;
}

async function clearWorkspace(run: RunFiles, { stays }: Closed, places: Places): Promise<void> {
  if (stays) run.write(STAYS, '');
  else await removeWorkspace(run, places);
}

/** Keeps what a run that ended without a result left in its work tree. Answers where. */
export async function clearLost(run: RunFiles, places: Places): Promise<readonly string[]> {
  const closed = await closeWorkspace(run, places, undefined);
  await clearWorkspace(run, closed, places);
  return closed.notes;
}
