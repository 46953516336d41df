import { dirname, join, relative, resolve, sep } from 'node:path';
import { normaliseArea } from '../../../kernel/path.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import type { Workspace } from '../../../kernel/workspace.ts';
import { KeptFiles } from '../../../storage/cached-files.ts';
import { type FileProblem, firstProblem } from '../../../storage/file-problem.ts';
import type { FileText } from '../../../storage/read-bounded.ts';
import type { BoardConfig } from '../files/agent-config.ts';

/** Our own file, then those of the programs it was modelled on. Only the first one that exists is read. */
export const BOARD_FILES = ['cox.yml', 'sett.yml', 'holt.yml'] as const;

export interface ReadBoard {
  readonly config: BoardConfig;
  readonly warnings: readonly FileProblem[];
}

export interface BoardFileOptions {
  /** `--config`: another file, as the caller names it relative to `cwd`. */
  readonly config?: string | undefined;
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export function findBoardFile({ root, fs }: Pick<Workspace, 'root' | 'fs'>): string | undefined {
  return boardFilesIn(root, fs)[0];
}

/**
 * Includes files that can't be read, such as a dangling link: to silently go on to the next one would be a
 * surprise.
 */
function boardFilesIn(folder: string, fs: Workspace['fs']): string[] {
  return BOARD_FILES.map((name) => join(folder, name)).filter((path) => fs.lstat(path) !== undefined);
}

/** Undefined: there is none, and none was named. */
export async function readBoardFile(
  workspace: Workspace,
  { config, cwd = workspace.root, env = process.env }: BoardFileOptions = {},
): Promise<ReadBoard | Refusal | undefined> {
  const found = boardFilesIn(workspace.root, workspace.fs);
  const path = config === undefined ? found[0] : resolve(cwd, config);
  if (path === undefined) return undefined;
  const file = nameOf(path, workspace.root);
  const text = await textOf(path);
  if (!text.ok) return invalid(file, [{ line: 1, field: 'file', reason: text.reason }]);
  // The parser is loaded only if there is a file.
  const { parseBoard } = await import('../files/board-file.ts');
  const parsed = parseBoard(text.text, file, dirname(path), {
    env,
    repository: workspace.gitCommonDir !== undefined,
    areaOf: (given) => {
      const area = normaliseArea(given, workspace);
      return area.ok ? area.area : area.message;
    },
  });
  if (!parsed.ok) return invalid(file, parsed.problems);
  const others = config === undefined ? found.slice(1) : [];
  return {
    config: parsed.config,
    warnings: [...others.map((other) => notRead(other, workspace.root)), ...parsed.warnings],
  };
}

async function textOf(path: string): Promise<FileText> {
  const files = new KeptFiles((_path, text) => text);
  return (await files.first([path])) ?? { ok: false, reason: 'there is no such file' };
}

function notRead(path: string, root: string): FileProblem {
  return { line: 1, field: 'file', reason: `${nameOf(path, root)} is there, too, and is not read` };
}

function invalid(file: string, problems: readonly FileProblem[]): Refusal {
  return refuse('board_invalid', firstProblem(file, problems), {
    file,
    errors: problems.map((problem) => ({ ...problem })),
  });
}

/** Relative to the repository, if the file is inside it. */
function nameOf(path: string, root: string): string {
  const way = relative(root, path);
  const isInside = way !== '..' && !way.startsWith(`..${sep}`);
  return isInside ? way.replaceAll(sep, '/') : path;
}
