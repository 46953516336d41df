import { readFileSync } from 'node:fs';

/**
 * Read from the package itself, so that the version is written in one place; the relative path is the same
 * from src and from dist.
 */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
