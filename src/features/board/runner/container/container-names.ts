import { hostname } from 'node:os';
import { sha256 } from '../../../../kernel/hash.ts';

const WORKER_CHARS_MAX = 48;
const DIGEST_CHARS = 12;

/** By this one a run's container is found, by whoever looks for it. */
export const RUN_LABEL = 'cox.run';
/** Only for people who look at a list of containers. */
const BOARD_LABEL = 'cox.board';
/** A daemon may serve several machines, users and clones: each clears up only what it is going to collect. */
const RUNS_LABEL = 'cox.runs';

/** What both tools accept as a name; one name for one run, so that it can't be started twice on a machine. */
export function containerName(worker: string, run_id: string): string {
  const digest = sha256(run_id).slice(0, DIGEST_CHARS);
  return `${plain(worker).slice(0, WORKER_CHARS_MAX) || 'agent'}-${digest}`;
}

export function containerLabels(run_id: string, project: string, runs: string): string[] {
  return [`${RUN_LABEL}=${checkedRun(run_id)}`, `${BOARD_LABEL}=${plain(project)}`, runsLabel(runs)];
}

export function runsLabel(runs: string): string {
  return `${RUNS_LABEL}=${sha256(`${hostname()}\n${runs}`).slice(0, DIGEST_CHARS)}`;
}

/** We make these ids ourselves. A `*` in one would match the containers of others. */
export function checkedRun(run_id: string): string {
  if (!/^[\w.:-]+$/.test(run_id)) throw new Error(`not the id of a run: ${JSON.stringify(run_id)}`);
  return run_id;
}

/** `[a-zA-Z0-9][a-zA-Z0-9_.-]*`, or nothing. */
function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[^a-zA-Z0-9_.-]+/g, '-')
    .replace(/^[^a-zA-Z0-9]+/, '');
}
