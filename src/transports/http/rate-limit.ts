import { isIPv6 } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';

interface Bucket {
  tokens: number;
  at_ms: number;
}

export interface Rate {
  /** This many at once … */
  readonly burst: number;
  /** … and one more after each such period. */
  readonly refill_ms: number;
}

/** A token bucket for each name. Names may come from clients, so only a limited number is remembered. */
export class Buckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #rate: Rate;
  readonly #clock: Clock;
  readonly #names_max: number;

  constructor(rate: Rate, clock: Clock, names_max = 10_000) {
    this.#rate = rate;
    this.#clock = clock;
    this.#names_max = names_max;
  }

  /** 0: taken. Otherwise the seconds until one is available. */
  take(name: string): number {
    const bucket = this.#filled(name);
    if (bucket.tokens < 1) return Math.max(1, Math.ceil(((1 - bucket.tokens) * this.#rate.refill_ms) / 1000));
    bucket.tokens -= 1;
    return 0;
  }

  giveBack(name: string): void {
    const bucket = this.#filled(name);
    bucket.tokens = Math.min(this.#rate.burst, bucket.tokens + 1);
  }

  get size(): number {
    return this.#buckets.size;
  }

  #filled(name: string): Bucket {
    const { burst, refill_ms } = this.#rate;
    const now_ms = this.#clock.elapsed_ms();
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) {
      bucket.tokens = Math.min(burst, bucket.tokens + (now_ms - bucket.at_ms) / refill_ms);
      bucket.at_ms = now_ms;
      return bucket;
    }
    const fresh = { tokens: burst, at_ms: now_ms };
    this.#buckets.set(name, fresh);
    if (this.#buckets.size > this.#names_max) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    return fresh;
  }
}

/** A host with one IPv6 address has 2⁶⁴ of them, so the network is what counts. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const after = tail?.split(':').filter((group) => group !== '') ?? [];
  while (tail !== undefined && groups.length + after.length < 8) groups.push('0');
  return `${[...groups, ...after].slice(0, 4).join(':')}::/64`;
}
