import { maskSecrets } from '../../../command-analysis/secrets.ts';
import { toSlashes } from '../../../kernel/workspace.ts';
import type { Finding } from '../../trust/index.ts';

/** Files whose name says that they contain credentials. The first match names the pattern. */
const FILES: readonly (readonly [pattern: string, name: RegExp])[] = [
  ['env-file', /^\.env(?:\..+)?$|\.env$|^\.envrc$/],
  [
    'private-key',
    /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:\.(?!pub$).*)?$|\.(?:key|pem|p8|ppk|p12|pfx|jks|keystore|kdbx)$/,
  ],
  [
    'login-file',
    /^[._]netrc$|^\.(?:git-credentials|pgpass|my\.cnf|dockercfg|pypirc|htpasswd|vault-token|s3cfg|boto)$/,
  ],
  ['cluster-access', /^kubeconfig(?:[._-].*)?$|\.kubeconfig$/],
  ['service-account', /^(?:service[-_]?account.*|client_secret.*|gcp[-_]?key.*|firebase-adminsdk.*)\.json$/],
];

/** The same, by the folder of the file. */
const PLACES: readonly (readonly [pattern: string, path: RegExp])[] = [
  ['ssh', /(?:^|\/)\.ssh\/(?!known_hosts|[^/]*\.pub$)/],
  [
    'cloud-login',
    /(?:^|\/)\.(?:aws|azure|config\/gcloud|config\/gh|docker|kube)\/(?:config(?:\.json)?|credentials.*|.*token.*|hosts\.yml)$/,
  ],
  ['system-accounts', /^\/etc\/(?:shadow|gshadow|passwd|sudoers(?:$|\.d\/))/],
];

/**
 * The seed's `*credentials*` and `*secrets*` are meant for files of values. Programs, tests and texts about
 * secrets (`src/secrets.ts`, `docs/credentials.md`) are written every day; their content is judged instead.
 */
const WORDS = /credential|secrets/;
const SINGLE_SECRET = /^[\w.-]*\.?secret\.(?:ya?ml|json|toml|ini|properties|txt)$/;
const WORD_FOLDER = /(?:^|\/)\.?(?:secrets|credentials)\//;
const PROGRAM_OR_TEXT =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|pyi|ipynb|rb|erb|go|rs|java|kt|kts|scala|groovy|swift|m|mm|c|h|cc|cpp|hpp|cs|fs|vb|php|pl|pm|lua|r|jl|ex|exs|erl|clj|hs|ml|dart|zig|nim|sol|sql|sh|bash|zsh|fish|ps1|bat|cmd|tf|hcl|nix|md|mdx|rst|adoc|html?|css|scss|less|svg|png|jpe?g|gif|ico|snap|feature|proto|graphql|gql|map|lock|d|po|j2)$/;
/** A form to fill in, or public information. */
const TEMPLATE =
  /(?:^|[._-])(?:example|examples|sample|template|tmpl|tpl|dist|defaults?|schema|spec)(?:[._-]|$)/;
const PUBLIC_KEY =
  /(?:^|[._-])(?:pub|public|certs?|certificates?|ca|cacert|chain|fullchain|bundle|dhparams?)(?:[._-].*)?\.(?:pem|key)$/;

/**
 * Every name that matches any of the above contains one of these: a hook has no milliseconds to compile them
 * for `src/app.ts`.
 */
const MARKS = [
  ...[
    'env',
    'id_',
    '.key',
    '.pem',
    '.p8',
    '.ppk',
    '.p12',
    '.pfx',
    '.jks',
    'keystore',
    '.kdbx',
    'netrc',
    'gcp',
    'secret',
  ],
  ...[
    'credential',
    'pgpass',
    'my.cnf',
    'dockercfg',
    'pypirc',
    'htpasswd',
    'vault-token',
    's3cfg',
    'boto',
    'kubeconfig',
  ],
  ...['service', 'firebase', '.ssh', '.aws', '.azure', '.config/', '.docker', '.kube', '/etc/'],
];

/** The pattern by which a file of this name counts as credentials, if it does. */
export function isCredentialFile(path: string): string | undefined {
  const lower = toSlashes(path).toLowerCase();
  return MARKS.some((mark) => lower.includes(mark)) ? patternFor(lower.replace(/^(?:\.\/)+/, '')) : undefined;
}

function patternFor(full: string): string | undefined {
  const name = full.slice(full.lastIndexOf('/') + 1);
  for (const [pattern, place] of PLACES) if (place.test(full)) return pattern;
  if (TEMPLATE.test(name) || PUBLIC_KEY.test(name)) return undefined;
  for (const [pattern, file] of FILES) if (file.test(name)) return pattern;
  if (PROGRAM_OR_TEXT.test(name)) return undefined;
  if (WORDS.test(name) || SINGLE_SECRET.test(name) || WORD_FOLDER.test(full)) return 'credentials-or-secrets';
  return undefined;
}

export function credentialFinding(path: string): Finding | undefined {
  const pattern = isCredentialFile(path);
  if (pattern === undefined) return undefined;
  return {
    category: 'credential_modification',
    operation: 'credential_modify',
    pattern: `credential-file:${pattern}`,
    matched: maskSecrets(path),
    reason: 'The file holds credentials: a wrong change locks people out, or lets others in.',
    instead: 'Change a template such as .env.example, and let a person set the values.',
    file: maskSecrets(path),
  };
}
