import { hash, randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';

export interface Random {
  bytes(count: number): Uint8Array;
  /** In [0, 1). */
  fraction(): number;
}

/** Asking the system for 16 bytes at a time costs more than the rest of making an id. */
const POOL_BYTES = 4096;
let pool: Uint8Array = new Uint8Array(0);
let used = POOL_BYTES;

export const systemRandom: Random = {
  bytes(count) {
    if (count > POOL_BYTES) return randomBytes(count);
    if (used + count > POOL_BYTES) {
      pool = randomBytes(POOL_BYTES);
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  },
  fraction: () => Math.random(),
};

export interface Ids {
  /** UUIDv7: ordered by time, and within a millisecond by call, so that appending to an index stays at its end. */
  uuid(): string;
}

export function createIds(clock: Clock, random: Random): Ids {
  let last_ms = 0;
  let sequence = 0;
  let time = timePart(0);
  return {
    uuid() {
      const bytes = random.bytes(16);
      const now_ms = clock.now_ms();
      if (now_ms > last_ms) {
        last_ms = now_ms;
        time = timePart(now_ms);
        // 31 random bits leave room to count up within the millisecond.
        sequence = ((bytes[0] ?? 0) & 0x7f) * 0x1000000 + (bytes[1] ?? 0) * 0x10000 + (bytes[2] ?? 0);
      } else {
        sequence += 1;
      }
      return time + countedPart(sequence, bytes);
    },
  };
}

/**
 * RFC 9562: 48 bits of time, 32 that count within the millisecond, the rest random. Written by hand: the
 * usual package builds a table of 256 texts when it is loaded, which takes a hook longer than its few ids.
 */
function timePart(time_ms: number): string {
  const time = hex(Math.floor(time_ms / 0x1000000), 6) + hex(time_ms % 0x1000000, 6);
  return `${time.slice(0, 8)}-${time.slice(8)}-`;
}

function countedPart(sequence: number, random: Uint8Array): string {
  const byte = (index: number) => byteText(random[index] ?? 0);
  const version = byteText(0x70 | ((sequence >>> 28) & 0x0f)) + byteText((sequence >>> 20) & 0xff);
  const variant = byteText(0x80 | ((sequence >>> 14) & 0x3f)) + byteText((sequence >>> 6) & 0xff);
  const node = byteText(((sequence << 2) & 0xff) | ((random[10] ?? 0) & 0x03));
  return `${version}-${variant}-${node}${byte(11)}${byte(12)}${byte(13)}${byte(14)}${byte(15)}`;
}

const byteTexts = new Array<string | undefined>(256);

function byteText(byte: number): string {
  const known = byteTexts[byte];
  if (known !== undefined) return known;
  const text = hex(byte, 2);
  byteTexts[byte] = text;
  return text;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** The same key always gives the same UUID (version 8: our own bits), so that creating by key needs no second entity. */
export function uuidFromKey(key: string): string {
  const hex = hash('sha256', key, 'hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * The same, but sorted next to the ids made at the time of `id` (a UUIDv7): at random places each would touch
 * a page of its own.
 */
export function uuidBeside(id: string, key: string): string {
  const time_chars = 13;
  return id.slice(0, time_chars) + uuidFromKey(key).slice(time_chars);
}

/** 128 bits are enough to tell two inputs apart; the short form keeps rows small. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
