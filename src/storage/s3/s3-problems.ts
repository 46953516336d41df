import { PlaceProblem, PlaceUnusable } from '../storage-place.ts';

interface S3Error {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly Region?: unknown;
  readonly message?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

export function errorName(error: unknown): string {
  return String((error as S3Error).name);
}

export function statusOf(error: unknown): number | undefined {
  return (error as S3Error).$metadata?.httpStatusCode;
}

const RIGHTS =
  's3:GetObject, s3:PutObject and s3:DeleteObject on its objects and s3:ListBucket on the bucket itself';

/** Names of errors, and what they mean in words for the person in charge of the bucket. */
const WORDS: readonly (readonly [RegExp, (bucket: string) => string])[] = [
  [/^NoSuchBucket$/, (bucket) => `There is no bucket ${bucket}.`],
  [
    /^(InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|TokenRefreshRequired)$/,
    (bucket) => `Bucket ${bucket}: the AWS credentials are not valid.`,
  ],
  [/^ExpiredToken/, (bucket) => `Bucket ${bucket}: the AWS credentials have expired.`],
  [
    /^CredentialsProviderError$/,
    (bucket) => `Bucket ${bucket}: no AWS credentials were found (AWS_PROFILE, AWS_ACCESS_KEY_ID or a role).`,
  ],
  [/^RequestTimeTooSkewed$/, () => 'S3 refuses what this machine asks: its clock is wrong.'],
  [/^(SlowDown|Throttl|TooManyRequests|RequestLimitExceeded)/, () => 'S3 is asked too often; try later.'],
  [
    /^NotImplemented$/,
    (bucket) => `Bucket ${bucket}: the service has no conditional writes, without which nothing is promoted.`,
  ],
  [/^(AccessDenied|AllAccessDisabled)$/, (bucket) => denied(bucket)],
];

const REGIONS = /^(PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/;
const NO_WAY = /^(E[A-Z]{4,20}|TimeoutError|NetworkingError|AbortError)$/;

const denied = (bucket: string) => `Bucket ${bucket}: access denied. It takes ${RIGHTS}.`;

/** What went wrong, for people; nothing in it that a server could have forged. */
export function placeProblem(error: unknown, bucket: string): PlaceProblem {
  if (error instanceof PlaceProblem) return error;
  const name = errorName(error);
  if (name === 'KeyTooLongError') return new PlaceProblem('Its name is too long for S3.');
  return new PlaceUnusable(wordsFor(error as S3Error, name, bucket), { cause: error });
}

function wordsFor(error: S3Error, name: string, bucket: string): string {
  const status = statusOf(error);
  const known = WORDS.find(([pattern]) => pattern.test(name));
  if (known !== undefined) return known[1](bucket);
  if (REGIONS.test(name) || status === 301) return elsewhere(error, bucket);
  if (String(error.message).startsWith('Region is missing'))
    return `Bucket ${bucket}: no region is set (AWS_REGION, or ?region=… in the address).`;
  const code = [error.code, name].map(String).find((text) => NO_WAY.test(text));
  if (code !== undefined) return `S3 can’t be reached (${code}).`;
  if (status === 403) return denied(bucket);
  if (status !== undefined && status >= 500) return `S3 answers with an error (${status}); try later.`;
  const shown = /^\w{1,60}$/.test(name) ? name : 'an error without a name';
  return `Bucket ${bucket}: S3 says ${shown}.`;
}

function elsewhere(error: S3Error, bucket: string): string {
  const region = String(error.Region ?? error.$response?.headers?.['x-amz-bucket-region'] ?? '');
  const where = /^[a-z0-9-]{1,40}$/.test(region) ? `, ${region}` : '';
  return `Bucket ${bucket} is in another region${where}: set AWS_REGION, or ?region=… in the address.`;
}
