import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { Loaded, Needs } from '../../ledger/decision.ts';
import type { Actor } from '../../ledger/log.ts';
import { type RulebookState, rulebookKey, standingOf } from '../trust/index.ts';
import { testsNeeds, testsPassed } from './tests-passed.ts';

/** What an agent that says a task is done has to show, if its profile demands it. */
export interface Proof {
  readonly caller: Actor;
  readonly success: boolean;
  /** The commit with the work in it. */
  readonly commit_sha?: string | undefined;
}

/** Giving up needs no proof. */
export function proofNeeds({ success, commit_sha }: Proof): Needs {
  if (!success) return {};
  return {
    keys: [rulebookKey],
    ranges: commit_sha === undefined ? [] : (testsNeeds(commit_sha).ranges ?? []),
  };
}

/** The guardrail `test_required`: nothing is done before the tests of exactly this commit have passed. */
export function missingProof({ caller, success, commit_sha }: Proof, loaded: Loaded): Refusal | undefined {
  if (!success) return undefined;
  const { profile } = standingOf(loaded.get<RulebookState>(rulebookKey)?.state, caller);
  if (!profile.guardrails.includes('test_required')) return undefined;
  const about = { guardrail: 'test_required', profile: profile.name };
  if (commit_sha === undefined)
    return refuse('tests_required', 'Say in result.commit which commit was tested.', {
      ...about,
      field: 'result',
    });
  if (testsPassed(loaded, commit_sha)) return undefined;
  const message = `No tests of commit ${commit_sha} have passed yet.`;
  return refuse('tests_required', message, { ...about, commit_sha });
}
