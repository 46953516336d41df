import { fstatSync, readSync, writeSync } from 'node:fs';
import { runHook } from './answer-hook.ts';
import { readOrder } from './hook-call.ts';
import { handOn, isQuick, QUICK_BYTES_MAX } from './quick.ts';

const STDIN_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The program that clients start at their hooks. Exit code 0 whatever happened, for some of them take others as "block" or show
 * them as faults; 1 when we were not called as we should be.
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
 * Our own folder, or the name it had: an agent whose work tree was removed under it still calls, and is to be answered. Where it is, the
 * call says by itself.
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
 * By its number, for making a stream of it takes 4 ms, and a thread that waits for it 2. A client writes before it waits for us, and
 * what has come whole needs no end. The rest of a long one comes by the stream: the deadline holds, and a process can end
 * while it waits there, which a thread in a read would not let it.
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

/** Undefined: it can't be said without waiting, as with a person at a keyboard. */
function readNow(): Buffer | undefined {
  if (fstatSync(0).isCharacterDevice()) return undefined;
  const buffer = Buffer.allocUnsafe(QUICK_BYTES_MAX);
  try {
    return buffer.subarray(0, readSync(0, buffer));
  } catch (error) {
    // Windows' way of saying that a pipe has ended.
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
      // A full pipe of a client that reads soon; one that has gone does not want an answer.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
    }
  }
}
