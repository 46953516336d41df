// Is the bundled hook missing, or older than what it is made from? Plain JavaScript: install-missing.mjs asks on any Node.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export function hookIsOld(root) {
  const built = statSync(join(root, 'dist', 'hook.cjs'), { throwIfNoEntry: false });
  if (built === undefined) return true;
  const sources = ['src', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(root, folder, name)),
  );
  const newest_ms = Math.max(
    ...[...sources, join(root, 'package-lock.json')].map((path) => statSync(path).mtimeMs),
  );
  return newest_ms > built.mtimeMs;
}
