import type { JsonObject } from '../../../kernel/json.ts';

/** Hashes of keys and tokens: nobody needs them who looks on. */
export function withoutSecrets({
  token_hash: _,
  hash: __,
  secret_hash: ___,
  ...data
}: JsonObject): JsonObject {
  return data;
}
