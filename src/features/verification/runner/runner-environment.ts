import type { Mark } from '../../../child-process/marked.ts';
import type { VerificationJob } from './executor.ts';

/** How programs are found and speak. Nothing that holds a secret or changes what a program does. */
const PASSED_ON = ['PATH', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ'];

/** Every process of a run carries it, so that all of them can be found again. */
export const RUN_MARK = 'COX_VERIFICATION_RUN';

export function runMark(value: string): Mark {
  return { variable: RUN_MARK, value };
}

/** The variables that the policy wants and the runner has not. */
export function missingVariables({ policy, env }: VerificationJob): string[] {
  return policy.required_environment.filter((name) => env[name] === undefined || env[name] === '');
}

/** What a command sees: an environment made for it, with a home of its own, and what its policy names. */
export function cleanEnvironment(job: VerificationJob, home: string, mark: string): Record<string, string> {
  const own = { HOME: home, TMPDIR: home, CI: 'true', TERM: 'dumb', [RUN_MARK]: mark };
  const named = [...PASSED_ON, ...job.policy.required_environment].flatMap((name) => {
    const value = job.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...own, COX_COMMIT: job.commit_sha, ...Object.fromEntries(named) };
}
