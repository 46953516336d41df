import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NOT_APPLICABLE } from './expected.ts';

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

export interface Verdict {
  passed: number;
  /** Failures that are listed with a reason. */
  readonly excused: Set<string>;
  readonly failures: string[];
}

/** Everything a revision requires, and what the runner tries beyond that. */
export async function runConformance(
  runner: string,
  url: string,
  revision: string,
  folder: string,
): Promise<Verdict> {
  const output = join(folder, revision);
  const args = [runner, 'server', '--url', url, '--requirements', revision, '--output-dir', output];
  // It fails on what does not apply to us too; what counts are the checks it wrote down.
  await new Promise<void>((resolve) => execFile(process.execPath, args, { cwd: folder }, () => resolve()));
  const verdict: Verdict = { passed: 0, excused: new Set(), failures: [] };
  for (const { scenario, checks } of readResults(output)) judge(scenario, checks, verdict);
  return verdict;
}

function readResults(output: string) {
  return readdirSync(output).map((name) => {
    const checks = JSON.parse(readFileSync(join(output, name, 'checks.json'), 'utf8')) as Check[];
    return { scenario: name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''), checks };
  });
}

function judge(scenario: string, checks: readonly Check[], verdict: Verdict): void {
  for (const { id, status, errorMessage = '' } of checks) {
    if (status === 'SUCCESS') verdict.passed += 1;
    if (status !== 'FAILURE') continue;
    const excuse = [scenario, `${scenario}/${id}`].find((key) => Object.hasOwn(NOT_APPLICABLE, key));
    if (excuse === undefined) verdict.failures.push(`${scenario}/${id}: ${errorMessage}`);
    else verdict.excused.add(excuse);
  }
}
