import { spawn } from 'node:child_process';
import { GIT_TAKES_WORD } from '../command-analysis/git-options.ts';

/** The list of all files of a very large repository is a tenth of this. */
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

export class GitFailure extends Error {}

export interface GitCall {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Exit codes that also count as an answer. */
  readonly fine?: readonly number[];
  /** After this it is killed, and has failed. Default: as long as it takes. */
  readonly time_ms_max?: number;
}

/**
 * Runs git with these arguments and returns its output. Inside a hook, git's environment names the intended
 * index and repository.
 */
export async function git(words: readonly string[], call: GitCall): Promise<string> {
  const { cwd, env, input = '', fine = [0], time_ms_max } = call;
  const child = spawn('git', words, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let isLate = false;
  const limit =
    time_ms_max &&
    setTimeout(() => {
      isLate = true;
      child.kill();
    }, time_ms_max);
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > OUTPUT_BYTES_MAX) child.kill();
    else out.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  // A git that ends before it has read all of its input reports that by its exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const failure = await new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => {
      const lines = Buffer.concat(err).toString().trim().split('\n');
      // Hints may follow the fatal message.
      const said = lines.find((line) => line.startsWith('fatal: ')) || lines.at(-1);
      const isFine = code !== null && fine.includes(code);
      if (isLate) resolve(`took longer than ${time_ms_max} ms`);
      else resolve(isFine ? undefined : said || `ended with ${code ?? signal}`);
    });
  });
  clearTimeout(limit);
  const verb = words.find(
    (word, index) => !word.startsWith('-') && !GIT_TAKES_WORD.includes(words[index - 1] ?? ''),
  );
  if (failure !== undefined) throw new GitFailure(`git ${verb}: ${failure}`);
  return Buffer.concat(out).toString();
}

/** The names in `-z` output: the only format that can express every name. */
export function namesIn(text: string): string[] {
  return text.split('\0').filter((name) => name !== '');
}
