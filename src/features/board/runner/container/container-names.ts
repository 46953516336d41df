import { hostname } from 'node:os';
import { sha256 } from '../../../../kernel/hash.ts';

const WORKER_CHARS_MAX = 48;
const DIGEST_CHARS = 12;

/** The label by which any process finds a run's container. */
export const RUN_LABEL = 'cox.run';
/** Only for people who look at a list of containers. */
const BOARD_LABEL = 'cox.board';
/**
 * A daemon may serve several machines, users and clones. Each of them removes only the containers whose
 * results it collects.
 */
const RUNS_LABEL = 'cox.runs';

/** A name that both tools accept. One name per run, so that a run can't be started twice on a machine. */
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

/** We make these ids ourselves. A `*` in one would match the containers of other runs. */
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
