import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandFor, type ReadFile } from '../files/policy-commands.ts';
import type { RunResult } from '../verification-run.ts';
import { type CleanTree, checkOut } from './clean-tree.ts';
import { failedToRun, type VerificationJob } from './executor.ts';
import { missingVariables } from './runner-environment.ts';

export type InTree = (command: string, clean: CleanTree) => Promise<RunResult>;

/** The policy's command, or the project's own, with the files of exactly that commit; everything is gone afterwards. */
export async function inCleanTree(job: VerificationJob, use: InTree): Promise<RunResult> {
  const missing = missingVariables(job);
  if (missing.length > 0)
    return { status: 'error', error_message: `The runner’s environment has no ${missing.join(', no ')}.` };
  let clean: CleanTree;
  try {
    clean = await checkOut(job);
  } catch (error) {
    return failedToRun(error);
  }
  try {
    const command = job.policy.command ?? commandFor(job.policy.tier, filesIn(clean.tree));
    return command === undefined ? nothingToRun(job) : await use(command, clean);
  } finally {
    await clean[Symbol.asyncDispose]();
  }
}

function filesIn(tree: string): ReadFile {
  return (name) => {
    try {
      return readFileSync(join(tree, name), 'utf8');
    } catch {
      return undefined;
    }
  };
}

function nothingToRun({ policy }: VerificationJob): RunResult {
  const error_message = `The project has no command for tier ${policy.tier}; give the policy ${policy.name} one.`;
  return { status: 'skipped', error_message };
}
