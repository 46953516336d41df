import { limits } from '../../kernel/limits.ts';
import type { Loaded, Needs } from '../../ledger/decision.ts';
import { listRuns, runId, runsOfCommit } from './verification-run.ts';

const TESTING_TIERS: readonly number[] = [1, 2, 3];

/** What `testsPassed` looks at; for a decision that completes something. */
export function testsNeeds(commit_sha: string): Needs {
  return { ranges: [ofCommit(commit_sha)] };
}

function ofCommit(commit_sha: string) {
  return runsOfCommit(runId(commit_sha, ''), limits.verification_policies_max + 1);
}

/** The guardrail `test_required`: tests of exactly this commit have passed, and none has anything against it. */
export function testsPassed(loaded: Loaded, commit_sha: string): boolean {
  const tests = listRuns(ofCommit(commit_sha), loaded).filter(({ state }) =>
    TESTING_TIERS.includes(state.policy.tier),
  );
  const statuses = tests.map(({ state }) => state.status);
  return (
    statuses.includes('passed') && statuses.every((status) => status === 'passed' || status === 'skipped')
  );
}
