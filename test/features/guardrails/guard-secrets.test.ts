import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { findSecrets, maskSecrets, mayHoldToken, tokenKinds } from '../../../src/command-analysis/secrets.ts';
import { isCredentialFile } from '../../../src/features/guardrails/edits/credentials.ts';

/** Put together here so that no scanner takes the test itself for a leak. */
const made = (...parts: readonly string[]) => parts.join('');
const WORD = 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY';
const HEX = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const KEY_BODY = `${WORD}${WORD}${WORD}\n${WORD}${WORD}${WORD}`;

/** kind, text around it, and the secret in it. */
const SECRETS: readonly (readonly [kind: string, text: string, secret: string])[] = [
  ['aws_access_key', made('aws: AK', 'IAQ4WSXEDCRFVTGB2P'), made('AK', 'IAQ4WSXEDCRFVTGB2P')],
  ['gcp_api_key', made('key AI', `za${WORD}abc`), `${WORD}abc`],
  ['gcp_oauth', made('GOC', `SPX-${WORD}`), WORD],
  ['github_token', made('x gh', `p_${WORD}abcd`), `${WORD}abcd`],
  ['github_token', made('github_', `pat_11${WORD}_${WORD}${WORD}`), WORD],
  ['gitlab_token', made('gl', `pat-${WORD.slice(0, 20)}`), WORD.slice(0, 20)],
  ['npm_token', made('npm', `_${WORD}abcd`), `${WORD}abcd`],
  ['pypi_token', made('py', `pi-${WORD}${WORD}`), WORD],
  ['slack_token', made('xo', `xb-123456789012-${WORD}`), WORD],
  ['slack_hook', made('https://hooks.sl', `ack.com/services/T0AB/B0CD/${WORD}`), WORD],
  ['stripe_key', made('sk', `_live_${WORD}`), WORD],
  ['anthropic_key', made('sk-', `ant-api03-${WORD}`), WORD],
  ['openai_key', made('sk-', `proj-${WORD}`), WORD],
  ['huggingface_token', made('h', `f_${WORD}ab`), WORD],
  ['sendgrid_key', made('S', `G.${WORD.slice(0, 22)}.${WORD}${WORD.slice(0, 11)}`), WORD],
  ['vault_token', made('hv', `s.${WORD}`), WORD],
  ['slack_token', made('xo', `xc-1234567890-${WORD}`), WORD],
  ['supabase_key', made('sb', `p_${HEX.slice(0, 40)}`), HEX.slice(0, 40)],
  ['supabase_key', made('sb_se', `cret_${WORD}`), WORD],
  ['e2b_key', made('e2', `b_${HEX.slice(0, 40)}`), HEX.slice(0, 40)],
  ['model_key', made('gs', `k_${WORD}${WORD}`), WORD],
  ['model_key', made('xa', `i-${WORD}${WORD}`), WORD],
  ['linear_key', made('lin_', `api_${WORD}${WORD}`), WORD],
  ['notion_token', made('nt', `n_${WORD}${WORD}`), WORD],
  ['figma_token', made('fi', `gd_${WORD}${WORD}`), WORD],
  ['sentry_token', made('sn', `trys_${WORD}${WORD}`), WORD],
  ['planetscale_token', made('psc', `ale_tkn_${WORD}${WORD}`), WORD],
  ['doppler_token', made('dp', `.pt.${WORD}${WORD}`), WORD],
  ['terraform_token', made(WORD.slice(0, 14), `.atl`, `asv1.${WORD}${WORD}`), WORD],
  ['tailscale_key', made('ts', `key-auth-${WORD}`), WORD],
  ['hubspot_token', made('pa', 't-na1-0a1b2c3d-1234-4abc-9def-0123456789ab'), '9def-0123456789ab'],
  ['bitbucket_token', made('AT', `BB${WORD}`), WORD],
  ['telegram_token', made('110201543', `:A`, `AH${WORD}`), WORD],
  ['model_key', made('pp', `lx-${WORD}${WORD}`), WORD],
  ['model_key', made('tv', `ly-dev-${WORD}`), WORD],
  ['twilio_key', made('TWILIO_API_KEY=S', `K${HEX.slice(0, 32)}`), HEX.slice(0, 32)],
  ['twilio_key', made('new twilio.Twilio("S', `K${HEX.slice(0, 32)}", secret)`), HEX.slice(0, 32)],
  ['twilio_key', made('SMS_KEY: "S', `K${HEX.slice(0, 32)}"`), HEX.slice(0, 32)],
  ['mailgun_key', made('MAILGUN_KEY=ke', `y-${HEX.slice(0, 32)}`), HEX.slice(0, 32)],
  ['mailgun_key', made(`{\\"MG_SECRET\\": \\"ke`, `y-${HEX.slice(0, 32)}\\"}`), HEX.slice(0, 32)],
  ['mailgun_key', made('send(ke', `y-${HEX.slice(0, 32)}) // api.mailgun.net`), HEX.slice(0, 32)],
  ['assigned_secret', made('api_key: ke', `y-${HEX.slice(0, 32)}`), HEX.slice(0, 32)],
  ['assigned_secret', made('token = "S', `K${HEX.slice(0, 32)}"`), HEX.slice(0, 32)],
  ['google_refresh_token', made('1/', `/0g${WORD}${WORD}`), WORD],
  ['airtable_token', made('pa', `t${WORD.slice(0, 14)}.${HEX}`), HEX],
  ['onepassword_token', made('op', `s_eyJ${WORD}${WORD}${WORD}`), WORD],
  ['docker_token', made('dckr_', `pat_${WORD}`), WORD],
  ['shopify_token', made('shp', `at_${HEX.slice(0, 32)}`), HEX.slice(0, 32)],
  ['atlassian_token', made('ATA', `TT3${WORD}${WORD}`), WORD],
  ['rubygems_key', made('ruby', `gems_${HEX.slice(0, 48)}`), HEX.slice(0, 48)],
  ['grafana_token', made('gl', `sa_${WORD}_1234abcd`), WORD],
  ['databricks_token', made('da', `pi${HEX.slice(0, 32)}`), HEX.slice(0, 32)],
  ['postman_key', made('PM', `AK-${HEX.slice(0, 24)}-${HEX.slice(0, 34)}`), HEX.slice(0, 34)],
  ['newrelic_key', made('NR', `AK-${WORD.toUpperCase().slice(0, 27)}`), WORD.toUpperCase().slice(0, 27)],
  ['neon_key', made('na', `pi_${WORD}${WORD}`), WORD],
  ['pulumi_token', made('pu', `l-${HEX.slice(0, 40)}`), HEX.slice(0, 40)],
  ['circleci_token', made('CCI', `PAT_${WORD}_${HEX}`), WORD],
  ['netlify_token', made('nf', `p_${WORD}abcd`), WORD],
  ['vercel_token', made('vercel_', `blob_rw_${WORD}`), WORD],
  ['fly_token', made('fm', `2_${WORD}+${WORD}/ab==`), WORD],
  ['heroku_key', made('HR', `KU-${WORD}abcd`), WORD],
  ['resend_key', made('r', `e_${WORD.slice(0, 8)}_${WORD.slice(0, 24)}`), WORD.slice(0, 24)],
  ['alibaba_key', made('LT', `AI${WORD.slice(0, 20)}`), WORD.slice(0, 20)],
  ['buildkite_token', made('bk', `ua_${HEX.slice(0, 40)}`), HEX.slice(0, 40)],
  ['sonar_token', made('sq', `p_${HEX.slice(0, 40)}`), HEX.slice(0, 40)],
  ['brevo_key', made('xkey', `sib-${HEX}-${WORD.slice(0, 16)}`), HEX],
  ['contentful_token', made('CF', `PAT-${WORD}${WORD}`), WORD],
  ['bedrock_key', made('AB', `SK${WORD}${WORD}`), WORD],
  ['square_token', made('sq', `0atp-${WORD}`), WORD],
  ['age_key', made('AGE-SECRET', `-KEY-1${WORD.toUpperCase()}${WORD.toUpperCase()}`), WORD.toUpperCase()],
  ['digitalocean_token', made('dop', `_v1_${HEX}`), HEX],
  ['coxswain_key', made('co', `x_3f9a2c81d04e_${WORD}`), WORD],
  ['coxswain_key', made('co', `xs_${WORD}.${WORD}`), WORD],
  ['jwt', made('ey', `JhbGciOiJIUzI1NiJ9.ey`, `JzdWIiOiIxMjM0In0.${WORD}`), WORD],
  [
    'private_key',
    made('-----BEGIN RSA PRIV', `ATE KEY-----\n${KEY_BODY}\n-----END RSA PRIVATE KEY-----`),
    WORD,
  ],
  ['private_key', made('-----BEGIN PRIV', `ATE KEY-----\\n${WORD}\\n${WORD}`), WORD],
  [
    'private_key',
    made('-----BEGIN OPENSSH PRIV', `ATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${KEY_BODY}`),
    WORD,
  ],
  ['assigned_secret', 'DB_PASSWORD=Tr0ub4dor&3xyz', 'Tr0ub4dor'],
  ['assigned_secret', `"apiKey": "${WORD}"`, WORD],
  ['assigned_secret', `const token = '${WORD}';`, WORD],
  ['assigned_secret', `aws_secret_access_key = ${WORD}/+abcd12`, WORD],
  ['assigned_secret', `client_secret: ${WORD}`, WORD],
  ['assigned_secret', `//registry.example.org/:_authToken=${WORD}`, WORD],
  ['assigned_secret', `Authorization: Bearer ${WORD}`, WORD],
  ['assigned_secret', `AccountKey=${WORD}${WORD}==;EndpointSuffix=core`, WORD],
  ['assigned_secret', `{"a":"{\\"password\\":\\"${WORD}\\"}"}`, WORD],
  ['address_password', 'postgres://app:Tr0ub4dor3@db.internal/shop', 'Tr0ub4dor3'],
  ['address_password', `https://x-access-token:${WORD}@github.com/a/b`, WORD],
  ['azure_signature', `https://a.blob.core.windows.net/c?sv=1&sig=${WORD}${WORD}%3D`, WORD],
  ['azure_secret', `x ab18Q~${WORD}a y`, WORD],
];

/** No agent should be stopped for these. */
const HARMLESS = [
  'password = getPassword()',
  'const token = request.headers.token;',
  'token: string',
  'password: string | undefined;',
  "password: 'password'",
  'API_KEY=changeme',
  'API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx',
  'API_KEY=your-api-key-here-1234',
  `TOKEN=\${GITHUB_TOKEN}`,
  `token: \${{ secrets.GITHUB_TOKEN }}`,
  'token: <your token>',
  'secret: "{{ vault.secret }}"',
  'api_key = os.environ["API_KEY"]',
  'api_key=process.env.API_KEY_FOR_2024',
  made('AK', 'IAIOSFODNN7EXAMPLE'),
  made('gh', 'p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
  'max_tokens: 4096',
  'token_count = 123456789012',
  'tokenizer: "cl100k_base_2023Q3"',
  `token_url: "https://login.example.com/oauth2/v2.0/token"`,
  'password_hash: "$2b$10$N9qo8uLOickgx2ZMRZoMye"',
  `"integrity": "sha512-${WORD}${WORD}=="`,
  `resolved ${HEX}`,
  `commit ${HEX.slice(0, 40)}`,
  'token: 0192a000-0000-7000-8000-000000000001',
  'postgres://postgres:postgres@localhost:5432/test',
  `postgres://\${USER}:\${PASSWORD}@localhost/test`,
  'https://example.com/a:b@c',
  `data:image/png;base64,${WORD}${WORD}AKIA${WORD}`,
  `if (text.includes('-----BEGIN PRIVATE KEY-----')) throw new Error('a private key');`,
  'The token is kept in the keychain; the password is not.',
  'Rotate the secret: see docs/secrets.md',
  'secretName: database-credentials-v2',
  'import { token } from "./token2.ts";',
  'sk-ant-***',
  `"cache-key-${HEX.slice(0, 32)}"`,
  `mailgun: "cache-key-${HEX.slice(0, 32)}"`,
  `React.createElement(Row, { id: "key-${HEX.slice(0, 32)}" })`,
  `"SK${HEX.slice(0, 32)}"`,
  `sid: SK${HEX.slice(0, 32)}`,
  'registry/xai-grok-2-image-1212-eu-west-1-preview',
  'pplx-sonar-large-128k-online-2024-09-eu-west-1-preview',
  'class="sk-fading-circle-container-of-some-other-kind"',
];

test('[GUARD-5] secrets are found by their content, and none can be read afterwards', () => {
  for (const [kind, text, secret] of SECRETS) {
    const found = findSecrets(`first line\n${text}\nlast`);
    assert.deepEqual([found[0]?.kind, found[0]?.line], [kind, 2], text);
    const masked = maskSecrets(text);
    assert.ok(!masked.includes(secret), `${text} → ${masked}`);
    assert.ok(!JSON.stringify(found).includes(secret), text);
    assert.equal(maskSecrets(masked), masked, 'masking twice changes nothing more');
  }
});

test('[GUARD-5] examples, names and hashes are no secrets', () => {
  for (const text of HARMLESS) assert.deepEqual(findSecrets(text), [], text);
});

test('[GUARD-5] the quick look passes by no token of any issuer', () => {
  const kinds = tokenKinds();
  assert.deepEqual(
    kinds.filter((kind) => !SECRETS.some(([known]) => known === kind)),
    [],
    'each has a sample',
  );
  for (const [kind, text] of SECRETS)
    if (kinds.includes(kind))
      for (const around of [text, `"${text}"`, `"a\\n${text}\\n"`, `\t${text}`, `x-${text}`])
        assert.ok(mayHoldToken(around), around);
});

test('[GUARD-5] the quick look passes by source code', () => {
  const root = join(import.meta.dirname, '..', '..', '..');
  const files = ['src', 'docs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const texts = files
    .filter((name) => /\.(?:ts|sql|md|css|html|json)$/.test(name))
    .map((name) => [name, readFileSync(join(root, name), 'utf8')] as const);
  const looked = texts.filter(([, text]) => mayHoldToken(text)).map(([name]) => name);
  assert.ok(texts.length > 500);
  // It is about tokens.
  assert.deepEqual(looked, [join('src', 'command-analysis', 'secrets.ts')]);
  const names = `
    store_path core_settings_directory pre_load feature_flags re_export re_enabled there_is restore_settings_from
    single_global_name glob_pattern configure figure_out lin_algebra linear_regression npm_config_registry npm_lifecycle_event
    napi_create_function task-states risk-free disk-usage key-value key-of-the-cache cache-key-3f2a pattern-matching pat-tern dp.pt
    fit-dp.step MSG.send SKIP_LOCKED SKU SKELETON mock_test_case api_v1_users global-settings single-file pull-request pulse-width
    sk-fading-circle hf_hub_download xoxo xaiver-1 :AAA sq0 bkup_dir shape shapes e2b_code_interpreter cox_http_requests_total`;
  assert.equal(mayHoldToken(names.repeat(10)), false);
});

test('what is only likely is masked where it is quoted', () => {
  const rows = [
    ['PGPASSWORD=geheim psql -c "select 1"', 'geheim'],
    ['mysql --password geheim shop', 'geheim'],
    ['deploy --token=geheim123', 'geheim123'],
    ['curl -u alice:geheim https://x.org', 'geheim'],
    ['redis://:geheim@cache:6379', 'geheim'],
    ['postgres://a:b@localhost/x', ':b@'],
  ] as const;
  for (const [text, secret] of rows) assert.ok(!maskSecrets(text).includes(secret), maskSecrets(text));
  // Their issuer is not named, but what is quoted is for people, and they need no such number.
  for (const text of [`"SK${HEX.slice(0, 32)}"`, `id: "key-${HEX.slice(0, 32)}"`])
    assert.ok(!maskSecrets(text).includes(HEX.slice(0, 32)), text);
  assert.equal(maskSecrets('fix the token parser'), 'fix the token parser');
  assert.equal(maskSecrets('git push --force origin main'), 'git push --force origin main');
});

test('a secret behind a dash, and one that was written with escapes', () => {
  const token = made('gh', `p_${WORD}abcd`);
  for (const text of [`notes-${token}.md`, `"a\\n${token}\\n"`, `x=${token}`, `(${token})`])
    assert.ok(!maskSecrets(text).includes(WORD), text);
});

test('two secrets on one line, and one within another', () => {
  const text = made('gh', `p_${WORD}abcd and gh`, `o_${WORD}abcd; token=gh`, `p_${WORD}abcd`);
  assert.equal(maskSecrets(text), 'ghp_*** and gho_***; token=ghp_***');
  assert.equal(findSecrets(text).length, 3);
});

test('no text makes the search slow', () => {
  const pieces = [
    'eyJ-',
    'eyJaaaaaaaaaaa.',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN A ',
    'token=',
    'password',
    '_-_-',
    'sk-',
    'gh' + 'p_',
    '://a:',
    "secret='",
    'a.b-c_',
    '-u a:',
    'Q~',
    'api_key api',
    'sk-abcdefghijklm',
    'abcdefghijk',
  ];
  const texts = pieces.map((piece) => piece.repeat(Math.ceil(200_000 / piece.length)));
  for (const text of [...texts, `sk-${'abcdefghijk'.repeat(20_000)}`, `token=${'a1-'.repeat(70_000)}`]) {
    const piece = text.slice(0, 20);
    const started = performance.now();
    maskSecrets(text);
    const spent_ms = performance.now() - started;
    assert.ok(spent_ms < 1000, `${piece}: ${spent_ms} ms`);
  }
});

test('any text can be searched, and what is left over is the same', () => {
  const words = fc.constantFrom(
    'token',
    '=',
    ':',
    '"',
    'eyJ',
    '.',
    'sk-',
    WORD,
    '\n',
    '://',
    '@',
    ' ',
    '-----BEGIN PRIVATE KEY-----',
  );
  const text = fc.array(fc.oneof(words, fc.string()), { maxLength: 30 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (given) => {
      const masked = maskSecrets(given);
      assert.equal(maskSecrets(masked), masked);
      for (const { line } of findSecrets(given)) assert.ok(line >= 1 && line <= given.split('\n').length);
    }),
    { numRuns: 2000 },
  );
});

test('[GUARD-5] credential files by their names', () => {
  const credentials =
    '.env app.env .env.local .env.production config/.env .ENV .envrc id_rsa .ssh/config keys/id_ed25519 server.key tls/privkey.pem a.p12 debug.keystore .netrc .aws/credentials .kube/config kubeconfig kubeconfig.yaml credentials credentials.json aws-credentials.ini secrets.yaml my-secrets.json config/secrets.yml secrets/prod.json k8s/secret.yaml client_secret_1.json service-account.json .git-credentials .pgpass .htpasswd secrets.enc.yaml win\\dir\\.env ./.env /etc/shadow .docker/config.json';
  for (const name of credentials.split(' ')) assert.notEqual(isCredentialFile(name), undefined, name);
  const others =
    '.env.example .env.sample .env.template .env.dist env.ts environment.ts src/secrets.ts lib/credentials.py docs/secrets.md test/secrets.test.ts id_rsa.pub .ssh/known_hosts cert.pem ca.pem fullchain.pem public-key.pem package.json keys.ts README.md secrets.example.yaml credentials.schema.json keyboard.ts src/secrets/index.ts tokens.css .npmrc config/default.json secretary.txt';
  for (const name of others.split(' ')) assert.equal(isCredentialFile(name), undefined, name);
});
