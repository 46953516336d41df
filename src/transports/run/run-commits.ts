import { type GitCall, git, namesIn } from '../../child-process/git.ts';

export interface Commit {
  readonly sha: string;
  readonly subject: string;
  /** The last moment of the second that git names. */
  readonly at_ms: number;
  /** As git names them in the work tree. */
  readonly files: string[];
}

/** What a work tree's own record of its HEAD says when a commit was made in it, and not only fetched or checked out. */
const MADE_HERE = /^(?:commit|cherry-pick|revert|am)\b/;
const COMMITS_MAX = 20;

/** How long that record is; `commitsSince` tells what was added. */
export async function countMoves(call: GitCall): Promise<number> {
  return (await moves(call)).length;
}

/** Oldest first, the newest of them if there are many. */
export async function commitsSince(count: number, call: GitCall): Promise<Commit[]> {
  const all = await moves(call);
  const made = all
    .slice(0, Math.max(0, all.length - count))
    .filter(({ how }) => MADE_HERE.test(how))
    .slice(0, COMMITS_MAX)
    .reverse();
  const commits: Commit[] = [];
  for (const { sha } of made) {
    const words = ['diff-tree', '-r', '-c', '--root', '--no-commit-id', '--no-renames', '--name-only', '-z'];
    const files = namesIn(await git([...words, sha], call));
    const [seconds = '', subject = ''] = (await git(['log', '-1', '--format=%ct%n%s', sha], call)).split(
      '\n',
    );
    commits.push({ sha, subject: subject.trim(), at_ms: Number(seconds) * 1000 + 999, files });
  }
  return commits;
}

/** Newest first. */
async function moves(call: GitCall): Promise<{ sha: string; how: string }[]> {
  const text = await git(['log', '-g', '-z', '--format=%H %gs', 'HEAD', '--'], call).catch(() => '');
  return namesIn(text).map((line) => ({
    sha: line.split(' ', 1)[0] ?? '',
    how: line.slice(line.indexOf(' ') + 1),
  }));
}
