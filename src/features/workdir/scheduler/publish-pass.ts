import { GitFailure } from '../../../child-process/git.ts';
import { type Clock, systemClock } from '../../../kernel/clock.ts';
import { type Random, systemRandom } from '../../../kernel/ids.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import type { PassResult } from '../folder/pass.ts';
import type { TaskAction } from '../task-actions.ts';
import { failed, WorkRepository } from './repository.ts';
import { sentenceOf } from './scheduler-words.ts';

export interface PublishOptions {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly push: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface Published {
  readonly pass: PassResult;
  /** Undefined: nothing had changed. */
  readonly commit: string | undefined;
  readonly pushed: boolean;
  /** How often it was planned again because of other pushes. */
  readonly replanned: number;
}

const ATTEMPTS_MAX = 5;
const LINES_MAX = 50;

/**
 * A pass, committed and perhaps pushed. If another push was faster, the changes of this pass are taken back
 * and planned again on top of it: the steps are cheap, and a merge of two plans would match neither of them.
 */
export async function publishPass(
  run: () => Promise<PassResult>,
  options: PublishOptions,
): Promise<Published | Refusal> {
  const repository = new WorkRepository(options.root, options.env);
  try {
    if (!(await repository.isThere())) return failed(`${options.root} is in no git repository.`);
    return options.push
      ? await pushed(run, repository, options)
      : { ...(await committed(run, repository)), pushed: false, replanned: 0 };
  } catch (error) {
    if (error instanceof GitFailure) return failed(error.message);
    throw error;
  }
}

async function committed(run: () => Promise<PassResult>, repository: WorkRepository) {
  await commitByHand(repository);
  const pass = await run();
  const lines = pass.done.map(sentenceOf);
  const more = lines.length > LINES_MAX ? [`and ${lines.length - LINES_MAX} more`] : [];
  const commit = await repository.commit('pass', subjectOf(pass.done), [
    ...lines.slice(0, LINES_MAX),
    ...more,
  ]);
  return { pass, commit };
}

/** Uncommitted changes by people are theirs: they must survive a plan that is taken back. */
async function commitByHand(repository: WorkRepository): Promise<void> {
  await repository.commit('hand', 'Coordinator: what was put into the work directory by hand', []);
}

async function pushed(
  run: () => Promise<PassResult>,
  repository: WorkRepository,
  { clock = systemClock, random = systemRandom }: PublishOptions,
): Promise<Published | Refusal> {
  const target = await repository.target();
  if ('success' in target) return target;
  let reason = '';
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    // Two passes that were rejected at the same time would be rejected again.
    if (attempt > 0) await clock.sleep(Math.round(200 * attempt * (0.5 + random.fraction())));
    await commitByHand(repository);
    const behind = await repository.catchUp(target);
    if (behind !== undefined) return behind;
    const done = await committed(run, repository);
    if (await repository.isPushed(target)) return { ...done, pushed: false, replanned: attempt };
    const problem = await repository.push(target);
    if (problem === undefined) return { ...done, pushed: true, replanned: attempt };
    reason = problem;
  }
  return failed(`It could not be pushed in ${ATTEMPTS_MAX} tries: ${reason}`);
}

/** How many of what, for readers of the history. */
function subjectOf(actions: readonly TaskAction[]): string {
  const moved = (to: string) =>
    actions.filter((action) => action.kind === 'move' && action.to.startsWith(to)).length;
  const created = actions.filter(({ kind }) => kind === 'create').length;
  const counts: [number, string][] = [
    [moved('assigned/'), 'assigned'],
    [created, created === 1 ? 'follow-up' : 'follow-ups'],
    [moved('archive/'), 'archived'],
  ];
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return `Coordinator: ${parts.length === 0 ? 'reports' : parts.join(', ')}`;
}
