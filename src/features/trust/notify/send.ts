import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import type { JsonObject } from '../../../kernel/json.ts';

/** Long enough for a slow chat service, short enough not to block a long-lived process. */
const SEND_MS_MAX = 10_000;

/**
 * Starts the program with the notice on its standard input; the notice counts as delivered when the program
 * exits with success.
 */
export async function toCommand(
  words: readonly string[],
  notice: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const [program = '', ...args] = words;
  await new Promise<void>((done, fail) => {
    const child = spawn(program, args, {
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: SEND_MS_MAX,
      signal,
      killSignal: 'SIGKILL',
    });
    child.once('error', (error) => fail(new Error(codeOf(error))));
    child.once('exit', (code, signal) => {
      if (code === 0) done();
      else
        fail(
          new Error(code === null ? `the program was ended by ${signal}` : `the program ended with ${code}`),
        );
    });
    // A program that does not read its input has not failed; its exit code decides.
    child.stdin?.once('error', () => {});
    child.stdin?.end(`${JSON.stringify(notice)}\n`);
  });
}

/** Signed as GitHub signs, so that any receiver of its webhooks can verify it. No redirect is followed. */
export async function toWebhook(
  url: string,
  secret: string | undefined,
  notice: JsonObject,
  stopping: AbortSignal,
): Promise<void> {
  const body = JSON.stringify(notice);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': 'coxswain',
    'x-coxswain-notice': String(notice.notice_id).replaceAll(/[^\x21-\x7e]/g, '-'),
  };
  if (secret !== undefined)
    headers['x-hub-signature-256'] = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  let status: number;
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(SEND_MS_MAX), stopping]);
    const response = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal });
    status = response.status;
    await response.body?.cancel();
  } catch (error) {
    throw new Error(codeOf(error));
  }
  if (status < 200 || status > 299) throw new Error(`the webhook answered ${status}`);
}

/** Appends one line in one write. */
export async function toFile(path: string, notice: JsonObject): Promise<void> {
  try {
    await appendFile(path, `${JSON.stringify(notice)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new Error(codeOf(error));
  }
}

/** What went wrong, without the address: an address may contain a secret, and this is logged. */
function codeOf(error: unknown): string {
  const { code, cause, name } = error as NodeJS.ErrnoException & { cause?: { code?: string } };
  return code ?? cause?.code ?? (name === 'TimeoutError' ? 'timed out' : 'failed');
}
