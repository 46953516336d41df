import type { JsonObject } from '../../kernel/json.ts';
import {
  commandsIn,
  commandsInData,
  exactHash,
  type PlainGuard,
  subjectOf,
  type TaskCommand,
} from '../guardrails/index.ts';
import type { Finding } from '../trust/index.ts';
import type { NewTask } from './submit-work.ts';

const SHOWN_CHARS_MAX = 60_000;

/** What submitted tasks would have an agent do, for the guard; undefined if there are no findings. */
export async function guardTasks(tasks: readonly NewTask[]): Promise<PlainGuard | undefined> {
  const commands = tasks.flatMap(({ description, input_data }) => [
    ...commandsIn(description),
    ...commandsInData(input_data),
  ]);
  if (commands.length === 0) return undefined;
  const findings: Finding[] = [];
  for (const command of commands) findings.push(...(await assess(command)));
  return findings.length === 0 ? undefined : shown(tasks, findings);
}

async function assess({ kind, text }: TaskCommand): Promise<readonly Finding[]> {
  const whole = typeof text === 'string' ? text : text.join('\n');
  if (kind === 'diff') return (await import('../guardrails/diff/assess-diff.ts')).assessDiff(whole);
  if (kind === 'sql') return (await import('../guardrails/sql/assess-sql.ts')).assessSql(whole, 'unknown');
  return (await import('../guardrails/assess-text.ts')).assessText(text);
}

async function shown(tasks: readonly NewTask[], findings: readonly Finding[]): Promise<PlainGuard> {
  const { maskSecrets } = await import('../../command-analysis/secrets.ts');
  const cut = (text: string) => maskSecrets(text.slice(0, SHOWN_CHARS_MAX).toWellFormed());
  const what = tasks.map(({ task_type, description, input_data }) => ({
    task_type,
    description,
    input_data,
  }));
  const context = what.map(
    ({ task_type, description, input_data }): JsonObject => ({
      task_type,
      task_description: cut(description),
      ...(input_data === undefined ? {} : { input_data: cut(JSON.stringify(input_data)) }),
    }),
  );
  return {
    kind: 'task',
    hash: exactHash('task', { tasks: what as JsonObject[] }),
    subject: subjectOf(what.map(({ description }) => description).join(' · ')),
    context: { tasks: context },
    findings,
  };
}
