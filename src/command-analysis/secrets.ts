import { lazily } from '../kernel/lazily.ts';

/** A secret in a text. `masked` is what may be shown of it. */
export interface Secret {
  readonly kind: string;
  readonly line: number;
  readonly masked: string;
}

interface Span {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  /** The text that replaces it. */
  readonly masked: string;
  /** Certainly a secret. If false, it is masked wherever it is quoted, but no change is stopped for it. */
  readonly sure: boolean;
}

const MASK = '***';
const KEY_CHARS_MAX = 20_000;

/**
 * Tokens that are recognised by their prefix. A pattern that fails does so within a few characters; the one
 * that may fail at its end (jwt) does not start again in the middle of itself. So each character is read only
 * a few times. A prefix that many names share (`re_`, `SK`) has a lookahead: the prefixes alone decide
 * whether there may be a token at all.
 */
const TOKENS: readonly (readonly [kind: string, prefix: string, rest: string])[] = [
  ['aws_access_key', '(?:AKIA|ASIA|ABIA|ACCA)', '[A-Z0-9]{16}(?![A-Za-z0-9])'],
  ['gcp_api_key', 'AIza', '[\\w-]{35}(?![\\w-])'],
  ['gcp_oauth', '(?:GOCSPX-|ya29\\.)', '[\\w-]{20,}'],
  ['github_token', '(?:gh[pousr]_|github_pat_)', '\\w{30,}'],
  ['gitlab_token', 'gl(?:pat|oas|dt|rt|ptt|cbt|agent|soat|ffct|imt|ft)-', '[\\w.-]{20,}'],
  ['npm_token', 'npm_(?=[A-Za-z0-9]{20})', '[A-Za-z0-9]{36}(?!\\w)'],
  ['pypi_token', 'pypi-', '[\\w-]{50,}'],
  ['slack_token', '(?:xox[a-eoprs]-|xoxe\\.xox[bp]-|xapp-)', '[A-Za-z0-9%-]{20,}'],
  ['stripe_key', '(?:[sr]k_(?:live|test)_|whsec_)', '[A-Za-z0-9]{16,}'],
  ['anthropic_key', 'sk-ant-', '[\\w-]{30,}'],
  ['openai_key', 'sk-(?!ant-)(?=[\\w-]{32})(?:proj-|svcacct-|admin-)?', '[\\w-]{32,}'],
  ['huggingface_token', 'hf_(?=[A-Za-z0-9]{20})', '[A-Za-z0-9]{34}(?!\\w)'],
  ['sendgrid_key', 'SG\\.', '[\\w-]{22}\\.[\\w-]{43}'],
  ['vault_token', 'hv[sbr]\\.', '[\\w-]{24,}'],
  ['docker_token', 'dckr_[po]at_', '[\\w-]{20,}'],
  ['digitalocean_token', 'do[opr]_v1_', '[a-f0-9]{64}'],
  ['shopify_token', 'shp(?:at|ca|pa|ss)_', '[a-fA-F0-9]{32}'],
  ['atlassian_token', 'ATATT3', '[\\w=-]{50,}'],
  ['rubygems_key', 'rubygems_', '[a-f0-9]{48}'],
  ['grafana_token', 'gl(?:c|sa)_', '[\\w+/=]{32,}'],
  ['databricks_token', 'dapi', '[a-f0-9]{32}(?![a-z0-9])'],
  ['supabase_key', '(?:sbp_|sb_secret_)', '[\\w-]{24,}'],
  ['e2b_key', 'e2b_(?=[a-f0-9]{8})', '[a-f0-9]{32,}'],
  // Keys of model providers and related services.
  ['model_key', '(?:gsk_|r8_|tvly-|pcsk_|lsv2_[ps][kt]_)', '[A-Za-z0-9_-]{30,}'],
  // Without a dash, which model names contain: `xai-grok-2-image-1212`.
  ['model_key', '(?:xai|pplx)-', '[A-Za-z0-9]{40,}'],
  ['linear_key', 'lin_(?:api|oauth)_', '[A-Za-z0-9]{32,}'],
  ['notion_token', 'ntn_', '[A-Za-z0-9]{40,}'],
  ['figma_token', 'fig[dou]r?_', '[\\w-]{36,}'],
  ['postman_key', 'PMAK-', '[a-f0-9]{24}-[a-f0-9]{34}'],
  ['sentry_token', 'sntry[su]_', '[\\w+/=-]{40,}'],
  ['newrelic_key', 'NRAK-', '[A-Z0-9]{27}'],
  ['planetscale_token', 'pscale_(?:tkn|pw|oauth)_', '[\\w.=-]{32,}'],
  ['neon_key', 'napi_(?=[A-Za-z0-9]{20})', '[a-z0-9A-Z]{40,}'],
  ['doppler_token', 'dp\\.(?:pt|st|ct|sa|scim|audit)\\.', '[\\w.-]{40,}'],
  ['terraform_token', '[A-Za-z0-9]{14}\\.atlasv1\\.', '[\\w-]{60,}'],
  ['pulumi_token', 'pul-', '[a-f0-9]{40}'],
  ['tailscale_key', 'tskey-[a-z]{3,10}-', '[A-Za-z0-9-]{20,}'],
  ['hubspot_token', 'pat-(?:na|eu|ap)\\d-', '[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}'],
  ['bitbucket_token', '(?:ATBB|ATCTT3)', '[\\w=-]{28,}'],
  ['circleci_token', 'CCIPAT_', '\\w{40,}'],
  ['netlify_token', 'nfp_', '[A-Za-z0-9]{36}'],
  ['vercel_token', 'vercel_blob_rw_', '\\w{24,}'],
  ['fly_token', '(?:fm[12][ar]?_|fo1_)', '[\\w+/=-]{40,}'],
  ['heroku_key', 'HRKU-', '[\\w-]{36,}'],
  ['telegram_token', '\\d{8,10}:AA', '[\\w-]{32,34}(?![\\w-])'],
  ['twilio_key', 'SK(?=[a-f0-9]{8})', '[a-f0-9]{32}(?!\\w)'],
  ['mailgun_key', '(?<!-)key-(?=[a-f0-9]{8})', '[a-f0-9]{32}(?!\\w)'],
  ['resend_key', 're_(?=[A-Za-z0-9]{8}_[A-Za-z0-9]{24})', '[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?!\\w)'],
  ['google_refresh_token', '1//0', '[\\w-]{40,}'],
  ['alibaba_key', 'LTAI', '[A-Za-z0-9]{16,20}(?!\\w)'],
  ['buildkite_token', 'bk[a-z]{2}_(?=[a-f0-9]{8})', '[a-f0-9]{40}'],
  ['sonar_token', 'sq[pua]_', '[a-f0-9]{40}'],
  ['brevo_key', 'xkeysib-', '[a-f0-9]{64}-\\w{16}'],
  ['contentful_token', 'CFPAT-', '[\\w-]{40,}'],
  ['airtable_token', 'pat[A-Za-z0-9]{14}\\.', '[a-f0-9]{64}'],
  ['bedrock_key', 'ABSK', '[A-Za-z0-9+/=]{40,}'],
  ['square_token', 'sq0[a-z]{3}-', '[\\w-]{22,}'],
  ['onepassword_token', 'ops_eyJ', '[\\w=-]{80,}'],
  ['age_key', 'AGE-SECRET-KEY-1', '[0-9A-Z]{40,}'],
  ['coxswain_key', 'cox[ps]?_(?=[.\\w-]{30})', '[\\w-]{10,}[.\\w-]{20,}'],
  ['jwt', '(?<!-)eyJ', '[\\w-]{10,}\\.eyJ[\\w-]{5,}\\.[\\w-]{10,}'],
];

/** The `n` of an escaped `\n` is no part of a token. */
const START = '(?:(?<!\\w)|(?<=\\\\[nrt]))';
const TOKEN = lazily(
  () => new RegExp(`${START}(?:${TOKENS.map(([, prefix, rest]) => `(${prefix})${rest}`).join('|')})`, 'g'),
);
/**
 * Every prefix of TOKEN, so it matches wherever TOKEN does; most texts contain none. `n`, `r` and `t` are
 * allowed before it, because START's lookbehind for a backslash takes as long to compile as all the rest.
 */
const TOKEN_START = lazily(
  () => new RegExp(`(?<![A-Za-mo-qsu-z0-9_])(?:${TOKENS.map(([, prefix]) => prefix).join('|')})`),
);
const TOKEN_CHARS_MIN = 20;
/** Names of many short words: `sk-fading-circle-container-of-some-kind`. */
const WORDS = /[a-z]{3}[-_][a-z]{3,20}[-_][a-z]{3}/;

/**
 * Other services use the same format for ids, so these need a word that identifies them: the issuer's name,
 * or the service that accepts them.
 */
const ISSUERS: ReadonlyMap<string, RegExp> = new Map([
  ['twilio_key', /twilio/i],
  ['mailgun_key', /mailgun/i],
]);
const BESIDE_CHARS_MAX = 200;
const TAKES_SECRET = /_(?:KEY|SECRET|TOKEN)(?:\\?["'`])?[ \t]{0,3}(?:=>|:=|=|:)[ \t]{0,3}(?:\\?["'`])?$/;

const KEY_HEADER = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;

/**
 * `DB_PASSWORD=…`, `"apiKey": "…"`, `token => '…'`, `_authToken=…`, `--password …`: from the identifying word
 * on.
 */
const ASSIGNED =
  /(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|(?:access|account|private|signing|encryption|auth|shared[_-]?access)[_-]?key|credentials?|bearer|authorization|[_-]auth)([\w-]{0,30})(\\?["'`]?[ \t]{0,3}(?:=>|:=|=|:)[ \t]{0,3}|[ \t]{1,3}(?=["'`]?[^\s=:"'`]{6}))(?:(?:Bearer|Basic|token)[ \t]{1,3})?(?:(\\?["'`])([^"'`\r\n\\]{1,400})|((?:[^\s"'`,;&|<>(){}[\]\\]|&(?!&|\w{1,40}=)){1,400}))/gi;
const NAME_CHARS_MAX = 40;

/** After such a name comes something about the secret, not the secret. */
const ABOUT =
  /^[\w-]*?(?:count|url|uri|type|names?|id|ids|expir\w*|ttl|limit|length|len|path|file|field|header|hash|digest|policy|max|min|size|env|ref|key_?name|prefix|suffix|regex|pattern|rotation|manager|store|provider|izer|ize|ized|ization|s)$/i;

/** `scheme://user:password@host` */
const ADDRESS = /:\/\/([^\s:/@"'`<>]{0,100}):([^\s/@"'`<>]{1,200})@/g;
/** `curl -u name:password`, `mysql -pGeheim`. */
const CURL_USER = /(?<![\w-])(?:-u|--user|--proxy-user)[ =]{0,2}["']?([^\s:"']{1,100}):([^\s"']{1,200})/g;
const SLACK_HOOK = /hooks\.slack\.com\/(?:services|workflows)\/([A-Za-z0-9/]{20,100})/g;
const AZURE_SIGNATURE = /[?&]sig=([A-Za-z0-9%+/]{40,120})/g;
/** Azure's client secrets contain this mark as their fourth and fifth characters. */
const AZURE_SECRET = /(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])/g;

const TELLING_WORDS = ['pass', 'pwd', 'secret', 'token', 'key', 'cred', 'bearer', 'auth'];
const TELLING_SIGNS = ['=', ':', '@'];
const LONG_WORD_CHARS = 20;
const UUID_CHARS = 36;

/**
 * Without an identifying word or character, or a word long enough to be a secret, the expressions can't find
 * anything. Written by hand: most texts are file names, and a hook would compile an expression for each.
 */
function isWorthALook(text: string): boolean {
  // No token has this form, and every other parameter is an id.
  if (text.length === UUID_CHARS && UUID.test(text)) return false;
  if (TELLING_SIGNS.some((sign) => text.includes(sign))) return true;
  const lower = text.toLowerCase();
  return TELLING_WORDS.some((word) => lower.includes(word)) || hasLongWord(text);
}

/** Letters, digits, `_`, `.` and `-` in a row. */
function hasLongWord(text: string): boolean {
  if (text.length < LONG_WORD_CHARS) return false;
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
    const isOther = (code >= 0x30 && code <= 0x39) || code === 0x5f || code === 0x2d || code === 0x2e;
    length = isLetter || isOther ? length + 1 : 0;
    if (length === LONG_WORD_CHARS) return true;
  }
  return false;
}

/**
 * Without one of these, a text contains none of the other secrets either: the parameters of every call are
 * checked here.
 */
const SUSPICIOUS =
  /PRIVATE KEY|passw|passphrase|pwd|secret|token|key|credential|bearer|authorization|[_-]auth|:\/\/|-u|--(?:proxy-)?user|sig=|Q~|hooks\.slack/i;
const ASSIGNED_MARK = /[=:]|(?<!\w)-/;

/** Placeholders for a secret: `xxxx`, `changeme`, `${VAR}`, `<token>`, `{{ token }}`, `***`. */
const PLACEHOLDER =
  /^(?:[x*.•…_-]+|<.*>?|\$.*|%.*%|\{.*|\[.*|@.*|.*\$\{.*|.*\{\{.*)$|example|placeholder|change[-_ ]?me|changeit|your[-_ ]|dummy|redacted|xxxx|\*\*\*|\.\.\.|…|fake|sample|s3cr3t$|todo|insert[-_ ]|replace[-_ ]/i;
const COMMON_WORD =
  /^(?:pass(?:word|wd)?|secret|token|test(?:ing|pass|password|secret|token)?|postgres|mysql|root|admin|user(?:name)?|guest|none|null|nil|undefined|true|false|string|str|text|required|optional|default|empty|unset|bearer|basic|hidden|mypassword|mysecret)$/i;
/** Code that says where the value comes from: a name, a member, a call, a path. */
const CODE =
  /^[A-Za-z_$][\w$]*(?:(?:\.|\?\.|::|->)[A-Za-z_$][\w$]*)*!?$|^[./~][\w./-]*$|^(?:https?|file|env|vault|op|arn|ssm|sm):/;
/** No name in code mixes letters and digits like this. */
const SCRAMBLED = /^(?=.*[a-z])(?=(?:\D*\d){3})(?:(?=.*[A-Z])\w{20,}|[0-9a-f]{32,})$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function findSecrets(text: string): Secret[] {
  const found: Secret[] = [];
  let line = 1;
  let counted = 0;
  for (const { kind, from, masked, sure } of spansIn(text)) {
    for (; counted < from; counted += 1) if (text.charCodeAt(counted) === 10) line += 1;
    if (sure) found.push({ kind, line, masked });
  }
  return found;
}

/** The same text with every secret in it masked. */
export function maskSecrets(text: string): string {
  const spans = spansIn(text);
  if (spans.length === 0) return text;
  let shown = '';
  let at = 0;
  for (const { from, to, masked } of spans) {
    shown += text.slice(at, from) + masked;
    at = to;
  }
  return shown + text.slice(at);
}

/** The kinds of secrets that are recognised by their prefix. */
export function tokenKinds(): string[] {
  return [...new Set(TOKENS.map(([kind]) => kind))];
}

/** One quick check. Without it, nearly every edit would compile the expression for all issuers. */
export function mayHoldToken(text: string): boolean {
  return text.length >= TOKEN_CHARS_MIN && TOKEN_START().test(text);
}

/** In order, without overlaps. */
function spansIn(text: string): Span[] {
  if (!isWorthALook(text)) return [];
  const isMarked = mayHoldToken(text);
  if (!isMarked && !SUSPICIOUS.test(text)) return [];
  const spans = [...keyBlocks(text), ...plain(text), ...addresses(text)];
  if (isMarked) spans.push(...tokens(text));
  if (ASSIGNED_MARK.test(text)) spans.push(...assigned(text));
  // If two overlap, a certain one goes before a likely one: otherwise it would be dropped with the other.
  spans.sort((a, b) => a.from - b.from || Number(b.sure) - Number(a.sure));
  const apart: Span[] = [];
  for (const span of spans) {
    const last = apart.at(-1);
    if (last === undefined || span.from >= last.to) apart.push(span);
    else if (span.to > last.to || (span.sure && !last.sure))
      apart[apart.length - 1] = { ...last, to: Math.max(span.to, last.to), sure: last.sure || span.sure };
  }
  return apart;
}

function keyBlocks(text: string): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(KEY_HEADER)) {
    const from = match.index + match[0].length;
    if ((spans.at(-1)?.to ?? 0) > from) continue;
    const end = text.indexOf('-----END', from);
    const to = Math.min(end === -1 ? text.length : end, from + KEY_CHARS_MAX);
    // Code that searches for the header contains no key.
    const body = text.slice(from, to).replaceAll(/\s|\\[nr]|["'+,]/g, '');
    if (/[A-Za-z0-9+/=]{40}/.test(body))
      spans.push({ kind: 'private_key', from, to, masked: ` ${MASK} `, sure: true });
    // Without an end marker there is no second block either; each search would run to the end of the text.
    if (end === -1) break;
  }
  return spans;
}

function tokens(text: string): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(TOKEN())) {
    const prefix = match.slice(1).find((group) => group !== undefined) ?? '';
    const index = match.slice(1).indexOf(prefix);
    const value = match[0].slice(prefix.length);
    if (isExample(value) || (WORDS.test(value) && !/[A-Z]/.test(value))) continue;
    const to = match.index + match[0].length;
    spans.push({
      kind: TOKENS[index]?.[0] ?? 'token',
      from: match.index,
      to,
      masked: `${prefix}${MASK}`,
      sure: isTold(TOKENS[index]?.[0], text, match.index, to),
    });
  }
  return spans;
}

function isTold(kind: string | undefined, text: string, from: number, to: number): boolean {
  const issuer = ISSUERS.get(kind ?? '');
  if (issuer === undefined) return true;
  const before = text.slice(Math.max(0, from - BESIDE_CHARS_MAX), from);
  return (
    TAKES_SECRET.test(before) || issuer.test(before) || issuer.test(text.slice(to, to + BESIDE_CHARS_MAX))
  );
}

function plain(text: string): Span[] {
  const spans: Span[] = [];
  for (const [kind, pattern] of [
    ['slack_hook', SLACK_HOOK],
    ['azure_signature', AZURE_SIGNATURE],
    ['azure_secret', AZURE_SECRET],
  ] as const)
    for (const match of text.matchAll(pattern)) {
      const value = match[1] ?? match[0];
      const from = match.index + match[0].length - value.length;
      if (!isExample(value)) spans.push({ kind, from, to: from + value.length, masked: MASK, sure: true });
    }
  return spans;
}

function addresses(text: string): Span[] {
  const spans: Span[] = [];
  for (const [kind, pattern] of [
    ['address_password', ADDRESS],
    ['password', CURL_USER],
  ] as const)
    for (const match of text.matchAll(pattern)) {
      const [, user = '', password = ''] = match;
      if (PLACEHOLDER.test(password)) continue;
      const from =
        match.index + match[0].lastIndexOf(password, match[0].length - (kind === 'password' ? 0 : 1));
      // The `postgres:postgres@localhost` of an example is no secret.
      const sure =
        kind === 'address_password' &&
        password !== user &&
        !COMMON_WORD.test(password) &&
        password.length > 5;
      spans.push({ kind, from, to: from + password.length, masked: MASK, sure });
    }
  return spans;
}

function assigned(text: string): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(ASSIGNED)) {
    const [whole, tail = '', separator = '', quote, quoted, bare] = match;
    const value = quoted ?? bare ?? '';
    if (ABOUT.test(tail) || PLACEHOLDER.test(value) || COMMON_WORD.test(value) || UUID.test(value)) continue;
    const isBare = quote === undefined;
    const isCode = isBare && CODE.test(value) && !SCRAMBLED.test(value);
    const place = placeOf(text, match.index, separator);
    // In prose, a word after another word is just a word.
    if (/^[ \t]+$/.test(separator) && place !== 'option') continue;
    if (isBare && (/^[-\d.]{1,12}$/.test(value) || (isCode && place === 'code'))) continue;
    const from = match.index + whole.length - value.length;
    const sure = isRandom(value) && !isCode;
    spans.push({ kind: 'assigned_secret', from, to: from + value.length, masked: MASK, sure });
  }
  return spans;
}

/** `--password geheim` and `PGPASSWORD=geheim psql` are not names in code. */
function placeOf(text: string, at: number, separator: string): 'option' | 'environment' | 'code' {
  let start = at;
  while (start > 0 && at - start < NAME_CHARS_MAX && /[\w-]/.test(text.charAt(start - 1))) start -= 1;
  const name = text.slice(start, at + 4);
  if (/^--?[a-z]/.test(name)) return 'option';
  return separator === '=' && /^[A-Z][A-Z0-9_]*$/.test(name) ? 'environment' : 'code';
}

function isExample(value: string): boolean {
  return PLACEHOLDER.test(value) || new Set(value).size < 8;
}

/** Letters and digits or punctuation in an order that no word has. */
function isRandom(value: string): boolean {
  if (value.length < 10 || /\s/.test(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
  return kinds >= 2 && /[\dA-Z]/.test(value) && /[\d\W]/.test(value) && entropy_bits(value) >= 3;
}

/** Per character, from the frequencies in the text itself. */
function entropy_bits(value: string): number {
  const counts = new Map<string, number>();
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}
