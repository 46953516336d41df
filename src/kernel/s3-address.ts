/** A location in S3: `s3://bucket[/prefix][?region=…&endpoint=…]`. */
export interface S3Address {
  readonly bucket: string;
  /** Empty, or ending with a slash. */
  readonly prefix: string;
  /** Left out: the SDK's own default. */
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
}

export const S3_ADDRESS = 's3://bucket, with a /prefix or ?region=…&endpoint=… where needed';
export const S3_TEMPLATE = 's3://bucket[/prefix]/agents/{agent_id}/NAME';

/** An agent's own part. A bucket has one more, `promoting`, where contents to be published are staged. */
const OWN_PART = /^agents\/\{agent_id\}\/(?!promoting$)(?!\.{1,2}$)[\w.-]{1,60}$/;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
// No character that a terminal, a URL or another tool would interpret.
const PREFIX = /^(?:[\w.@+=-]+\/)*$/;
const REGION = /^[a-z0-9-]{1,40}$/;
const CHARS_MAX = 500;

export function isS3(text: string): boolean {
  return text.startsWith('s3://');
}

/** Undefined: not an S3 address. */
export function parseS3Address(text: string): S3Address | undefined {
  const parts = /^s3:\/\/([^/?#]+)([^?#]*)(?:\?([^#]*))?$/.exec(text);
  if (parts === null || text.length > CHARS_MAX) return undefined;
  const [, bucket = '', path = '', query = ''] = parts;
  const prefix = path.replace(/^\/+|\/+$/g, '').replace(/$/, '/');
  const settings = new URLSearchParams(query);
  const [region, endpoint] = [settings.get('region') ?? undefined, settings.get('endpoint') ?? undefined];
  const isSound =
    BUCKET.test(bucket) &&
    (prefix === '/' || (PREFIX.test(prefix) && !/(?:^|\/)\.{1,2}\//.test(prefix))) &&
    [...settings.keys()].every((name) => name === 'region' || name === 'endpoint') &&
    (region === undefined || REGION.test(region)) &&
    (endpoint === undefined || isEndpoint(endpoint));
  return isSound ? { bucket, prefix: prefix === '/' ? '' : prefix, region, endpoint } : undefined;
}

/** A name and a password in it would show up in every log. */
function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

export interface S3Template {
  readonly address: S3Address;
  /** `agents/{agent_id}/NAME`. */
  readonly part: string;
}

/** Undefined: not an address that ends with an agent's own part. */
export function parseS3Template(text: string): S3Template | undefined {
  const parts = /^(s3:\/\/[^?#]*?)\/(agents\/\{agent_id\}\/[^/?#]+)\/*(\?[^#]*)?$/.exec(text);
  if (parts === null) return undefined;
  const [, above = '', part = '', query = ''] = parts;
  const address = parseS3Address(`${above}${query}`);
  return address !== undefined && isOwnPart(part) ? { address, part } : undefined;
}

export function isOwnPart(template: string): boolean {
  return OWN_PART.test(template);
}

export function showS3({ bucket, prefix }: Pick<S3Address, 'bucket' | 'prefix'>, below = ''): string {
  return `s3://${bucket}/${prefix}${below}`;
}
