import { spawn } from 'node:child_process';

/** The list of all files of a very large repository is a tenth of this. */
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

export class GitFailure extends Error {}

export interface GitCall {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Exit codes that also count as an answer. */
  readonly fine?: readonly number[];
}

/**
 * Runs git with these arguments and returns its output. Inside a hook, git's environment names the intended
 * index and repository.
 */
export async function git(words: readonly string[], call: GitCall): Promise<string> {
  const { cwd, env, input = '', fine = [0] } = call;
  const child = spawn('git', words, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
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
      resolve(isFine ? undefined : said || `ended with ${code ?? signal}`);
    });
  });
  const verb = words.find((word) => !word.startsWith('-'));
  if (failure !== undefined) throw new GitFailure(`git ${verb}: ${failure}`);
  return Buffer.concat(out).toString();
}

/** The names in `-z` output: the only format that can express every name. */
export function namesIn(text: string): string[] {
  return text.split('\0').filter((name) => name !== '');
}
