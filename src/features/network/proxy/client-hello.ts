/** What the first bytes of a connection say about whom it is for. `more`: they are not all there yet. */
export type Hello =
  | { readonly is: 'more' }
  | { readonly is: 'not_tls' }
  | { readonly is: 'broken' }
  | { readonly is: 'tls'; readonly server_name: string | undefined };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const RECORD_HEADER_BYTES = 5;
const RECORD_BYTES_MAX = 16_384;
/** With keys against quantum computers it has less than two thousand. */
const HELLO_BYTES_MAX = 16_384;

/** RFC 8446, 4.1.2 and RFC 6066, 3. */
export function readHello(bytes: Buffer): Hello {
  if (bytes.length === 0) return { is: 'more' };
  if (bytes[0] !== HANDSHAKE) return { is: 'not_tls' };
  const handshake = joinRecords(bytes);
  if (handshake === 'broken') return { is: 'broken' };
  if (handshake.length < 4) return { is: 'more' };
  const length = handshake.readUIntBE(1, 3);
  if (handshake[0] !== CLIENT_HELLO || length > HELLO_BYTES_MAX) return { is: 'broken' };
  if (handshake.length < 4 + length) return { is: 'more' };
  try {
    return { is: 'tls', server_name: serverName(handshake.subarray(4, 4 + length)) };
  } catch {
    return { is: 'broken' };
  }
}

/** A message may be spread over several records, and each over several packets. */
function joinRecords(bytes: Buffer): Buffer | 'broken' {
  const parts: Buffer[] = [];
  for (let at = 0; at + RECORD_HEADER_BYTES <= bytes.length; ) {
    const length = bytes.readUInt16BE(at + 3);
    // After a whole message something else may follow; before it nothing may.
    if (bytes[at] !== HANDSHAKE) return parts.length === 0 ? 'broken' : Buffer.concat(parts);
    if (bytes[at + 1] !== 3 || length === 0 || length > RECORD_BYTES_MAX) return 'broken';
    const start = at + RECORD_HEADER_BYTES;
    parts.push(bytes.subarray(start, start + length));
    at = start + length;
  }
  return Buffer.concat(parts);
}

/** Reads on from where it is; throws at the end. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  number(bytes: 1 | 2): number {
    const value = this.#bytes.readUIntBE(this.#at, bytes);
    this.#at += bytes;
    return value;
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError('the message ends too soon');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

function serverName(hello: Buffer): string | undefined {
  const reader = new Reader(hello);
  reader.take(2 + 32); // version, random
  reader.take(reader.number(1)); // session id
  reader.take(reader.number(2)); // cipher suites
  reader.take(reader.number(1)); // compression
  if (reader.done) return undefined;
  const extensions = new Reader(reader.take(reader.number(2)));
  let found: string | undefined;
  while (!extensions.done) {
    const type = extensions.number(2);
    const content = extensions.take(extensions.number(2));
    if (type !== SERVER_NAME) continue;
    // Two of them would leave it to the server which one counts.
    if (found !== undefined) throw new RangeError('two server names');
    found = nameOf(new Reader(content));
  }
  return found;
}

function nameOf(content: Reader): string {
  const names = new Reader(content.take(content.number(2)));
  if (names.number(1) !== 0) throw new RangeError('a server name of an unknown type');
  const name = names.take(names.number(2));
  if (!names.done) throw new RangeError('two server names');
  return name.toString('latin1');
}
