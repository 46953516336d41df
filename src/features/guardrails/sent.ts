import { tokensOf } from '../../command-analysis/shell/code/code-tokens.ts';
import type { Printer, Word } from '../../command-analysis/shell/word.ts';
import { isCredentialFile } from './edits/credentials.ts';
import type { Hit, Run } from './pattern.ts';

const SENDS = new Set(
  'curl wget http https xh nc ncat netcat socat telnet ssh scp mail mailx sendmail ftp aws gsutil rclone gh'.split(
    ' ',
  ),
);
const READS =
  /^(?:cat|head|tail|base64|xxd|od|hexdump|grep|sed|awk|gzip|tar|zip|openssl|jq|tee|strings|dd|env|printenv)$/;

const NETWORK = /^\/dev\/(?:tcp|udp)\//;
const RUNS_CODE = /^(?:python[\d.]*|node|ruby|perl|php|deno|bun)$/;

/** A folder of credentials counts like a file in it. */
function isSecret(path: string): boolean {
  return (
    isCredentialFile(path) !== undefined ||
    (/(?:^|\/)\.(?:ssh|aws|gnupg|kube)\/?$/.test(path) &&
      isCredentialFile(`${path.replace(/\/$/, '')}/config`) !== undefined)
  );
}

/** A one-liner that names such a file and something that sends it. */
function sentByCode(run: Run, hit: Hit<string>): void {
  const code = run.texts.find(
    (text) =>
      /\b(?:post|put|request|urlopen|fetch|sendall|send|axios|smtplib)\b/i.test(text) && text.length < 20_000,
  );
  if (code === undefined) return;
  const file = tokensOf(code).find(
    ({ kind, value }) => kind === 'text' && value.length < 200 && isSecret(value),
  );
  if (file !== undefined) hit('credential-send', { matched: `${run.name} … ${file.value}` });
}

/** A credential file that one of these reads. */
function secretRead(printers: readonly Printer[]): string | undefined {
  for (const { name, args } of printers) {
    if (!READS.test(name)) continue;
    const file = args.find(({ text }) => isSecret(text.replace(/^if=/, '')));
    if (file !== undefined) return file.text;
  }
  return undefined;
}

/** Content of a credential file on its way to another machine: piped, or as part of an argument. */
export function sentCredentials(run: Run, hit: Hit<string>): void {
  const { command } = run;
  if (command.outputs.some(({ text }) => NETWORK.test(text))) {
    const read = secretRead([command]);
    if (read !== undefined) hit('credential-send', { matched: `${run.name} … ${read}` });
  }
  if (RUNS_CODE.test(run.name)) sentByCode(run, hit);
  if (!SENDS.has(run.name)) return;
  const redirected = command.reads.find(({ text }) => isSecret(text));
  const given = run.name === 'gh' && run.texts[0] === 'gist' ? run.texts.find(isSecret) : undefined;
  const direct = redirected?.text ?? given;
  if (direct !== undefined) hit('credential-send', { matched: `${run.name} ${direct}` });
  const inWords = run.args.flatMap((word: Word) => word.from ?? []);
  const file = secretRead([...command.from, ...inWords]);
  if (file !== undefined) hit('credential-send', { matched: `${run.name} … ${file}` });
}
