import { writeHandoff } from '../../features/handoffs/operations.ts';
import { endSession } from '../../features/sessions/operations.ts';
import { submitChangeset } from '../../features/verification/operations.ts';
import { limits } from '../../kernel/limits.ts';
import { normalisePath } from '../../kernel/path.ts';
import type { Workspace } from '../../kernel/workspace.ts';
import type { Connection } from '../../runtime/coordinator.ts';
import type { Commit } from './run-commits.ts';

export interface Done {
  readonly name: string;
  readonly exit_code: number;
  readonly minutes: number;
  /** Keys of the files that changed while it ran. */
  readonly changed: readonly string[];
  readonly commits: readonly Commit[];
}

/** What others find of a command that has ended: its changes, a hand-off, and nothing of it in their way. */
export async function leave(connection: Connection, workspace: Workspace, done: Done): Promise<void> {
  const committed = new Map(done.commits.map((commit) => [commit, keysOf(commit.files, workspace)]));
  for (const [{ sha, subject }, files] of committed) await record(connection, files, subject, sha);
  const inCommits = new Set([...committed.values()].flat());
  const left = done.changed.filter((key) => !inCommits.has(key));
  await record(connection, left, `changed by ${done.name}, not committed`);
  if (left.length + inCommits.size > 0) await handOver(connection, done, left, [...inCommits]);
  await connection.perform(endSession, {});
}

async function record(
  connection: Connection,
  files: readonly string[],
  summary: string,
  commit_sha?: string,
) {
  if (files.length === 0) return;
  const file_paths = files.slice(0, limits.changeset_files_max).map((key) => `./${key}`);
  const input = { file_paths, summary: summary.slice(0, limits.reason_chars_max), commit_sha };
  await connection.perform(submitChangeset, input);
}

/** Only what was seen from outside: what the command thought is not known. */
async function handOver(
  connection: Connection,
  { name, exit_code, minutes, commits }: Done,
  left: readonly string[],
  inCommits: readonly string[],
): Promise<void> {
  const how = exit_code === 0 ? 'ended' : `ended with exit code ${exit_code}`;
  const summary = `${name} ${how} after ${minutes} min: commits made: ${commits.length}, files changed and not committed: ${left.length}.`;
  const listed = (items: readonly string[]) =>
    items.slice(0, limits.handoff_items_max).map((item) => item.slice(0, limits.handoff_item_chars_max));
  await connection.perform(writeHandoff, {
    summary,
    completed_work: listed(commits.map(({ sha, subject }) => `${sha.slice(0, 12)} ${subject}`)),
    in_progress: listed(left.map((file) => `${file}: changed, not committed`)),
    relevant_files: listed([...new Set([...left, ...inCommits])]),
  });
}

function keysOf(names: readonly string[], workspace: Workspace): string[] {
  const keys = names.map((name) => normalisePath(`${workspace.root}/${name}`, workspace));
  return [...new Set(keys.flatMap((normal) => (normal.ok ? [normal.key] : [])))];
}
