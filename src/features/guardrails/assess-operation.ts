import type { ShellPlace } from '../../command-analysis/shell/parameters.ts';
import type { Finding } from '../trust/index.ts';
import { assessCommand } from './assess.ts';
import { concluded } from './conclude.ts';
import { credentialFinding } from './edits/credentials.ts';
import { gatherFacts } from './git-facts.ts';
import { isOwnWorktree } from './own-worktree.ts';
import { readGuardrails } from './project-reader.ts';

export interface OperationText {
  readonly operation_text: string;
  readonly file_paths: readonly string[];
}

/**
 * The work tree that the agent works in, if this process runs in it as well; otherwise nothing is known of
 * it.
 */
export interface OwnTree extends Pick<ShellPlace, 'branch' | 'isBranch'> {
  readonly root: string;
  /** The folder in it; default: its root. */
  readonly cwd?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

const UNREADABLE = 'unreadable_command';

const SOMEWHERE = { cwd: '/repository', root: '/repository' };

/** What is dangerous about an operation that an agent describes: a command, and the files it would change. */
export async function assessOperation(
  { operation_text, file_paths }: OperationText,
  tree: OwnTree | undefined,
): Promise<Finding[]> {
  const byName = file_paths.flatMap((path) => credentialFinding(path) ?? []);
  const byText =
    tree === undefined
      ? await concluded(assessCommand(operation_text, SOMEWHERE), SOMEWHERE)
      : await assessCommandIn(operation_text, tree);
  const bySql = await inBareSql(operation_text);
  // That no shell could read it is no danger if it is not meant for one.
  const byShell = bySql === undefined ? byText : byText.filter(({ operation }) => operation !== UNREADABLE);
  return [...byShell, ...(bySql ?? []), ...byName];
}

/** What an agent describes may be the statement itself, which no shell would run. */
async function inBareSql(text: string): Promise<Finding[] | undefined> {
  const { isBareSql } = await import('./sql/bare-sql.ts');
  if (!isBareSql(text)) return undefined;
  const { assessSql } = await import('./sql/assess-sql.ts');
  return await assessSql(text, 'unknown');
}

/** Judges a command with the rules of its project and the facts of its repository. */
export async function assessCommandIn(command: string, tree: OwnTree): Promise<Finding[]> {
  const { root, cwd = root, env, branch, isBranch } = tree;
  const place = { cwd, root, home: env.HOME, branch, isBranch, isOwnWorktree: isOwnWorktree(root, env) };
  const { project } = await readGuardrails(root, env);
  const assessment = assessCommand(command, place, project);
  if (assessment.findings.length === 0) return [];
  return await concluded(assessment, place, await gatherFacts(assessment, place), project?.off);
}
