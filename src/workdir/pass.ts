import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Action } from '../domain/workdir/actions.ts';
import type { Finding } from '../domain/workdir/findings.ts';
import { type Occurrence, occurrencesIn } from '../domain/workdir/occurrences.ts';
import { plan } from '../domain/workdir/plan.ts';
import { agentStatus, freshIn, withEvents, withHandOvers, withLog } from '../domain/workdir/reports.ts';
import type { WorkdirSettings } from '../domain/workdir/settings.ts';
import type { TaskFile, TreeProblem } from '../domain/workdir/task-file.ts';
import { keepFile } from '../places/keep-file.ts';
import { PlaceProblem } from '../places/place.ts';
import { errorCode, unlessMissing } from '../places/real-path.ts';
import { Applier } from './apply.ts';
import { readTree } from './tree.ts';

export interface PassOptions {
  readonly root: string;
  readonly now_ms: number;
  readonly settings: WorkdirSettings;
  /** Only say what would be done. */
  readonly dry_run?: boolean | undefined;
  /** Tells a person; what it throws is the reason why nobody was told, and the next pass tries again. */
  readonly escalate?: ((occurrence: Occurrence) => Promise<void>) | undefined;
}

export interface PassResult {
  readonly done: readonly Action[];
  readonly left: readonly { readonly action: Action; readonly reason: string }[];
  readonly findings: readonly Finding[];
  readonly problems: readonly TreeProblem[];
  /** Occurrences that were not known before. */
  readonly fresh: readonly Occurrence[];
  readonly reports: readonly string[];
  readonly files: readonly TaskFile[];
}

/** What a person should hear of without having asked. */
const ESCALATED: ReadonlySet<Occurrence['type']> = new Set(['error', 'stalled']);

/** Where a root keeps its reports: some repositories have the whole work directory in `work/collaboration`. */
function reportPath(root: string, name: string): string {
  return basename(root) === 'collaboration' ? name : `collaboration/${name}`;
}

const EVENTS = 'logs/coordinator.jsonl';

/**
 * One pass over a work directory: read, plan, do, report. It knows nothing but the files; killed anywhere it leaves a state that the
 * next one goes on from, and on what it has left itself it finds nothing to do.
 */
export async function coordinate(options: PassOptions): Promise<PassResult> {
  const { root, settings, dry_run = false } = options;
  // As the files have it, or the next pass would read another moment than this one meant.
  const now_ms = Math.floor(options.now_ms / 1000) * 1000;
  const tree = readTree(root);
  const planned = plan(tree, now_ms, settings);
  const { actions, archiving, findings } = planned;
  const problems = [...tree.problems];
  if (dry_run) {
    const occurrences = occurrencesIn(planned.files, findings);
    const fresh = freshIn(occurrences, await textOf(root, EVENTS));
    return {
      done: [...actions, ...archiving],
      left: [],
      findings,
      problems,
      fresh,
      reports: [],
      files: planned.files,
    };
  }
  const applier = new Applier(root, tree.texts);
  const applied = await applier.apply(actions);
  // Somebody was quicker than us somewhere: what is reported is what is there.
  const files = applied.left.length === 0 ? planned.files : readTree(root).files;
  const staying = applied.left.length === 0 ? planned.staying : files;
  const occurrences = occurrencesIn(files, findings);
  const fresh = freshIn(occurrences, await textOf(root, EVENTS));
  const untold = await escalateAll(fresh, options, problems);
  const reports = new Reports(root, problems);
  await reports.keep(reportPath(root, 'WORKFLOW_LOG.md'), (text) => withLog(text, occurrences));
  await reports.keep(reportPath(root, 'HANDOFFS.md'), (text) => withHandOvers(text, files));
  const facts = { files: staying, agents: tree.agents, findings, problems: tree.problems };
  await reports.keep(reportPath(root, 'AGENT_STATUS.md'), () => agentStatus(facts));
  // Last: who is in it has been told of.
  await reports.keep(EVENTS, (text) =>
    withEvents(
      text,
      freshIn(occurrences, text).filter((each) => !untold.has(each)),
    ),
  );
  const archived = await applier.apply(archiving);
  return {
    done: [...applied.done, ...archived.done],
    left: [...applied.left, ...archived.left],
    findings,
    problems,
    fresh,
    reports: reports.written,
    files,
  };
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
  readonly #root: string;
  readonly #problems: TreeProblem[];

  constructor(root: string, problems: TreeProblem[]) {
    this.#root = root;
    this.#problems = problems;
  }

  async keep(path: string, edit: (text: string | undefined) => string | undefined): Promise<void> {
    try {
      if (await keepFile(this.#root, path, edit)) this.written.push(path);
    } catch (error) {
      if (!(error instanceof PlaceProblem) && errorCode(error) === '') throw error;
      const reason = error instanceof PlaceProblem ? error.message : `can’t be written (${errorCode(error)})`;
      this.#problems.push({ file: path, line: 1, field: 'file', reason });
    }
  }
}

async function textOf(root: string, path: string): Promise<string | undefined> {
  return await unlessMissing(readFile(join(root, path), 'utf8'));
}
