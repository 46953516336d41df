import { git } from '../../../child-process/git.ts';
import type { VerificationJob } from './executor.ts';

const NAME = /^[\w.-]{1,100}\/[\w.-]{1,100}$/;
const REMOTE = /^(?:https:\/\/(?:[^@/]*@)?github\.com\/|(?:ssh:\/\/)?git@github\.com[:/])(.+?)(?:\.git)?\/?$/;

/** `owner/name`: as configured, or where the remote `origin` leads. */
export async function repositoryOf({
  env,
  root,
}: Pick<VerificationJob, 'env' | 'root'>): Promise<string | undefined> {
  const configured = env.GITHUB_REPOSITORY;
  if (configured !== undefined && configured !== '') return NAME.test(configured) ? configured : undefined;
  const remote = await git(['remote', 'get-url', 'origin'], { cwd: root, env }).catch(() => '');
  return repositoryIn(remote.trim());
}

export function repositoryIn(remote: string): string | undefined {
  const [, name] = REMOTE.exec(remote) ?? [];
  return name !== undefined && NAME.test(name) ? name : undefined;
}
