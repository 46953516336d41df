import type { JsonObject } from '../../../kernel/json.ts';

/** Hashes of keys and tokens: a person who looks on does not need them. */
export function withoutSecrets({
  token_hash: _,
  hash: __,
  secret_hash: ___,
  ...data
}: JsonObject): JsonObject {
  return data;
}
