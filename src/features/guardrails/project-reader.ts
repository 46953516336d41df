import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FileProblem } from '../../storage/yaml-file.ts';
import type { ProjectPatterns } from './project.ts';

const FILE_BYTES_MAX = 256 * 1024;

export interface ReadGuardrails {
  readonly path: string;
  /** Undefined: there is no file, or it has mistakes; the shipped patterns apply in either case. */
  readonly project: ProjectPatterns | undefined;
  readonly problems: readonly FileProblem[];
}

export function guardrailsPath(root: string, env: NodeJS.ProcessEnv): string {
  return env.COX_GUARDRAILS || join(root, 'guardrails.yaml');
}

/**
 * A project's patterns as they are now. They can only make things stricter, so editing the file loosens
 * nothing.
 */
export async function readGuardrails(root: string, env: NodeJS.ProcessEnv): Promise<ReadGuardrails> {
  const path = guardrailsPath(root, env);
  const failed = (reason: string): ReadGuardrails => ({
    path,
    project: undefined,
    problems: [{ line: 1, field: 'file', reason }],
  });
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { path, project: undefined, problems: [] };
  if (!stat.isFile() || stat.size > FILE_BYTES_MAX)
    return failed(`no file of at most ${FILE_BYTES_MAX} bytes`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return failed(error instanceof Error ? error.message : 'cannot be read');
  }
  // The parser is loaded only where such a file exists.
  const { parseGuardrails } = await import('./project-file.ts');
  const parsed = parseGuardrails(text);
  return parsed.ok
    ? { path, project: parsed.project, problems: [] }
    : { path, project: undefined, problems: parsed.problems };
}
