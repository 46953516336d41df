/** Bundles the command line, with all servers and runners in it, into a few files in dist, which bin/cox loads (bin/bundle.cjs). */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin, transform } from 'esbuild';
import { asciiOf, moduleUrls } from './bundle-parts.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');
const dist = join(root, 'dist');
const OLD_MS = 60_000;
const ENTRY = 'transports/cli/cox.ts';
const require = createRequire(import.meta.url);
const { stateOf } = require('../bin/bundle.cjs') as {
  stateOf(path: string): string | undefined;
};

/** Installed beside it: needed with some stores and features only, and some bring files of their own. */
const EXTERNAL = ['pg', '@aws-sdk/*', 'libpg-query', '@cedar-policy/cedar-wasm', 'e2b'];

/** What `require` would find is a form with a loader of its own, which can't be followed. */
const WITHOUT_LOADER = { 'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js') };

/** What shapes the bundle besides the sources. */
const BUILT_BY = ['scripts/cox-bundle.ts', 'scripts/bundle-parts.ts', 'bin/bundle.cjs', 'package-lock.json'];

/** Modules of Node's that take up to 6 ms to load. */
const SLOW = [
  'node:child_process',
  'node:crypto',
  'node:fs/promises',
  'node:http',
  'node:https',
  'node:net',
  'node:os',
  'node:perf_hooks',
  'node:readline',
  'node:stream',
  'node:timers/promises',
  'node:tls',
  'node:zlib',
];

/** As cox.json in dist has it. */
interface Built {
  readonly entry: string;
  readonly files: readonly string[];
  /** In which of the files each chunk is. */
  readonly chunks: Readonly<Record<string, number>>;
  /** Modules of Node's that are loaded when something of them is first used, and what each of them has. */
  readonly slow: Readonly<Record<string, readonly string[]>>;
  readonly sources: Readonly<Record<string, string | undefined>>;
}

/** From the sources it finds a file beside itself; here that file is in the bundle. */
const ownEntities: Plugin = {
  name: 'own-entities',
  setup({ onLoad }) {
    onLoad({ filter: /\/hooks\/hook-entities\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const contents = text
        .replace(/\{\n {2}const \{ url \}[\s\S]*?\n\}\n/, '{ return everyEntity; }\n')
        .replace(/^/, "import { entities as everyEntity } from '../../runtime/entities.ts';\n");
      if (!contents.includes('return everyEntity')) throw new Error(`${path} is no longer as expected`);
      return { loader: 'ts', contents };
    });
  },
};

/** An object with all of zod in it can't be left out in part, and most of it is used by none of ours. */
const usedOfZod: Plugin = {
  name: 'used-of-zod',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes("import { z } from 'zod'") || text.includes('import.meta.url')) return undefined;
      return { loader: 'ts', contents: text.replace("import { z } from 'zod'", "import * as z from 'zod'") };
    });
  },
};

interface Chunks {
  readonly entry: string;
  readonly texts: ReadonlyMap<string, string>;
  readonly sources: readonly string[];
}

/** As modules that load each other by name. */
async function chunksOf(): Promise<Chunks> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(source, ENTRY)],
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    outdir: dist,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    legalComments: 'none',
    external: EXTERNAL,
    alias: WITHOUT_LOADER,
    plugins: [ownEntities, usedOfZod, moduleUrls],
    logLevel: 'warning',
  });
  const texts = new Map<string, string>();
  for (const { path, text } of outputFiles) texts.set(`./${basename(path)}`, await asFunction(text));
  for (const [name, text] of texts)
    for (const [, needed = ''] of text.matchAll(/\brequire\d*\(\s*["'](\.[^"']*)["']\s*\)/g))
      if (!texts.has(needed)) throw new Error(`${name} needs ${needed}, which is not in the bundle`);
  const sources = Object.keys(metafile.inputs).filter((path) => path.startsWith('src/'));
  return { entry: './cox.js', texts, sources };
}

/** Names stay and lines are short enough, so that a stack can be read. */
async function asFunction(text: string): Promise<string> {
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160,
    // As require(), which has no second loader to start.
    supported: { 'dynamic-import': false },
  });
  return `(exports, require, module, moduleUrl) {${asciiOf(code)}}`;
}

/** Other processes may be at work, and other builds: none must ever meet half a file. */
function write(name: string, text: string): void {
  const path = join(dist, name);
  const aside = `${path}.${process.pid}.new`;
  writeFileSync(aside, text);
  renameSync(aside, path);
}

/** A file's name says what is in it: V8 takes compiled code for any source of the same length. */
function pack({ texts }: Chunks, names: readonly string[]): string {
  const members = names.map((name) => `${JSON.stringify(name)}${texts.get(name)}`);
  const text = `module.exports = {\n${members.join(',\n')}\n};\n`;
  const file = `cox-${hash('sha256', text).slice(0, 12)}.cjs`;
  write(file, text);
  return file;
}

function packAll(all: Chunks, groups: readonly (readonly string[])[]): Omit<Built, 'sources'> {
  const used = groups.filter((names) => names.length > 0);
  const files = used.map((names) => pack(all, names));
  const chunks = Object.fromEntries(used.flatMap((names, index) => names.map((name) => [name, index])));
  const slow = Object.fromEntries(SLOW.map((name) => [name, Object.keys(require(name) as object)]));
  return { entry: all.entry, files, chunks, slow };
}

/**
 * What most commands load, what `cox mcp` loads besides, and the rest: V8 takes a file as a whole, and a process need not have what it
 * never uses.
 */
function grouped(all: Chunks): string[][] {
  const whole = join(dist, `cox-whole.${process.pid}.json`);
  const built = packAll(all, [[...all.texts.keys()]]);
  writeFileSync(whole, JSON.stringify(built));
  try {
    const [quick = [], mcp = []] = ['quick', 'mcp'].map((what) => train(['--used', what, whole]).split('\n'));
    const first = new Set(quick);
    const second = new Set(mcp.filter((name) => !first.has(name)));
    const rest = [...all.texts.keys()].filter((name) => !first.has(name) && !second.has(name));
    return [[...first], [...second], rest].map((names) => names.sort());
  } finally {
    rmSync(whole);
    for (const file of built.files) rmSync(join(dist, file), { force: true });
  }
}

/** Runs the bundle through what is done most. */
function train(args: readonly string[]): string {
  const trainer = join(root, 'scripts', 'train-cox.cjs');
  const { status, stdout } = spawnSync(process.execPath, [trainer, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${trainer} ${args.join(' ')} ended with ${status}`);
  return stdout.trim();
}

/** What earlier builds have left; not so soon that a process which has just started could still want it. */
function removeOld(kept: readonly string[]): void {
  for (const name of readdirSync(dist)) {
    if (!/^cox-[0-9a-f]{12}[-.].*(?:cjs|bin|new)$/.test(name)) continue;
    const path = join(dist, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (kept.some((file) => name.startsWith(file.replace(/\.cjs$/, ''))) || found === undefined) continue;
    if (Date.now() - found.mtimeMs > OLD_MS) rmSync(path, { force: true });
  }
}

function allSources(): string[] {
  return readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
}

export async function buildCox(): Promise<void> {
  mkdirSync(dist, { recursive: true });
  // Read before the sources are: what is changed meanwhile shows as changed.
  const before = new Map([...allSources(), ...BUILT_BY].map((path) => [path, stateOf(path)]));
  const all = await chunksOf();
  const packed = packAll(all, grouped(all));
  const sources = Object.fromEntries([...all.sources, ...BUILT_BY].map((path) => [path, before.get(path)]));
  const built: Built = { ...packed, sources };
  write('cox.json', `${JSON.stringify(built)}\n`);
  removeOld(built.files);
  for (const what of ['quick', 'mcp']) train(['--keep', what]);
}
