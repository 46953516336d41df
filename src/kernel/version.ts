import { readFileSync } from 'node:fs';

/** From the package itself, so that a version is written down once; the same distance from src and from dist. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
