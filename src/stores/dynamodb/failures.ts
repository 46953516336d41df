import { type RefusalCode, StoreFailure } from '../../kernel/refusal.ts';
import { isSkewed, skewText } from './skew.ts';
import { addressText, type DynamoAddress } from './table-address.ts';
import { isLineBroken, type Thrown, thrownBy } from './thrown.ts';

/** How one request went wrong, as far as the store has to know. */
export type Fault =
  /** Nothing was done, and the same request may succeed soon. */
  | 'again'
  /** No answer, or an unclear one: it is not known whether it was done. */
  | 'unsure'
  | 'final';

const BUSY = new Set([
  'ThrottlingException',
  'Throttling',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'LimitExceededException',
  'TooManyRequestsException',
  'TransactionConflictException',
  'ReplicatedWriteConflictException',
]);

/**
 * Reasons of a cancelled transaction after which the same one may succeed. A failed condition is not among
 * them: the store reads it.
 */
const PASSING_REASONS = new Set([
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

export function faultOf(error: unknown): Fault {
  return faultIn(thrownBy(error));
}

function faultIn(thrown: Thrown): Fault {
  if (BUSY.has(thrown.name)) return 'again';
  if (thrown.name === 'TransactionCanceledException')
    return thrown.reasons.length > 0 && thrown.reasons.every((reason) => PASSING_REASONS.has(reason))
      ? 'again'
      : 'final';
  if (thrown.name === 'TransactionInProgressException') return 'unsure';
  if (isSkewed(thrown)) return thrown.clockCorrected ? 'again' : 'final';
  if (isLineBroken(thrown)) return 'unsure';
  // A successful response that can't be read counts too: the request was done.
  return thrown.status !== undefined && (thrown.status < 400 || thrown.status >= 500) ? 'unsure' : 'final';
}

/** The permissions to read and write that the IAM policy of a store user needs. */
export const NEEDED_ACTIONS = [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'ConditionCheckItem',
  'BatchWriteItem',
  'DescribeTable',
].map((action) => `dynamodb:${action}`);

/** One sentence says what happened; the next one says what to do about it. */
export function failure(error: unknown, address: DynamoAddress): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const thrown = thrownBy(error);
  const [code, message] = explained(thrown, address);
  return new StoreFailure(code, message, { cause: error });
}

type Explanation = readonly [code: RefusalCode, message: string];
type Explain = (thrown: Thrown, address: DynamoAddress) => Explanation;

const NO_CREDENTIALS: Explain = ({ message }) => [
  'store_unusable',
  `No AWS credentials were found for DynamoDB (${ended(message)}). The SDK looked for AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ` +
    'the profile of AWS_PROFILE in ~/.aws/config and ~/.aws/credentials, a single sign-on (`aws sso login`), a web identity, ' +
    'and the role of the container or instance.',
];

const UNKNOWN_CREDENTIALS: Explain = ({ message }, address) => [
  'store_unusable',
  `AWS does not accept these credentials for ${placeText(address)}: ${ended(message)}. Look who you are with ` +
    '`aws sts get-caller-identity`: a key of another partition or account, a deleted key and a missing AWS_SESSION_TOKEN look like this.',
];

const EXPIRED_CREDENTIALS: Explain = ({ message }) => [
  'store_unusable',
  `The AWS credentials have run out: ${ended(message)}. Get new ones, such as with \`aws sso login\`.`,
];

const DENIED: Explain = ({ message }, address) => {
  const action = /\bdynamodb:[A-Za-z]+/.exec(message)?.[0];
  const what = action === undefined ? 'this' : action;
  return [
    'store_unusable',
    `AWS does not permit ${what} on ${placeText(address)}: ${ended(message)}. The store needs ${NEEDED_ACTIONS.join(', ')} on the table.`,
  ];
};

const NO_TABLE: Explain = (_thrown, address) => [
  'store_unusable',
  `There is no table ${address.table} ${whereText(address)} for this account. Create it with ` +
    `\`cox dynamodb create-table "${addressText(address)}"\`, or correct the region (?region=…, AWS_REGION) or the profile (AWS_PROFILE).`,
];

const TOO_LARGE: Explain = ({ message }) => [
  'too_large',
  `DynamoDB takes no more at once: ${ended(message)}.`,
];

const BY_NAME: Readonly<Record<string, Explain>> = {
  CredentialsProviderError: NO_CREDENTIALS,
  TokenProviderError: EXPIRED_CREDENTIALS,
  ExpiredTokenException: EXPIRED_CREDENTIALS,
  ExpiredToken: EXPIRED_CREDENTIALS,
  UnrecognizedClientException: UNKNOWN_CREDENTIALS,
  InvalidSignatureException: UNKNOWN_CREDENTIALS,
  IncompleteSignatureException: UNKNOWN_CREDENTIALS,
  InvalidClientTokenId: UNKNOWN_CREDENTIALS,
  MissingAuthenticationTokenException: UNKNOWN_CREDENTIALS,
  AccessDeniedException: DENIED,
  ResourceNotFoundException: NO_TABLE,
  TableNotFoundException: NO_TABLE,
  ItemCollectionSizeLimitExceededException: TOO_LARGE,
};

/** Errors that come as a ValidationException, or in a reason of a cancelled transaction. */
const BY_MESSAGE: readonly (readonly [pattern: RegExp, explain: Explain])[] = [
  [/exceed|length less than or equal to/i, TOO_LARGE],
  [
    /match the schema|Missing the key|Type mismatch for key|conditions on the keys|required keys/i,
    (_thrown, address) => wrongKeys(address),
  ],
  [
    /Region is missing/i,
    ({ message }, { table }) => [
      'store_unusable',
      `No AWS region is set (${ended(message)}). Say it in the address, dynamodb://${table}?region=eu-central-1, or with AWS_REGION or AWS_PROFILE.`,
    ],
  ],
  [
    /profile/i,
    ({ message }) => ['store_unusable', `The AWS profile can't be used: ${ended(message)}. See AWS_PROFILE.`],
  ],
];

export function wrongKeys({ table }: DynamoAddress, found?: string): Explanation {
  const has = found === undefined ? 'other keys' : `the keys ${found}`;
  return [
    'store_unusable',
    `The table ${table} has ${has}: it belongs to something else. Coxswain's has the keys PK and SK, both strings; choose another name and create it with \`cox dynamodb create-table\`.`,
  ];
}

function explained(thrown: Thrown, address: DynamoAddress): Explanation {
  if (isSkewed(thrown)) return ['store_unusable', skewText(thrown.message)];
  const byName = Object.hasOwn(BY_NAME, thrown.name) ? BY_NAME[thrown.name] : undefined;
  if (byName !== undefined) return byName(thrown, address);
  const fault = faultIn(thrown);
  if (fault === 'again')
    return ['database_unavailable', `DynamoDB is busy (${thrown.name}): ${ended(thrown.message)}.`];
  if (isLineBroken(thrown))
    return [
      'database_unavailable',
      `DynamoDB does not answer at ${endpointText(address)}: ${ended(thrown.message) || thrown.code || 'no answer'}.`,
    ];
  if (thrown.status === undefined || thrown.name === 'ValidationException' || thrown.reasons.length > 0)
    for (const [pattern, explain] of BY_MESSAGE)
      if (pattern.test(thrown.message)) return explain(thrown, address);
  if (fault === 'unsure')
    return ['database_unavailable', `DynamoDB failed (${thrown.name}): ${ended(thrown.message)}.`];
  return ['internal_error', `DynamoDB refused (${thrown.name}): ${ended(thrown.message)}.`];
}

function ended(message: string): string {
  return message.slice(0, 500).replace(/[.\s]+$/, '');
}

function whereText({ region, endpoint }: DynamoAddress): string {
  if (endpoint !== undefined) return `at ${endpoint}${region === undefined ? '' : ` (region ${region})`}`;
  return region === undefined ? 'in the region of this environment' : `in ${region}`;
}

function placeText(address: DynamoAddress): string {
  return `the table ${address.table} ${whereText(address)}`;
}

function endpointText({ region, endpoint }: DynamoAddress): string {
  return endpoint ?? (region === undefined ? 'the endpoint of its region' : `the endpoint of ${region}`);
}
