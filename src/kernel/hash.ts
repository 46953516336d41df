import { hash } from 'node:crypto';

export const SHA256_BYTES = 32;

/** In hexadecimal digits. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}
