// A stand-in for S3, at its edge: no S3 that knows conditional writes can be installed from the registry (s3rver takes no
// notice of If-None-Match), and the tests go to no network. It speaks the part of the protocol that places use, with the
// status codes and bodies that Amazon documents, and does on request what a real one does seldom.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StandInObject {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly content_type: string;
  modified_ms: number;
}

export interface S3Request {
  readonly method: string;
  /** Empty: the bucket itself, which is a listing. */
  readonly key: string;
  readonly headers: IncomingMessage['headers'];
}

interface Refused {
  readonly status: number;
  readonly code: string;
  /** More elements of the answer. */
  readonly extra?: string;
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
  /** The rest of the body never comes. */
  readonly isHalf?: boolean;
}

/** An answer instead of the real one; or the connection is cut, before or after the request took effect; or no answer at all, or half of one. */
export type Fault = Refused | 'reset' | 'reset_after' | 'stall' | 'stall_amid';

export type Watcher = (request: S3Request) => Fault | undefined | Promise<Fault | undefined>;

const escaped = (text: string) => text.replace(/[<>&]/g, (character) => `&#${character.charCodeAt(0)};`);
/** As S3 writes keys where `encoding-type=url` is asked for. */
const urlEncoded = (key: string) =>
  encodeURIComponent(key)
    .replaceAll('%20', '+')
    .replaceAll('%2F', '/')
    .replace(/[!'()~]/g, hex);
const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** What the SDK looks for; set before its first request. */
function giveCredentials(): void {
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
  });
}

export class S3StandIn {
  readonly bucket = 'team-bucket';
  readonly region = 'eu-central-1';
  readonly objects = new Map<string, StandInObject>();
  /** `METHOD key` of each request that got through to the bucket. */
  readonly requests: string[] = [];
  /** How many keys a page of a listing has. */
  page_keys = 1000;
  /** False: as a service does that has never heard of conditions. */
  knowsConditions = true;
  watcher: Watcher | undefined;
  readonly #server: Server = createServer((request, response) => void this.#handle(request, response));

  static async open(): Promise<S3StandIn> {
    giveCredentials();
    const standIn = new S3StandIn();
    await new Promise<void>((done) => standIn.#server.listen(0, '127.0.0.1', done));
    return standIn;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** With settings, as `COX_ASSETS` has it. */
  address(prefix = '', region = this.region): string {
    return `s3://${this.bucket}/${prefix}?region=${region}&endpoint=${encodeURIComponent(this.endpoint)}`;
  }

  put(key: string, text: string | Buffer, metadata: Record<string, string> = {}, content_type = ''): void {
    const bytes = Buffer.from(text);
    const etag = `"${createHash('md5').update(bytes).digest('hex')}"`;
    this.objects.set(key, { bytes, etag, metadata, content_type, modified_ms: Date.now() });
  }

  text(key: string): string | undefined {
    return this.objects.get(key)?.bytes.toString();
  }

  keys(prefix = ''): string[] {
    return [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#answer(request);
    if (answer === undefined) return;
    response.writeHead(answer.status, answer.headers);
    if (answer.isHalf === true) return void response.write(answer.body?.slice(0, answer.body.length >> 1));
    response.end(request.method === 'HEAD' ? undefined : answer.body);
  }

  /** Undefined: there is none. */
  async #answer(request: IncomingMessage): Promise<Answer | undefined> {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const [, bucket = '', ...names] = path.split('/').map(decodeURIComponent);
    const asked = { method: request.method ?? '', key: names.join('/'), headers: request.headers };
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const scope = /Credential=[^/]+\/\d+\/([^/]+)\//.exec(request.headers.authorization ?? '')?.[1];
    if (scope !== this.region)
      return refusal({
        ...{ status: 400, code: 'AuthorizationHeaderMalformed' },
        extra: `<Region>${this.region}</Region>`,
      });
    if (bucket !== this.bucket) return refusal({ status: 404, code: 'NoSuchBucket' });
    const fault = await this.watcher?.(asked);
    if (fault === 'stall') return undefined;
    if (fault === 'reset') return void request.socket.destroy();
    if (typeof fault === 'object') return refusal(fault);
    this.requests.push(`${asked.method} ${asked.key}`);
    const answer = this.#perform(asked, new URLSearchParams(query), Buffer.concat(chunks));
    if (fault === 'reset_after') return void request.socket.destroy();
    return fault === 'stall_amid' ? { ...answer, isHalf: true } : answer;
  }

  #perform(asked: S3Request, query: URLSearchParams, body: Buffer): Answer {
    const { method, key } = asked;
    if (method === 'GET' && key === '') return this.#list(query);
    if (method === 'PUT') {
      const problem = this.#write(asked, body);
      if (problem !== undefined) return refusal(problem);
      return { status: 200, headers: { etag: this.objects.get(key)?.etag ?? '' } };
    }
    const found = this.objects.get(key);
    if (method === 'DELETE') {
      this.objects.delete(key);
      return { status: 204 };
    }
    if (found === undefined) return refusal({ status: 404, code: 'NoSuchKey' });
    const { bytes, etag, content_type, modified_ms } = found;
    const metadata = Object.entries(found.metadata).map(([name, value]) => [`x-amz-meta-${name}`, value]);
    return {
      status: 200,
      headers: {
        ...{ etag, 'content-type': content_type || 'binary/octet-stream' },
        'last-modified': new Date(modified_ms).toUTCString(),
        'content-length': String(bytes.length),
        ...Object.fromEntries(metadata),
      },
      body: bytes,
    };
  }

  /** Looked at and written in one step, as S3 does. */
  #write({ key, headers }: S3Request, body: Buffer): Refused | undefined {
    const there = this.objects.get(key);
    if (this.knowsConditions) {
      const { 'if-match': wanted, 'if-none-match': unwanted } = headers;
      if (wanted !== undefined && there === undefined) return { status: 404, code: 'NoSuchKey' };
      if ((wanted !== undefined && wanted !== there?.etag) || (unwanted === '*' && there !== undefined))
        return { status: 412, code: 'PreconditionFailed' };
    }
    const metadata = Object.entries(headers)
      .filter(([name]) => name.startsWith('x-amz-meta-'))
      .map(([name, value]) => [name.slice('x-amz-meta-'.length), String(value)]);
    this.put(key, body, Object.fromEntries(metadata), headers['content-type']);
    return undefined;
  }

  #list(query: URLSearchParams): Answer {
    const [after, inUrls] = [query.get('continuation-token') ?? '', query.get('encoding-type') === 'url'];
    const keys = this.keys(query.get('prefix') ?? '').filter((key) => key > after);
    const page = keys.slice(0, this.page_keys);
    const contents = page.map((key) => {
      const { bytes, etag, modified_ms } = this.objects.get(key) as StandInObject;
      const name = inUrls ? urlEncoded(key) : escaped(key);
      const modified = new Date(modified_ms).toISOString();
      return `<Contents><Key>${name}</Key><LastModified>${modified}</LastModified><ETag>${escaped(etag)}</ETag><Size>${bytes.length}</Size></Contents>`;
    });
    const more = keys.length > page.length;
    const token = more ? `<NextContinuationToken>${escaped(page.at(-1) ?? '')}</NextContinuationToken>` : '';
    const encoding = inUrls ? '<EncodingType>url</EncodingType>' : '';
    return xml(
      200,
      `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${this.bucket}</Name><KeyCount>${page.length}</KeyCount>${encoding}<IsTruncated>${more}</IsTruncated>${token}${contents.join('')}</ListBucketResult>`,
    );
  }
}

function refusal({ status, code, extra = '' }: Refused): Answer {
  return xml(status, `<Error><Code>${code}</Code><Message>as asked</Message>${extra}</Error>`);
}

function xml(status: number, body: string): Answer {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>${body}`,
  };
}
