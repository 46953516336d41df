import { branchNamed } from '../execute.ts';
import type { Executor, VerificationJob } from './executor.ts';
import { resultOf } from './github-events.ts';
import { repositoryOf } from './github-repository.ts';

const API = 'https://api.github.com';
const REQUEST_MS_MAX = 20_000;
const PAGE = 30;

/** The workflow's `run-name`, by which the webhook's word is matched with the run. */
function runTitle(run_id: string): string {
  return `cox ${run_id}`;
}

interface WorkflowRun {
  readonly status?: string | undefined;
  readonly conclusion?: string | null | undefined;
  readonly display_title?: string | undefined;
  readonly head_branch?: string | null | undefined;
  readonly html_url?: string | undefined;
}

/** By a workflow of GitHub Actions. It is only started here: the outcome comes with the webhook. */
export const github: Executor = {
  name: 'github',
  async missing(env) {
    if (!env.GITHUB_TOKEN) return 'GITHUB_TOKEN';
    return undefined;
  },
  async run(job, signal) {
    const repository = await repositoryOf(job);
    if (repository === undefined)
      return { status: 'error', error_message: 'Which repository? Set GITHUB_REPOSITORY to owner/name.' };
    const { workflow } = job.policy;
    if (workflow === undefined)
      return { status: 'error', error_message: `The policy ${job.policy.name} names no workflow.` };
    const call = caller(job, repository, workflow, signal);
    const ref = job.policy.ref ?? (await defaultBranch(job, repository, signal));
    // A runner that died after it had started the workflow must not start it a second time.
    const before = await startedBefore(call, job, branchNamed(ref));
    if (before?.status === 'completed') return resultOf(before.conclusion, before.html_url);
    const external = { repository, workflow, url: before?.html_url };
    if (before !== undefined) return { status: 'dispatched', external };
    const inputs = { cox_run: job.run_id, commit: job.commit_sha };
    const answer = await call('dispatches', { method: 'POST', body: JSON.stringify({ ref, inputs }) });
    if (answer.ok) return { status: 'dispatched', external };
    return { status: 'error', error_message: `GitHub: ${answer.status} ${await reasonOf(answer)}` };
  },
};

type Call = (path: string, init?: RequestInit) => Promise<Response>;

function caller(job: VerificationJob, repository: string, workflow: string, signal: AbortSignal): Call {
  const base = `/repos/${repository}/actions/workflows/${encodeURIComponent(workflow)}/`;
  return (path, init = {}) => ask(job, base + path, signal, init);
}

/** The token goes into this one header and nowhere else. */
async function ask(
  job: VerificationJob,
  path: string,
  signal: AbortSignal,
  init: RequestInit = {},
): Promise<Response> {
  const base = (job.env.GITHUB_API_URL || API).replace(/\/+$/, '');
  return await fetch(base + path, {
    ...init,
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS_MAX)]),
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${job.env.GITHUB_TOKEN}`,
      'content-type': 'application/json',
      'user-agent': 'coxswain',
      'x-github-api-version': '2022-11-28',
    },
  });
}

/** Of that branch's version of the workflow: on another branch any author may have started anything under this title. */
async function startedBefore(
  call: Call,
  { run_id }: VerificationJob,
  branch: string,
): Promise<WorkflowRun | undefined> {
  const answer = await call(
    `runs?event=workflow_dispatch&branch=${encodeURIComponent(branch)}&per_page=${PAGE}`,
  );
  if (!answer.ok) return undefined;
  const { workflow_runs = [] } = (await answer.json()) as { workflow_runs?: WorkflowRun[] };
  return workflow_runs.find(
    ({ display_title, head_branch }) => display_title === runTitle(run_id) && head_branch === branch,
  );
}

async function defaultBranch(job: VerificationJob, repository: string, signal: AbortSignal): Promise<string> {
  const answer = await ask(job, `/repos/${repository}`, signal);
  if (!answer.ok) return 'main';
  const { default_branch } = (await answer.json()) as { default_branch?: string };
  return default_branch ?? 'main';
}

async function reasonOf(answer: Response): Promise<string> {
  try {
    return String(((await answer.json()) as { message?: unknown }).message ?? '').slice(0, 300);
  } catch {
    return '';
  }
}
