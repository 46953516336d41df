import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, refuse } from '../../../kernel/refusal.ts';
import { newSecret, secretHash } from '../../../kernel/secret.ts';
import { answerOf } from '../../../ledger/decision.ts';
import type { Operation } from '../../../runtime/operation.ts';
import {
  decideRun,
  recordRun,
  removeVerificationPolicy as remove,
  setVerificationPolicies,
  startRun,
} from '../commands.ts';
import { describePolicy, policiesIn, policyNeeds } from '../policy-book.ts';
import type { VerificationPolicy } from '../verification-policy.ts';
import type { RunResult } from '../verification-run.ts';
import { statusOfChangeset, statusOfCommit } from '../verification-status.ts';

const SAMPLE_RUN = '4f1c2ab04f1c2ab04f1c2ab04f1c2ab04f1c2ab0#unit-tests';

export const verificationStatus = {
  name: 'verification_status',
  group: 'verification',
  verb: 'status',
  summary: 'How far the verification of a changeset or of a commit has come, tier by tier.',
  route: { method: 'POST', path: '/verification/status' },
  mutates: false,
  standard: false,
  examples: [
    'cox verification status --commit-sha 4f1c2ab',
    'cox verification status --changeset-id 0192a0…',
  ],
  sample: { commit_sha: '4f1c2ab' },
  input: async () => (await import('../schemas.ts')).verificationStatus,
  async handle({ changeset_id, commit_sha }, step) {
    if (changeset_id !== undefined) return await statusOfChangeset(changeset_id, step.find);
    return await statusOfCommit(commit_sha ?? '', step.find);
  },
} satisfies Operation<{ changeset_id?: string | undefined; commit_sha?: string | undefined }>;

export const listVerificationPolicies = {
  name: 'list_verification_policies',
  group: 'verification',
  verb: 'list',
  summary: 'Which changes are verified how: the policies that hold now, by tier.',
  route: { method: 'GET', path: '/verification/policies' },
  mutates: false,
  standard: false,
  examples: ['cox verification list', 'cox verification list --json'],
  input: async () => (await import('../schemas.ts')).listVerificationPolicies,
  async handle(_input, step) {
    const { loaded } = await step.find(policyNeeds);
    return { success: true, policies: policiesIn(loaded).map(describePolicy) };
  },
} satisfies Operation;

export const setVerificationPolicy = {
  name: 'set_verification_policy',
  group: 'verification',
  verb: 'set',
  summary: 'Add a verification policy, or replace the one of that name. For a person, or at trust level 4.',
  route: { method: 'POST', path: '/verification/policies/set' },
  mutates: true,
  trust: 4,
  repeatable: true,
  standard: false,
  positional: ['name'],
  examples: [
    'cox verification set api-tests --tier 2 --executor inline --patterns "src/api/**" --command "npm run test:api"',
  ],
  sample: {
    name: 'api-tests',
    tier: 2,
    executor: 'inline',
    patterns: ['src/api/**'],
    command: 'npm run test:api',
  },
  input: async () => (await import('../schemas.ts')).setVerificationPolicy,
  async handle({ operation_id: _, ...policy }, step) {
    return answerOf(await step.run(setVerificationPolicies([policy], step.caller.agent_id)));
  },
} satisfies Operation<VerificationPolicy & { operation_id?: string | undefined }>;

export const removeVerificationPolicy = {
  name: 'remove_verification_policy',
  group: 'verification',
  verb: 'remove',
  summary: 'Remove a verification policy, also one that ships. For a person, or at trust level 4.',
  route: { method: 'POST', path: '/verification/policies/remove' },
  mutates: true,
  trust: 4,
  destructive: true,
  standard: false,
  positional: ['name'],
  examples: ['cox verification remove api-tests'],
  sample: { name: 'api-tests' },
  input: async () => (await import('../schemas.ts')).removeVerificationPolicy,
  handle: async ({ name }, step) => answerOf(await step.run(remove(name, step.caller.agent_id))),
} satisfies Operation<{ name: string }>;

export const startVerification = {
  name: 'start_verification',
  group: 'verification',
  verb: 'start',
  summary:
    'Take a run for an executor of your own; its secret is shown once. For a person, or at trust level 4.',
  route: { method: 'POST', path: '/verification/start' },
  mutates: true,
  // An agent that could take the run of its own change could also say that it has passed.
  trust: 4,
  standard: false,
  positional: ['run_id'],
  examples: ['cox verification start 4f1c2ab…#unit-tests --timeout-minutes 30'],
  sample: { run_id: SAMPLE_RUN },
  input: async () => (await import('../schemas.ts')).startVerification,
  async handle({ run_id, timeout_minutes }, step) {
    const secret = newSecret();
    const ttl_ms = timeout_minutes * 60_000;
    const { caller } = step;
    const start = { run_id, caller, executor: 'inline', ttl_ms, secret_hash: secretHash(secret) } as const;
    const answer = answerOf(await step.run(startRun(start)));
    // As with keys: the log has the committed answer, so the secret joins it only here.
    return isRefusal(answer) || answer.started !== true ? answer : { ...answer, secret };
  },
} satisfies Operation<{ run_id: string; timeout_minutes: number }>;

export interface Recorded extends Pick<RunResult, 'exit_code' | 'output' | 'url'> {
  readonly run_id: string;
  readonly status: 'passed' | 'failed' | 'error';
  readonly secret?: string | undefined;
}

export const recordVerification = {
  name: 'record_verification',
  group: 'verification',
  verb: 'record',
  summary: 'Report the result of a run: with its secret, or as the person whom it waits for.',
  route: { method: 'POST', path: '/verification/record' },
  mutates: true,
  standard: false,
  positional: ['run_id'],
  unlogged: ['secret', 'output'],
  examples: ['cox verification record 4f1c2ab…#unit-tests --status passed --secret "$COX_RUN_SECRET"'],
  sample: { run_id: SAMPLE_RUN, status: 'passed', secret: 'as start_verification showed it' },
  input: async () => (await import('../schemas.ts')).recordVerification,
  async handle({ run_id, status, secret, output, ...rest }, step): Promise<JsonObject> {
    const { maskSecrets } = await import('../../../command-analysis/secrets.ts');
    const shown =
      output === undefined ? undefined : maskSecrets(output).slice(-limits.verification_output_chars_max);
    if (secret !== undefined) {
      const { exit_code, url } = rest;
      const result: RunResult = { status, exit_code, url, output: shown };
      return answerOf(await step.run(recordRun(run_id, secretHash(secret), result)));
    }
    if (step.authority !== 'person')
      return refuse('forbidden', 'A result is reported with the run’s secret, or by a person.');
    return answerOf(await step.run(decideRun(run_id, status === 'passed', step.caller.agent_id, shown)));
  },
} satisfies Operation<Recorded>;
