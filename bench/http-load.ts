/** HTTP from bare sockets: whatever the client costs is taken from both sides alike, so it should cost little. */
import { connect, type Socket } from 'node:net';
import { API_KEY } from './processes.ts';

const HEAD_END = Buffer.from('\r\n\r\n');

/** One kept-alive connection, one request at a time. */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #host: string;
  #received: Buffer = Buffer.alloc(0);
  #answered: ((body: string) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  constructor(url: URL) {
    this.#host = url.host;
    this.#socket = connect(Number(url.port), url.hostname);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#socket.on('error', (error) => this.#failed?.(error));
    this.#socket.on('close', () => this.#failed?.(new Error('the server closed the connection')));
  }

  post(path: string, agent: string, body: string): Promise<string> {
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${this.#host}\r\nx-api-key: ${API_KEY}\r\nx-agent-id: ${agent}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
    });
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const head = this.#received.indexOf(HEAD_END);
    if (head === -1) return;
    const headers = this.#received.toString('latin1', 0, head);
    const length = Number(/^content-length: (\d+)/im.exec(headers)?.[1] ?? 0);
    const end = head + HEAD_END.length + length;
    if (this.#received.length < end) return;
    const body = this.#received.toString('utf8', head + HEAD_END.length, end);
    this.#received = this.#received.subarray(end);
    if (headers.startsWith('HTTP/1.1 200')) this.#answered?.(body);
    else this.#failed?.(new Error(`${headers.split('\r\n', 1)[0]}: ${body}`));
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }
}
