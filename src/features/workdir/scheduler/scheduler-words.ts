import type { JsonObject } from '../../../kernel/json.ts';
import type { PassResult } from '../folder/pass.ts';
import type { TaskAction } from '../task-actions.ts';

export function described(action: TaskAction): JsonObject {
  const { kind, id, why } = action;
  switch (action.kind) {
    case 'move':
      return { action: kind, task: id, from: action.from, to: action.to, why };
    case 'update':
      return {
        action: kind,
        task: id,
        path: action.path,
        fields: Object.keys(action.changes).map(fieldName),
        why,
      };
    case 'create':
      return { action: kind, task: id, path: action.path, follows: action.follow_up.previous_task, why };
    case 'drop':
      return { action: kind, task: id, path: action.path, same_as: action.twin, why };
  }
}

/** One line for each item, followed by its reason. */
export function linesOf(
  { done, left, findings, problems, reports }: PassResult,
  dry_run: boolean,
  /** Lines before the pass, and lines after it. */
  [before, after]: readonly [readonly string[], readonly string[]] = [[], []],
): string[] {
  const lines = [
    ...before,
    ...done.map(sentenceOf),
    ...left.map(({ action, reason }) => `not done: ${sentenceOf(action)}: ${reason}`),
    ...findings.map(({ kind, id, text }) =>
      kind === 'waiting' ? `${kind}  ${id} ${text}` : `${kind}  ${text}`,
    ),
    ...problems.map(
      ({ file, line, field, reason, counts }) =>
        `${counts === true ? 'to mend' : 'left alone'}  ${file}:${line}: ${field}: ${reason}`,
    ),
    ...reports.map((path) => `wrote  ${path}`),
    ...after,
  ];
  if (lines.length === 0) return ['Nothing to do.'];
  const files = new Set(problems.map(({ file }) => file)).size;
  if (files > 0 && done.length + reports.length === 0)
    lines.unshift(`Nothing changed; ${files === 1 ? 'one file has' : `${files} files have`} to be mended:`);
  return dry_run ? ['Would do, and did not:', ...lines] : lines;
}

export function sentenceOf(action: TaskAction): string {
  const { why, id } = action;
  switch (action.kind) {
    case 'move':
      return `moved  ${action.from} -> ${action.to} (${why})`;
    case 'update':
      return `set  ${Object.keys(action.changes).map(fieldName).join(', ')} of ${id} (${why})`;
    case 'create':
      return `created  ${action.path} (${why})`;
    case 'drop':
      return `dropped  ${action.path} (${why})`;
  }
}

function fieldName(name: string): string {
  return name.replace(/_ms$/, '');
}

export function publishedLines({ commit, pushed, replanned }: JsonObject): string[] {
  if (commit === undefined) return [];
  if (typeof commit !== 'string' && pushed !== true) return ['Nothing to commit.'];
  const lines = typeof commit === 'string' ? [`committed  ${commit.slice(0, 12)}`] : [];
  const anew = Number(replanned) > 0 ? ` (planned anew ${replanned} times: others had pushed)` : '';
  return pushed === true ? [...lines, `pushed${anew}`] : lines;
}

/** Each file with its contents, then what is left to type. */
export function installedLines({ files, next }: JsonObject): string[] {
  const written = (files as { path: string; status: string; text: string }[]).flatMap(
    ({ path, status, text }) => [
      `${status}  ${path}`,
      ...text
        .trimEnd()
        .split('\n')
        .map((line) => `  ${line}`.trimEnd()),
      '',
    ],
  );
  return [...written, 'To switch it on:', ...(next as string[]).map((line) => `  ${line}`)];
}
