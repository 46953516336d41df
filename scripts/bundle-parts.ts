/** What the bundles of the command line and of the hook have in common. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

const source = join(fileURLToPath(new URL('..', import.meta.url)), 'src');

/** A CommonJS file has no `import.meta`: files that lie beside a source are found from where the bundle lies. */
export const moduleUrls: Plugin = {
  name: 'module-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const name = JSON.stringify(relative(source, path));
      return { loader: 'ts', contents: text.replaceAll('import.meta.url', `moduleUrl(${name})`) };
    });
  },
};

/** A checkout has the sources; a package has only what was compiled from them, beside the bundle. */
export const MODULE_URL = `function moduleUrl(name) {
  const { existsSync } = require('node:fs'), { join } = require('node:path');
  const source = join(__dirname, '..', 'src', name);
  const found = existsSync(source) ? source : join(__dirname, name.replace(/\\.ts$/, '.js'));
  return require('node:url').pathToFileURL(found).href;
}`;

/**
 * The bundler writes everything so but for what stands in regular expressions. A file that is all ASCII is read in half the time, and
 * half as long in V8's hands.
 */
export function asciiOf(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
