import { isKnown } from '../../../command-analysis/shell/word.ts';
import { isCredentialFile } from '../edits/credentials.ts';
import { type Hit, type Run, readOptions, theme } from '../pattern.ts';

const PATTERNS = {
  'credential-write': {
    category: 'credential_modification',
    operation: 'credential_modify',
    reason: 'A file that holds credentials would be written, moved or removed.',
    instead: 'Say what has to change and let a person do it.',
  },
  'credential-send': {
    category: 'credential_modification',
    operation: 'credential_send',
    reason: 'A file that holds credentials would leave the machine.',
    instead: 'Never send credentials; a person can put them where they are needed.',
  },
  'secret-store': {
    category: 'credential_modification',
    operation: 'credential_modify',
    reason: 'A secret that others rely on would be changed or deleted.',
    instead: 'Let a person change secrets.',
  },
} as const;

type Id = keyof typeof PATTERNS;

/** `@file`, `field=@file`, `file` after one of these options. */
function sent(run: Run, names: readonly string[], hit: Hit<Id>): void {
  const { values } = readOptions(run.args, names.filter((name) => name.startsWith('--')).join(' '), {
    takes: names.join(' '),
  });
  for (const word of values(...names)) {
    const path = word.text
      .replace(/^[^@=]*=?@/, '')
      .replace(/^@/, '')
      .replace(/;.*$/, '');
    const uploads =
      word.text.includes('@') || values('-T', '--upload-file', '--post-file', '--body-file').includes(word);
    if (uploads && isKnown(word) && isCredentialFile(path) !== undefined)
      hit('credential-send', { matched: `${run.name} ${path}` });
  }
}

/** Files that are read into a pipe to another machine. */
function piped(run: Run, hit: Hit<Id>): void {
  const first = run.texts.find((text) => isCredentialFile(text.replace(/^@/, '')) !== undefined);
  if (first !== undefined) hit('credential-send', { matched: `${run.name} ${first}` });
}

function copiedAway(run: Run, hit: Hit<Id>): void {
  const { operands } = readOptions(run.args, '', { takes: '-i -P -F -o -J -c -e --rsh -l' });
  const target = operands.at(-1);
  if (!/^(?:[^/]+:|s3:|gs:)/.test(target?.text ?? '')) return;
  for (const { text } of operands.slice(0, -1))
    if (isCredentialFile(text) !== undefined) hit('credential-send', { matched: `${run.name} ${text}` });
}

const secrets =
  (verbs: RegExp) =>
  (run: Run, hit: Hit<Id>): void => {
    const words = run.texts
      .filter((text) => !text.startsWith('-'))
      .slice(0, 4)
      .join(' ');
    if (verbs.test(words)) hit('secret-store', { matched: `${run.name} ${words}` });
  };

export const credentials = theme(PATTERNS, {
  'curl xh http https': (run, hit) =>
    sent(
      run,
      [
        '-d',
        '--data',
        '--data-binary',
        '--data-raw',
        '--data-urlencode',
        '-F',
        '--form',
        '-T',
        '--upload-file',
      ],
      hit,
    ),
  wget: (run, hit) => sent(run, ['--post-file', '--body-file'], hit),
  'nc ncat netcat socat': piped,
  'scp rsync sftp': copiedAway,
  aws: (run, hit) => {
    if (run.texts[0] === 's3' && /^(?:cp|mv|sync)$/.test(run.texts[1] ?? '')) copiedAway(run, hit);
    secrets(
      /^(?:configure (?:set|import)|secretsmanager (?:delete|put|update|create|rotate|restore)|ssm (?:delete|put)-parameter|iam (?:create|delete|update)-(?:access-key|login))/,
    )(run, hit);
  },
  gsutil: copiedAway,
  dotenv: secrets(/^set\b/),
  npm: secrets(/^(?:config )?set \S*(?:_auth|_password|token)|^(?:login|adduser|token (?:create|revoke))/i),
  gh: secrets(
    /^(?:secret|variable) (?:set|delete|remove)|^auth (?:logout|refresh|token)|^ssh-key (?:add|delete)/,
  ),
  glab: secrets(/^variable (?:set|delete|update)/),
  gcloud: secrets(
    /^secrets (?:delete|create|update)|^secrets versions (?:add|destroy|disable)|^iam service-accounts keys (?:create|delete)|^auth revoke/,
  ),
  vault: secrets(
    /^(?:kv (?:put|delete|destroy|patch|metadata delete)|write|delete|token revoke|secrets disable|auth disable|operator)/,
  ),
  heroku: secrets(/^config:(?:set|unset|remove)/),
  'fly flyctl': secrets(/^secrets (?:set|unset|import)/),
  vercel: secrets(/^env (?:add|rm|remove)/),
  netlify: secrets(/^env:(?:set|unset|import)/),
  doppler: secrets(/^secrets (?:set|delete|upload)/),
  kubectl: secrets(/^(?:create|edit|patch|replace) secret|^delete secrets?/),
  security: secrets(/^(?:add|delete)-(?:generic|internet)-password|^delete-keychain/),
  'pass gopass': secrets(/^(?:rm|insert|edit|generate|mv)/),
  'ssh-copy-id': (_run, hit) => hit('credential-write'),
  'ssh-keygen': (run, hit) => {
    const { has, values } = readOptions(run.args, '', { takes: '-t -b -C -f -N -P -m' });
    // A new key pair in a separate place does no harm; the default place holds the person's own key.
    if (has('-p') || (!has('-f') && !has('-l', '-F', '-R', '-y', '-e', '-B', '-Y'))) hit('credential-write');
    else if (
      values('-f').some(({ text }) => /(?:^|\/)\.ssh\/id_\w+$/.test(text)) &&
      !has('-l', '-y', '-e', '-B')
    )
      hit('credential-write');
  },
  'gpg gpg2': ({ texts }, hit) => {
    if (texts.some((text) => /^--delete-(?:secret-)?(?:keys?|and)/.test(text))) hit('credential-write');
    else if (texts.some((text) => /^--export-secret/.test(text))) hit('credential-send');
  },
});
