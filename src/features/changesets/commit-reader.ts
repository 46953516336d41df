import type { Workspace } from '../../kernel/workspace.ts';
import { defineService } from '../../runtime/service.ts';

/** What a commit changed, as a diff; or why it can't be determined here. */
export type CommitChanges =
  | { readonly ok: true; readonly commit_sha: string; readonly diff: string }
  | { readonly ok: false; readonly reason: string };

const COMMIT = /^[0-9a-f]{4,64}$/i;
const DIFF_BYTES_MAX = 16 * 1024 * 1024;
const GIT_MS_MAX = 15_000;

/** Git's plain output, whatever a user or a repository has configured; no program of theirs is run. */
const PLAIN = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--find-renames',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--submodule=short',
] as const;
const UNTOUCHED = [
  '--no-pager',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.quotePath=true',
  '-c',
  'log.showSignature=false',
];

/** Reads commits of the repository that the workspace belongs to. */
export class CommitReader {
  readonly #workspace: Workspace;
  readonly #env: NodeJS.ProcessEnv;

  constructor(workspace: Workspace, env: NodeJS.ProcessEnv = process.env) {
    this.#workspace = workspace;
    this.#env = env;
  }

  /** Since its parent, or since `base` if the work is more than one commit. */
  async changes(commit: string, base?: string): Promise<CommitChanges> {
    for (const name of [commit, base ?? commit])
      if (!COMMIT.test(name)) return failed(`${JSON.stringify(name.slice(0, 80))} is no commit's hash.`);
    if (this.#workspace.gitCommonDir === undefined) return failed('There is no repository here.');
    try {
      const commit_sha = (await this.#git(['rev-parse', '--verify', '--quiet', `${commit}^{commit}`])).trim();
      // For a merge, git by default shows only what was resolved by hand: the merged changes would go unread.
      const words = base === undefined ? ['show', '--format=', '--diff-merges=first-parent'] : ['diff'];
      const range = base === undefined ? commit_sha : `${base}...${commit_sha}`;
      return { ok: true, commit_sha, diff: await this.#git([...words, ...PLAIN, range, '--']) };
    } catch (error) {
      const isTooLarge =
        error instanceof Error && 'code' in error && String(error.code).includes('MAXBUFFER');
      const reason = isTooLarge ? `changes more than ${DIFF_BYTES_MAX} bytes` : 'cannot be read here';
      return failed(`Commit ${commit} ${reason}.`);
    }
  }

  async #git(words: readonly string[]): Promise<string> {
    const [{ execFile }, { promisify }] = await Promise.all([
      import('node:child_process'),
      import('node:util'),
    ]);
    const options = {
      cwd: this.#workspace.root,
      // A commit that is not here is not fetched: the caller would wait for a network.
      env: { ...this.#env, GIT_NO_LAZY_FETCH: '1', GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' },
      maxBuffer: DIFF_BYTES_MAX,
      timeout: GIT_MS_MAX,
    };
    return (await promisify(execFile)('git', [...UNTOUCHED, ...words], options)).stdout;
  }
}

function failed(reason: string): CommitChanges {
  return { ok: false, reason };
}

/** What a commit of the workspace's repository changed; since `base` if it is more than one commit. */
export const commitService = defineService<Pick<CommitReader, 'changes'>>('commits', () => ({
  changes: async () => failed('There is no repository here.'),
}));
