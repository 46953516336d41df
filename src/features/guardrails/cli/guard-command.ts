import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { JsonObject } from '../../../kernel/json.ts';
import { refuse } from '../../../kernel/refusal.ts';
import { findWorkspace } from '../../../kernel/workspace.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { guardrailsPath, readGuardrails } from '../project-reader.ts';
import { PATTERNS } from '../registry.ts';

const FILE_BYTES_MAX = 256 * 1024;

function rootOf({ cwd }: Terminal): string {
  return findWorkspace(cwd).root;
}

/** `cox guard test`: mistakes in the file and failures of its tests, each with its line. */
export async function testGuardrails(terminal: Terminal, file: string | undefined): Promise<JsonObject> {
  const path =
    file === undefined ? guardrailsPath(rootOf(terminal), terminal.env) : resolve(terminal.cwd, file);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    return refuse(
      'guardrails_invalid',
      `${path}: ${error instanceof Error ? error.message : 'cannot be read'}.`,
    );
  }
  if (text.length > FILE_BYTES_MAX)
    return refuse('guardrails_invalid', `${path} has more than ${FILE_BYTES_MAX} characters.`);
  const { checkGuardrailsFile, parseGuardrails } = await import('../project-file.ts');
  const problems = checkGuardrailsFile(text);
  if (problems.length > 0)
    return refuse(
      'guardrails_invalid',
      `${path} has ${problems.length} problem${problems.length === 1 ? '' : 's'}.`,
      {
        file: path,
        problems: problems.map((problem) => ({ ...problem })),
      },
    );
  const parsed = parseGuardrails(text);
  const { patterns, tests } = parsed.ok
    ? { patterns: parsed.project.patterns.length, tests: Object.values(parsed.tests).flat().length }
    : { patterns: 0, tests: 0 };
  return { success: true, file: path, patterns, tests_passed: tests };
}

/** `cox guard patterns`: the registry, with the project's own patterns at the end. */
export async function listPatterns(terminal: Terminal): Promise<JsonObject> {
  const { path, project, problems } = await readGuardrails(rootOf(terminal), terminal.env);
  const shipped = PATTERNS.map(({ id, category, operation, reason, instead }) => ({
    id,
    category,
    operation,
    reason,
    ...(instead === undefined ? {} : { instead }),
    source: 'shipped',
  }));
  const own = (project?.patterns ?? []).map(({ id, category, operation, reason, action }) => ({
    id,
    category,
    operation,
    reason,
    action,
    source: path,
  }));
  return {
    success: true,
    patterns: [...shipped, ...own],
    ...(problems.length === 0 ? {} : { problems: problems.map((problem) => ({ ...problem })) }),
  };
}
