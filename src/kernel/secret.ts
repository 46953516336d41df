import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 bits that can't be guessed. Never from a clock, a seed or a test's randomness. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** A public name for a secret: short enough to type, long enough that no two are the same. */
export function newSecretName(): string {
  return randomBytes(8).toString('hex').slice(0, 12);
}

/** What is stored of a secret. Salt and stretching are for passwords; trying 2²⁵⁶ texts is impossible. */
export function secretHash(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Constant time: the duration does not show where they differ. */
export function sameSecretHash(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
