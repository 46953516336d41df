import { StoreFailure } from '../../kernel/refusal.ts';

/**
 * Where a table is. Fields left undefined are found as in every AWS program: environment, profile, instance.
 */
export interface DynamoAddress {
  readonly table: string;
  readonly region: string | undefined;
  readonly endpoint: string | undefined;
}

const SCHEME = 'dynamodb://';
const EXAMPLE = 'dynamodb://coxswain?region=eu-central-1';
const TABLE = /^[A-Za-z0-9_.-]{3,255}$/;
const ARN = /^arn:[a-z-]+:dynamodb:([a-z0-9-]+):\d*:table\/([A-Za-z0-9_.-]{3,255})$/;
const REGION = /^[a-z][a-z0-9-]{0,39}$/;
const PARAMETERS = ['region', 'endpoint'] as const;

/** No part of a URL that can hold a password is ever repeated in a message. */
export function parseAddress(url: string): DynamoAddress {
  if (!url.startsWith(SCHEME)) throw invalid(`A DynamoDB store begins with ${SCHEME}`);
  const rest = url.slice(SCHEME.length);
  const [named = '', ...query] = rest.split('?');
  if (named.includes('@'))
    throw invalid('Credentials do not belong into the address: the AWS SDK finds them by itself');
  if (rest.includes('#') || query.length > 1) throw invalid('An address has one ? and no #');
  return { table: tableOf(named.replace(/\/$/, '')), ...parametersOf(query[0] ?? '') };
}

/** The address as a person would type it, for instance in a suggested command. */
export function addressText({ table, region, endpoint }: DynamoAddress): string {
  const parts = [
    region === undefined ? undefined : `region=${region}`,
    endpoint === undefined ? undefined : `endpoint=${encodeURIComponent(endpoint)}`,
  ].filter((part) => part !== undefined);
  return `${SCHEME}${table}${parts.length === 0 ? '' : `?${parts.join('&')}`}`;
}

function tableOf(named: string): string {
  if (TABLE.test(named)) return named;
  const [, region, table] = ARN.exec(named) ?? [];
  // With the name alone, a table of another account would become a different table.
  if (table !== undefined)
    throw invalid('A table is named without its ARN', `${SCHEME}${table}?region=${region}`);
  throw invalid('A table name has 3 to 255 of A-Z, a-z, 0-9, _, . and -');
}

function parametersOf(query: string): Pick<DynamoAddress, 'region' | 'endpoint'> {
  const given = new URLSearchParams(query);
  for (const name of given.keys()) {
    if (!PARAMETERS.some((known) => known === name))
      throw invalid(`${JSON.stringify(name.slice(0, 40))} is no parameter of it: region and endpoint are`);
    if (given.getAll(name).length > 1) throw invalid(`${name} is given twice`);
  }
  const region = given.get('region') ?? undefined;
  if (region !== undefined && !REGION.test(region)) throw invalid('A region looks like eu-central-1');
  const endpoint = given.get('endpoint') ?? undefined;
  return { region, endpoint: endpoint === undefined ? undefined : checkedEndpoint(endpoint) };
}

function checkedEndpoint(endpoint: string): string {
  const parsed = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw invalid('An endpoint is an http or https URL', `${EXAMPLE}&endpoint=http://127.0.0.1:8000`);
  if (parsed.username !== '' || parsed.password !== '')
    throw invalid('Credentials do not belong into the endpoint: the AWS SDK finds them by itself');
  if (parsed.search !== '' || parsed.hash !== '') throw invalid('An endpoint has no ? and no #');
  return endpoint.replace(/\/$/, '');
}

function invalid(problem: string, example = EXAMPLE): StoreFailure {
  return new StoreFailure('invalid_input', `${problem}: expected such as ${example}.`, {
    details: { field: 'store' },
  });
}
