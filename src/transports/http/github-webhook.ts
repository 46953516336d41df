import { keptFiles } from '../../features/changesets/index.ts';
import {
  concludeRun,
  listRuns,
  receiveChange,
  runId,
  runsOfCommit,
} from '../../features/verification/index.ts';
import {
  type Push,
  readPush,
  readWorkflowRun,
  type WorkflowOutcome,
} from '../../features/verification/runner/index.ts';
import { uuidFromKey } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { parseBody, readBytes } from './body.ts';
import type { Exchange } from './http-exchange.ts';
import type { Route } from './routes.ts';

export interface WebhookConfig {
  readonly secret?: string | undefined;
  /** Events of other repositories are ignored. */
  readonly repository?: string | undefined;
}

const DELIVERY = /^[\w-]{1,64}$/;

/** The endpoint for GitHub: no key, but every delivery is signed with the secret that both sides know. */
export function webhookRoute(coxswain: Coxswain, config: WebhookConfig): Route {
  return {
    path: '/webhook/github',
    methods: ['POST'],
    key: 'none',
    handle: (exchange) => receive(coxswain, config, exchange),
  };
}

async function receive(
  coxswain: Coxswain,
  { secret, repository }: WebhookConfig,
  exchange: Exchange,
): Promise<void> {
  const { headers, request } = exchange;
  if (secret === undefined) return await exchange.turnAway(503, 'not_configured', NO_SECRET);
  if (!/^application\/json(?:\s*;|$)/i.test(headers['content-type'] ?? ''))
    return await exchange.turnAway(415, 'unsupported_media_type', 'Send application/json.');
  const bytes = await readBytes(request);
  if (bytes === 'gone') return;
  if (bytes === 'too_large') return exchange.tooLarge();
  if (!(await isSigned(secret, bytes, headers['x-hub-signature-256'])))
    return exchange.send(401, { success: false, error: 'unauthorized', message: BAD_SIGNATURE });
  const delivery = headers['x-github-delivery'];
  if (typeof delivery !== 'string' || !DELIVERY.test(delivery))
    return exchange.send(422, {
      success: false,
      error: 'invalid_input',
      message: 'X-GitHub-Delivery is missing.',
    });
  const body = parseBody(bytes);
  if (body.kind === 'malformed') return exchange.send(422, body.refusal);
  if (body.kind !== 'object') return;
  const read = readEvent(headers['x-github-event'], body.value);
  if (read.kind === 'ignored') return exchange.answer({ success: true, ignored: read.reason });
  if (repository !== undefined && read.repository.toLowerCase() !== repository.toLowerCase())
    return exchange.answer({ success: true, ignored: 'another repository' });
  const operation_id = `github ${delivery}`;
  exchange.answer(
    read.kind === 'push'
      ? await receivePush(coxswain, read, operation_id)
      : await receiveOutcome(coxswain, read, operation_id),
  );
}

const NO_SECRET =
  'Webhooks are not set up: choose a secret, set GITHUB_WEBHOOK_SECRET to it and start again, and give it to the webhook on GitHub.';
const BAD_SIGNATURE = 'The signature in X-Hub-Signature-256 is missing, or not made with our secret.';

/** No part of an unsigned body is parsed or ever shown. */
async function isSigned(secret: string, bytes: Buffer, signature: unknown): Promise<boolean> {
  if (bytes.length === 0 || typeof signature !== 'string' || signature === '') return false;
  const { verify } = await import('@octokit/webhooks-methods');
  return await verify(secret, bytes.toString('utf8'), signature);
}

function readEvent(event: unknown, payload: JsonObject) {
  switch (event) {
    case 'push':
      return readPush(payload);
    case 'workflow_run':
      return readWorkflowRun(payload);
    default:
      return { kind: 'ignored', reason: 'only push and workflow_run are of use here' } as const;
  }
}

async function receivePush(coxswain: Coxswain, push: Push, operation_id: string): Promise<JsonObject> {
  const { repository, branch, pusher, commit_sha, base_sha, summary, files, truncated } = push;
  // The pusher is known by name only: a branch that names an agent does not make the pusher that agent.
  const identity = { agent_id: `github:${pusher}`, agent_type: 'github', session_id: `github:${repository}` };
  const connection = coxswain.connect(identity, 'agent', { shows: 'never' });
  const changeset = {
    files: keptFiles(files),
    file_count: files.length,
    commit_sha,
    base_sha,
    branch,
    summary: summary === '' ? undefined : summary,
  };
  const changeset_id = uuidFromKey(`push\n${repository}\n${branch}\n${commit_sha}`);
  const seen = { files, truncated, from: 'push' } as const;
  return await connection.performBuilt(receiveChange, { changeset_id, changeset, seen, operation_id });
}

async function receiveOutcome(
  coxswain: Coxswain,
  outcome: WorkflowOutcome,
  operation_id: string,
): Promise<JsonObject> {
  const { kind: _, run_id, ...rest } = outcome;
  const identity = {
    agent_id: 'github:actions',
    agent_type: 'github',
    session_id: `github:${rest.repository}`,
  };
  const connection = coxswain.connect(identity, 'agent', { shows: 'never' });
  const concluded: JsonObject[] = [];
  for (const id of run_id === undefined ? await runsMeant(coxswain, rest) : [run_id]) {
    const named = `${operation_id} ${id.slice(id.indexOf('#') + 1)}`.slice(0, limits.operation_id_chars_max);
    const input = { run_id: id, outcome: rest, operation_id: named };
    const answer = await connection.performBuilt(concludeRun, input);
    concluded.push({ run_id: id, status: answer.status, success: answer.success });
  }
  if (concluded.length === 0) return { success: true, ignored: 'no run waits for it' };
  return { success: true, concluded };
}

/** Runs for the pushed commit that this workflow may report on. */
async function runsMeant(
  { store, project }: Coxswain,
  { head_sha, workflow }: Pick<WorkflowOutcome, 'head_sha' | 'workflow'>,
): Promise<string[]> {
  const range = runsOfCommit(runId(head_sha, ''), limits.verification_policies_max + 1);
  const { loaded } = await store.find(project, { ranges: [range] });
  return listRuns(range, loaded)
    .filter(({ state: { policy } }) => policy.executor === 'github' && policy.workflow === workflow)
    .map(({ id }) => id);
}
