import { limits } from '../../../kernel/limits.ts';
import { nameProblem } from '../../../kernel/names.ts';
import type { Dispatched } from '../execute.ts';
import type { RunResult } from '../verification-run.ts';

// What of GitHub's payloads is looked at. They come signed, but a file's name, a branch and a title are their author's words.

export interface Push {
  readonly kind: 'push';
  readonly repository: string;
  readonly branch: string;
  readonly pusher: string;
  readonly commit_sha: string;
  readonly base_sha: string | undefined;
  readonly summary: string;
  readonly files: readonly string[];
  readonly truncated: boolean;
}

export interface WorkflowOutcome {
  readonly kind: 'workflow';
  readonly repository: string;
  readonly workflow: string;
  readonly head_sha: string;
  /** The run that it was started for, if it was. */
  readonly run_id: string | undefined;
  readonly dispatched: Dispatched | undefined;
  readonly result: RunResult;
}

export interface Ignored {
  readonly kind: 'ignored';
  readonly reason: string;
}

type Fields = Readonly<Record<string, unknown>>;

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const RUN_TITLE = /^cox ([0-9a-f]{40,64}#[a-z0-9][a-z0-9_-]{0,63})$/;
/** GitHub lists no more commits than this. */
const COMMITS_MAX = 2048;

const ignored = (reason: string): Ignored => ({ kind: 'ignored', reason });

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** Whatever it was, what is left can be stored and shown. */
function words(value: unknown, chars_max: number): string {
  const text = typeof value === 'string' ? value : '';
  return text
    .slice(0, chars_max)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '�');
}

function commitIn(value: unknown): string | undefined {
  return typeof value === 'string' && COMMIT.test(value) && !/^0+$/.test(value) ? value : undefined;
}

export function readPush(payload: Fields): Push | Ignored {
  const { ref, deleted, commits, head_commit } = payload;
  if (typeof ref !== 'string' || !ref.startsWith('refs/heads/')) return ignored('no branch was pushed');
  const commit_sha = commitIn(payload.after);
  if (deleted === true || commit_sha === undefined) return ignored('the branch was deleted');
  const listed = Array.isArray(commits) ? commits : [];
  const all = [...listed, head_commit].map(fields);
  const files = new Set(
    all.flatMap(({ added, modified, removed }) =>
      [added, modified, removed]
        .flatMap((names) => (Array.isArray(names) ? names : []))
        .map((name) => words(name, 4096))
        .filter((name) => name !== ''),
    ),
  );
  const login = words(fields(payload.sender).login ?? fields(payload.pusher).name, 100);
  return {
    kind: 'push',
    repository: words(fields(payload.repository).full_name, 200),
    branch: words(ref.slice('refs/heads/'.length), 250),
    pusher: nameProblem(login) === undefined ? login : 'unknown',
    commit_sha,
    base_sha: commitIn(payload.before),
    summary: words(fields(head_commit).message, 500).split('�')[0] ?? '',
    files: [...files].slice(0, limits.push_files_max),
    // A new branch of commits that are known already lists none: what differs can't be told from here.
    // And one that was forced lists the commits that came, not those that went.
    truncated:
      files.size > limits.push_files_max ||
      listed.length >= COMMITS_MAX ||
      files.size === 0 ||
      payload.forced === true,
  };
}

export function readWorkflowRun(payload: Fields): WorkflowOutcome | Ignored {
  const run = fields(payload.workflow_run);
  if (payload.action !== 'completed') return ignored(`the workflow is only ${words(payload.action, 40)}`);
  const head_sha = commitIn(run.head_sha);
  const path = words(fields(payload.workflow).path ?? run.path, 300);
  const [, workflow] = /^\.github\/workflows\/([^/@]+)(?:@.*)?$/.exec(path) ?? [];
  if (head_sha === undefined || workflow === undefined) return ignored('no commit or no workflow is named');
  const repository = words(fields(payload.repository).full_name, 200);
  const [, run_id] = RUN_TITLE.exec(words(run.display_title ?? run.name, 300)) ?? [];
  const isStarted = run.event === 'workflow_dispatch' && run_id !== undefined;
  // Only of a push to the repository itself: a fork, or the title of a pull request, speaks only for its author.
  const isPushed = run.event === 'push' && fields(run.head_repository).full_name === repository;
  if (!isStarted && !isPushed) return ignored('it is neither our run nor that of a push');
  return {
    kind: 'workflow',
    repository,
    workflow,
    head_sha,
    run_id: isStarted ? run_id : undefined,
    dispatched: isStarted
      ? {
          branch: words(run.head_branch, 250),
          default_branch: words(fields(payload.repository).default_branch, 250),
        }
      : undefined,
    result: resultOf(run.conclusion, run.html_url),
  };
}

const RESULTS: Readonly<Record<string, RunResult['status']>> = {
  success: 'passed',
  failure: 'failed',
  timed_out: 'timed_out',
};

/** Whatever else GitHub calls it (cancelled, stale, action_required …), nothing was verified. */
export function resultOf(conclusion: unknown, url: unknown): RunResult {
  const word = words(conclusion, 40) || 'no conclusion';
  const status = Object.hasOwn(RESULTS, word) ? RESULTS[word] : undefined;
  const where = typeof url === 'string' && /^https?:\/\/[!-~]{1,400}$/.test(url) ? url : undefined;
  const error_message = status === 'passed' ? undefined : `GitHub: ${word}`;
  return { status: status ?? 'error', executor: 'github', url: where, error_message };
}
