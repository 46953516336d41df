import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { keepFile, readKept } from '../../../storage/keep-file.ts';
import { errorCode } from '../../../storage/real-path.ts';
import { PlaceProblem } from '../../../storage/storage-place.ts';
import { type Occurrence, occurrencesIn } from '../occurrences.ts';
import { type PassPlan, plan } from '../plan-pass.ts';
import { agentStatus, freshIn, withEvents, withHandOvers, withLog } from '../reports.ts';
import type { TaskAction } from '../task-actions.ts';
import { type TaskFile, type TreeProblem, type WorkTree, wholeSecond } from '../task-file.ts';
import { findings, type WorkdirFinding } from '../workdir-findings.ts';
import type { WorkdirSettings } from '../workdir-settings.ts';
import { Applier } from './apply.ts';
import { type Aside, readTree } from './task-tree.ts';

export interface PassOptions {
  readonly root: string;
  readonly now_ms: number;
  readonly settings: WorkdirSettings;
  /** Only report what would be done. */
  readonly dry_run?: boolean | undefined;
  /** Tells a person. If it throws, the error is the reason why no person was told, and the next pass tries again. */
  readonly escalate?: ((occurrence: Occurrence) => Promise<void>) | undefined;
}

export interface PassResult {
  readonly done: readonly TaskAction[];
  readonly left: readonly { readonly action: TaskAction; readonly reason: string }[];
  readonly findings: readonly WorkdirFinding[];
  readonly problems: readonly TreeProblem[];
  /** Occurrences that were not known before. */
  readonly fresh: readonly Occurrence[];
  readonly reports: readonly string[];
  readonly files: readonly TaskFile[];
}

/** What a person should be told without asking. */
const ESCALATED: ReadonlySet<Occurrence['type']> = new Set(['error', 'stalled']);

const EVENTS = 'logs/coordinator.jsonl';

/**
 * One pass over a work directory: read, plan, do, report. It knows nothing but the files. Killed anywhere, it
 * leaves a state that the next pass continues from; and on the result of a complete pass, the next pass finds
 * nothing to do.
 */
export async function coordinate(options: PassOptions): Promise<PassResult> {
  const { root, settings, dry_run = false } = options;
  const now_ms = wholeSecond(options.now_ms);
  const tree = readTree(root);
  const planned = plan(tree, now_ms, settings);
  const reports = new Reports(root, [...tree.problems]);
  const { actions, archiving } = planned;
  if (dry_run) {
    const { files, findings } = planned;
    const fresh = await reports.fresh(occurrencesIn(files, findings));
    const done = [...actions, ...archiving];
    return { done, left: [], findings, problems: reports.problems, fresh, reports: [], files };
  }
  const applier = new Applier(root, tree.texts);
  const applied = await applier.apply(actions);
  // Another process was faster somewhere: the report describes what is really there.
  const seen = applied.left.length === 0 ? planned : asItIs(planned, readTree(root), now_ms, settings);
  const fresh = await report(seen, tree, reports, options);
  const archived = await applier.apply(archiving);
  await removeAsides(root, tree.asides);
  return {
    done: [...applied.done, ...archived.done],
    left: [...applied.left, ...archived.left],
    findings: seen.findings,
    problems: reports.problems,
    fresh,
    reports: reports.written,
    files: seen.files,
  };
}

type Seen = Pick<PassPlan, 'files' | 'staying' | 'findings'>;

function asItIs(
  planned: PassPlan,
  { files, agents }: WorkTree,
  now_ms: number,
  settings: WorkdirSettings,
): Seen {
  const inbox = new Set(files.flatMap(({ shelf, task }) => (shelf === 'inbox' ? [task.id] : [])));
  const waiting = planned.findings.filter(({ kind, id = '' }) => kind === 'waiting' && inbox.has(id));
  return {
    files,
    staying: files,
    findings: [...waiting, ...findings(files, new Set(agents), now_ms, settings)],
  };
}

/** Answers the occurrences that were not known before. */
async function report(
  { files, staying, findings }: Seen,
  { agents, problems }: WorkTree,
  reports: Reports,
  options: PassOptions,
): Promise<Occurrence[]> {
  const occurrences = occurrencesIn(files, findings);
  const fresh = await reports.fresh(occurrences);
  const untold = await escalateAll(fresh, options, reports.problems);
  await reports.keep(reports.place('WORKFLOW_LOG.md'), (text) => withLog(text, occurrences));
  await reports.keep(reports.place('HANDOFFS.md'), (text) => withHandOvers(text, files));
  const facts = { files: staying, agents, findings, problems };
  await reports.keep(reports.place('AGENT_STATUS.md'), () => agentStatus(facts));
  // Last, since an entry here means that a person has been told.
  await reports.keep(EVENTS, (text) =>
    withEvents(
      text,
      freshIn(occurrences, text).filter((each) => !untold.has(each)),
    ),
  );
  return fresh;
}

async function escalateAll(
  fresh: readonly Occurrence[],
  { escalate }: PassOptions,
  problems: TreeProblem[],
): Promise<Set<Occurrence>> {
  const untold = new Set<Occurrence>();
  if (escalate === undefined) return untold;
  for (const occurrence of fresh.filter(({ type }) => ESCALATED.has(type)))
    try {
      await escalate(occurrence);
    } catch (error) {
      untold.add(occurrence);
      const reason = `nobody could be told: ${error instanceof Error ? error.message : String(error)}`;
      problems.push({ file: occurrence.task ?? 'notification', line: 1, field: 'notification', reason });
    }
  return untold;
}

class Reports {
  readonly written: string[] = [];
  readonly problems: TreeProblem[];
  readonly #root: string;

  constructor(root: string, problems: TreeProblem[]) {
    this.#root = root;
    this.problems = problems;
  }

  /** Some repositories have the whole work directory in `work/collaboration`. */
  place(name: string): string {
    return basename(this.#root) === 'collaboration' ? name : `collaboration/${name}`;
  }

  /**
   * None, if what has been told can't be read: better to report once too few, and a problem, than the same
   * every five minutes.
   */
  async fresh(occurrences: readonly Occurrence[]): Promise<Occurrence[]> {
    const events = await this.#tried(EVENTS, 'read', async () => ({
      text: await readKept(this.#root, EVENTS),
    }));
    return events === undefined ? [] : freshIn(occurrences, events.text);
  }

  async keep(path: string, edit: (text: string | undefined) => string | undefined): Promise<void> {
    const wasWritten = await this.#tried(path, 'written', () => keepFile(this.#root, path, edit));
    if (wasWritten === true) this.written.push(path);
  }

  async #tried<T>(path: string, how: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const code = errorCode(error);
      if (!(error instanceof PlaceProblem) && code === '') throw error;
      const reason = error instanceof PlaceProblem ? error.message : `can’t be ${how} (${code})`;
      const isKnown = this.problems.some((each) => each.file === path && each.reason === reason);
      if (!isKnown) this.problems.push({ file: path, line: 1, field: 'file', reason });
      return undefined;
    }
  }
}

/** Files that a killed pass was writing: no process will finish them. */
async function removeAsides(root: string, asides: readonly Aside[]): Promise<void> {
  for (const { path, pid } of asides)
    if (!isRunning(pid)) await rm(join(root, path), { force: true }).catch(() => {});
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
