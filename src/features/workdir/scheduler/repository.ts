import { GitFailure, git } from '../../../child-process/git.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { counted } from '../../../transports/cli/output/text.ts';

/** Marks our own commits. `hand`: changes that were there, uncommitted, before the pass. */
const TRAILER = 'Cox-Coordinate';
export type CommitKind = 'pass' | 'hand';

/**
 * All of the work directory but the files that are being written at this moment. Relative to it, whatever its
 * name.
 */
const OWN_PATHS = ['.', ':(exclude,glob)**/.*.cox'];

/** Set by git when it calls us from a hook: they point to another index or another repository. */
const MISLEADING = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX', 'GIT_LITERAL_PATHSPECS'];

interface Target {
  readonly remote: string;
  readonly branch: string;
}

interface Ahead {
  readonly hash: string;
  readonly kind: string;
}

/**
 * The repository of a work directory, with only the parts needed to commit that directory. Nothing outside of
 * it is ever touched.
 */
export class WorkRepository {
  readonly #root: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(root: string, env: NodeJS.ProcessEnv) {
    this.#root = root;
    // There is no person at the terminal to type a password.
    this.#env = { ...env, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
    for (const name of MISLEADING) delete this.#env[name];
  }

  async #git(...words: string[]): Promise<string> {
    return (await git(words, { cwd: this.#root, env: this.#env })).trim();
  }

  /** Undefined if git fails. */
  async #ask(...words: string[]): Promise<string | undefined> {
    try {
      return await this.#git(...words);
    } catch (error) {
      if (error instanceof GitFailure) return undefined;
      throw error;
    }
  }

  async isThere(): Promise<boolean> {
    return (await this.#ask('rev-parse', '--is-inside-work-tree')) === 'true';
  }

  /**
   * Commits the work directory alone, whatever else is staged. Answers the hash, or undefined if nothing has
   * changed.
   */
  async commit(kind: CommitKind, subject: string, lines: readonly string[]): Promise<string | undefined> {
    const changed = await this.#git(
      'status',
      '--porcelain',
      '-z',
      '--untracked-files=all',
      '--',
      ...OWN_PATHS,
    );
    if (changed === '') return undefined;
    await this.#git('add', '--all', '--', ...OWN_PATHS);
    const body = lines.length === 0 ? '' : `${lines.map((line) => `- ${line}`).join('\n')}\n\n`;
    const words = ['commit', '--quiet', '--only', '--file=-', '--', ...OWN_PATHS];
    const input = `${subject}\n\n${body}${TRAILER}: ${kind}\n`;
    await git([...(await this.#identity()), ...words], { cwd: this.#root, env: this.#env, input });
    return await this.#git('rev-parse', 'HEAD');
  }

  /** Used if no committer is configured, as on a CI machine. */
  async #identity(): Promise<string[]> {
    if (this.#env.GIT_AUTHOR_EMAIL || (await this.#ask('config', 'user.email')) !== undefined) return [];
    return ['-c', 'user.name=cox coordinate', '-c', 'user.email=cox-coordinate@localhost'];
  }

  /** Where this branch is pushed to: the branch it tracks, else the same name at the only remote or at `origin`. */
  async target(): Promise<Target | Refusal> {
    const branch = await this.#ask('symbolic-ref', '--quiet', '--short', 'HEAD');
    if (branch === undefined) return failed('No branch is checked out here, so there is nothing to push to.');
    const remote = await this.#ask('config', `branch.${branch}.remote`);
    const merge = await this.#ask('config', `branch.${branch}.merge`);
    if (remote !== undefined && merge !== undefined)
      return { remote, branch: merge.replace(/^refs\/heads\//, '') };
    const remotes = (await this.#git('remote')).split('\n').filter((name) => name !== '');
    const usual = remotes.length === 1 ? remotes[0] : remotes.find((name) => name === 'origin');
    return usual === undefined ? failed('There is no remote to push to.') : { remote: usual, branch };
  }

  /**
   * Puts this branch on top of what has been pushed to the remote. Our unpushed passes are taken back, since
   * they were planned on an old state; changes by people stay. Commits of other authors are not ours to push.
   */
  async catchUp({ remote, branch }: Target): Promise<Refusal | undefined> {
    const heads = await this.#git('ls-remote', remote, `refs/heads/${branch}`);
    if (heads === '') return refuse('unpushed_commits', `There is no branch ${branch} at ${remote} yet.`);
    await this.#git('fetch', '--quiet', remote, `refs/heads/${branch}`);
    const theirs = await this.#git('rev-parse', 'FETCH_HEAD');
    const ahead = await this.#ahead(theirs);
    const foreign = ahead.filter(({ kind }) => kind !== 'pass' && kind !== 'hand');
    const [first] = foreign;
    if (first !== undefined)
      return refuse(
        'unpushed_commits',
        `Not pushed and not ours: ${counted(foreign.length, 'commit')} on this branch, the first ${first.hash.slice(0, 12)}.`,
      );
    if ((await this.#ask('merge-base', '--is-ancestor', theirs, 'HEAD')) !== undefined) return undefined;
    const ours = await this.#git('rev-parse', 'HEAD');
    const base = await this.#git('merge-base', 'HEAD', theirs);
    // `--keep`: a file that is being edited at this moment stops it, and is not lost.
    await this.#git('reset', '--quiet', '--keep', base);
    try {
      await this.#git('merge', '--quiet', '--ff-only', theirs);
      for (const { hash, kind } of ahead)
        if (kind === 'hand')
          await this.#git(...(await this.#identity()), 'cherry-pick', '--allow-empty', hash);
    } catch (error) {
      await this.#ask('cherry-pick', '--abort');
      await this.#git('reset', '--quiet', '--keep', ours);
      throw error;
    }
    return undefined;
  }

  async #ahead(theirs: string): Promise<Ahead[]> {
    const format = `--format=%H %(trailers:key=${TRAILER},valueonly,separator=%x2C)`;
    const text = await this.#git('log', '--reverse', format, `${theirs}..HEAD`);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [hash = '', kind = ''] = line.split(' ');
        return { hash, kind };
      });
  }

  /** Answers why it was not pushed; the next try looks for what has changed. */
  async push({ remote, branch }: Target): Promise<string | undefined> {
    try {
      await this.#git('push', '--quiet', remote, `HEAD:refs/heads/${branch}`);
      return undefined;
    } catch (error) {
      if (error instanceof GitFailure) return error.message;
      throw error;
    }
  }

  async isPushed({ remote, branch }: Target): Promise<boolean> {
    const [theirs] = (await this.#git('ls-remote', remote, `refs/heads/${branch}`)).split('\t');
    return theirs === (await this.#git('rev-parse', 'HEAD'));
  }
}

export function failed(message: string): Refusal {
  return refuse('git_failed', message);
}
