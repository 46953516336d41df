import { fstatSync, readSync, writeSync } from 'node:fs';
import { runHook } from './answer-hook.ts';
import { readOrder } from './hook-call.ts';
import { handOn, isQuick, QUICK_BYTES_MAX } from './quick.ts';

const STDIN_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The program that clients start for their hooks. Exit code 0 whatever happened, because some clients treat
 * other codes as "block" or show them as errors; 1 if we were called wrongly.
 */
export async function main(argv: readonly string[]): Promise<number> {
  const order = readOrder(argv);
  if (typeof order === 'string') {
    process.stderr.write(`cox hook: ${order}\n`);
    return 1;
  }
  const { text, close } = await runHook(order, { read: readStdin, env: process.env, cwd: whereabouts() });
  writeOut(text);
  await close();
  return 0;
}

/**
 * Our working folder, or the path it had: an agent whose work tree was removed still calls us and needs an
 * answer. The call itself says where the agent is.
 */
function whereabouts(): string {
  try {
    return process.cwd();
  } catch {
    const { PWD = '' } = process.env;
    return PWD.startsWith('/') ? PWD : '/';
  }
}

/**
 * Read by file descriptor, because creating a stream takes 4 ms and a thread waiting for it takes 2. A client
 * writes before it waits for us, and once the JSON is complete we need no end of file. The rest of a long
 * input is read with a stream, so the deadline holds: a process can end while a stream waits, but not while a
 * thread is in a read.
 */
async function readStdin(): Promise<string> {
  const first = readNow();
  if (first !== undefined && first.length < QUICK_BYTES_MAX && (first.length === 0 || isWhole(first)))
    return first.toString('utf8');
  const chunks = first === undefined ? [] : [first];
  let total = first?.length ?? 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > STDIN_BYTES_MAX) throw new Error(`the payload has more than ${STDIN_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  const whole = Buffer.concat(chunks);
  // Nothing has been opened yet.
  if (isQuick() && total >= QUICK_BYTES_MAX) process.exit(handOn(whole));
  return whole.toString('utf8');
}

/** Undefined: it can't be read without waiting, for example from a keyboard. */
function readNow(): Buffer | undefined {
  if (fstatSync(0).isCharacterDevice()) return undefined;
  const buffer = Buffer.allocUnsafe(QUICK_BYTES_MAX);
  try {
    return buffer.subarray(0, readSync(0, buffer));
  } catch (error) {
    // On Windows this code means that the pipe has ended.
    return (error as NodeJS.ErrnoException).code === 'EOF' ? buffer.subarray(0, 0) : undefined;
  }
}

function isWhole(chunk: Buffer): boolean {
  try {
    JSON.parse(chunk.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

function writeOut(text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      // The pipe of a client that reads soon may be full; a client that has gone wants no answer.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
    }
  }
}
