import { spawn } from 'node:child_process';

/** A list of every file of a very large repository is a tenth of this. */
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

export class GitFailure extends Error {}

export interface GitCall {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Exit codes that are an answer too. */
  readonly fine?: readonly number[];
}

/** What git answers to these words. Inside a hook its environment names the index and the repository that are meant. */
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
  // One that ends before it has read everything says so by its exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const failure = await new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => {
      const lines = Buffer.concat(err).toString().trim().split('\n');
      // Advice may follow what was fatal.
      const said = lines.find((line) => line.startsWith('fatal: ')) || lines.at(-1);
      const isFine = code !== null && fine.includes(code);
      resolve(isFine ? undefined : said || `ended with ${code ?? signal}`);
    });
  });
  const verb = words.find((word) => !word.startsWith('-'));
  if (failure !== undefined) throw new GitFailure(`git ${verb}: ${failure}`);
  return Buffer.concat(out).toString();
}

/** Of what `-z` prints: the only form in which any name can stand. */
export function namesIn(text: string): string[] {
  return text.split('\0').filter((name) => name !== '');
}
