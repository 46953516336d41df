import { isAbsolute, resolve } from 'node:path';
import { systemClock } from '../../../../kernel/clock.ts';
import type { Execution, GrantAssignment, ToolFailure } from '../execution-port.ts';
import { folderIn, openWorkspace, type RunWorkspace } from './agent-workspace.ts';
import { collected, NOTES } from './collect.ts';
import { agentEnvironment } from './process-environment.ts';
import { type Places, RunFiles } from './run-files.ts';
import { clearFolder, isLost, makeFolder, starterOf } from './run-folder.ts';
import { type BoardJob, lateness, NotStarted, Running } from './running.ts';
import { namedWrapper, startWrapper, type Wrapper } from './wrapper.ts';

/** A run that is ready to be started. */
export interface Prepared {
  readonly run: RunFiles;
  readonly assignment: GrantAssignment;
  readonly workspace: RunWorkspace | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What the wrapper runs, with which environment. */
export interface Launched {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * How a run becomes processes, and what has to be ended that does not end with them. Containers have their
 * own runtime.
 */
export interface Runtime {
  launch(prepared: Prepared): Promise<Launched> | Launched;
  end?(run: RunFiles): Promise<void>;
  /** The reason of a failure, if the agent was not the cause. */
  explain?(failure: ToolFailure, assignment: GrantAssignment): ToolFailure;
}

/**
 * A plain process. It has no memory limit: the shell's limit is for address space, of which some runtimes
 * reserve more than a machine has memory. It runs at low priority and gets the CPU time that other processes
 * leave. Containers have hard limits.
 */
const asProcess: (places: Places) => Runtime = ({ folder }) => ({
  launch({ assignment, env }) {
    const [program = '', ...words] = assignment.agent.program?.command ?? [];
    if (program === '') throw new Error('the agent has no command');
    // A path is relative to the configuration: the reviewed commit must not replace the program that reviews it.
    const isPath = program.includes('/') && !isAbsolute(program);
    return { command: [isPath ? resolve(folder, program) : program, ...words], env };
  },
});

/** Runs a grant's command. If the run is already on this machine, it is followed and never started twice. */
export function startExecution(
  assignment: GrantAssignment,
  places: Places,
  runtime: Runtime = asProcess(places),
): Execution {
  const adopted = adoptExecution(assignment, places, runtime);
  if (adopted !== undefined) return adopted;
  const job = jobOf(assignment, places, runtime);
  return new Running(job, async (isCancelled) => {
    if (assignment.limit_ms <= 0) throw new NotStarted(lateness(assignment));
    if (!makeFolder(job.run, assignment.run_id, places)) {
      const notes = await clearFolder(job.run, places);
      if (!makeFolder(job.run, assignment.run_id, places)) return await foundWrapper(job);
      if (notes.length > 0) job.run.write(NOTES, notes.join('\n'));
    }
    return await launch(job, runtime, isCancelled);
  });
}

/**
 * Follows a run that is on this machine, whichever process started it: its command is waited for and judged
 * as if we had started it. Undefined: nothing is here, or its wrapper died without a result, as all do when
 * the machine goes down. Then it has to be run anew.
 */
export function adoptExecution(
  assignment: GrantAssignment,
  places: Places,
  runtime: Runtime = asProcess(places),
): Execution | undefined {
  const job = jobOf(assignment, places, runtime);
  const known = collected(job.run);
  if (known !== undefined) return { delivered: Promise.resolve(known), cancel: () => {} };
  if (starterOf(job.run) === undefined || isLost(job.run)) return undefined;
  return new Running(job, () => foundWrapper(job));
}

function jobOf(assignment: GrantAssignment, places: Places, { end }: Runtime): BoardJob {
  return { run: new RunFiles(assignment.run_id, places), assignment, places, alsoEnd: end };
}

async function launch(
  { run, assignment, places }: BoardJob,
  runtime: Runtime,
  isCancelled: () => boolean,
): Promise<Wrapper> {
  run.write('input.json', JSON.stringify(assignment.input));
  const workspace = await openWorkspace(run, assignment, places);
  const cwd = workspace === undefined ? places.folder : folderIn(workspace, places);
  const variables = agentEnvironment(assignment, run, places);
  const { command, env } = await runtime.launch({ run, assignment, workspace, cwd, env: variables });
  if (isCancelled()) throw new Error('it was cancelled before it began');
  const { limit_ms } = assignment;
  return await startWrapper(run, { command, cwd, env, limit_ms, late: lateness(assignment) });
}

const LOOK_MS = 20;

/** The wrapper of a run whose starter may still be preparing it. */
async function foundWrapper({ run }: BoardJob): Promise<Wrapper | undefined> {
  for (;;) {
    const wrapper = namedWrapper(run);
    if (wrapper !== undefined || run.exit() !== undefined) return wrapper;
    if (collected(run) !== undefined) return undefined;
    if (isLost(run)) throw new Error('who was to start it has died');
    await systemClock.sleep(LOOK_MS);
  }
}
