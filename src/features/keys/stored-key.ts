import { sameSecretHash, secretHash } from '../../kernel/secret.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { apiKey, isLive, type KeyState } from './state.ts';

const KEY = /^cox(p?)_([0-9a-f]{12})_([\w-]{43})$/;

export interface StoredKey {
  readonly id: string;
  readonly key: KeyState;
  readonly now_ms: number;
}

/**
 * The stored key that a presented text matches; undefined if it is unknown, revoked, expired or no key at
 * all.
 */
export async function storedKey(
  { store, project }: Pick<Coxswain, 'store' | 'project'>,
  presented: string,
): Promise<StoredKey | undefined> {
  const [, isPersons, id, secret] = KEY.exec(presented) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const { loaded, now_ms } = await store.find(project, { keys: [apiKey(id)] });
  const key = loaded.get<KeyState>(apiKey(id))?.state;
  if (key === undefined || !sameSecretHash(key.hash, secretHash(secret)) || !isLive(key, now_ms))
    return undefined;
  return (key.role === 'person') === (isPersons === 'p') ? { id, key, now_ms } : undefined;
}
