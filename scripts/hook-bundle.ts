/**
 * Bundles the hook program into dist/hook.cjs and its parts. Clients start it before and after every tool, so it has to be there
 * in milliseconds: little is loaded, and that comes compiled.
 */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { QUICK } from '../src/transports/hooks/quick.ts';
import { asciiOf, MODULE_URL, moduleUrls } from './bundle-parts.ts';
import { withLazyConstants } from './lazy-constants.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');
const dist = join(root, 'dist');
const OLD_MS = 60_000;

interface Part {
  /** Relative to src. */
  readonly entry: string;
  /** What its sources import when they need it, and this part needs always. */
  readonly always?: readonly string[];
  /** Files whose classes it hardly ever makes one of: parts of their own, loaded by the first one. */
  readonly deferred?: Record<string, readonly string[]>;
}

/** Each a file of its own with its compiled code beside it: the three programs, and what they load by the first import of it. */
const PARTS: Record<string, Part> = {
  before: {
    entry: 'transports/hooks/hook-program.ts',
    always: ['./guarding.ts', './harmless.ts', './touched.ts'],
    deferred: { 'stores/sqlite/audit-trail.ts': ['SqliteTrail'] },
  },
  during: { entry: 'transports/hooks/hook-program.ts', always: ['./living.ts', './touched.ts'] },
  view: { entry: 'transports/run/shell-view.ts' },
  shell: { entry: 'features/guardrails/command-line.ts' },
  sweeps: { entry: 'transports/shared/whole-tree.ts' },
  judging: { entry: 'transports/hooks/judging.ts' },
  guardrails: { entry: 'features/guardrails/project-file.ts' },
  sql: { entry: 'features/guardrails/sql/assess-sql.ts' },
  notify: { entry: 'features/trust/notify/detached.ts' },
  cedar: { entry: 'features/trust/cedar/cedar-engine.ts' },
  entities: { entry: 'runtime/entities.ts' },
  trail: { entry: 'stores/sqlite/audit-trail.ts' },
  cleaning: { entry: 'features/sessions/reclaim.ts' },
  search: { entry: 'ledger/audit/search.ts' },
  team: { entry: 'features/teams/team-file.ts' },
  usage: { entry: 'features/trust/operations/report-usage-operation.ts' },
  postgres: { entry: 'stores/postgres/store.ts' },
  dynamodb: { entry: 'stores/dynamodb/store.ts' },
  files: { entry: 'stores/files/store.ts' },
  lines: { entry: 'features/claims/fleet/foreign-claims.ts' },
};

function partOf(file: string): string | undefined {
  return Object.keys(PARTS).find((name) => PARTS[name]?.entry === file);
}

/** Behind imports that no hook ever makes. */
const UNREACHED =
  /(?:guarding|living|schemas(?:\/[\w-]+)?|seat\/(?:seat|follower)|\/send|\/port-state|\/taken-ports|memory\/store|runtime\/commands|\.\/commands|claim-proposals|open-place|views\/show-converged|files\/folder-layout|audit\/sealing|network-settings)\.ts$/;

/** Imported, but used by no hook: a file of `src` and what it exports. A use fails. */
const UNUSED: Record<string, readonly string[]> = {
  'runtime/waiting.ts': ['storeHints', 'waitFor'],
};

/**
 * Loading node:crypto takes 8 ms, the others one to four: in the bundle each is loaded by the first call of a function of
 * it, which most hooks never make. A name that is missing here fails the build.
 */
const LAZY: Record<string, readonly string[]> = {
  'node:crypto': ['createHash', 'hash', 'randomBytes', 'timingSafeEqual'],
  'node:child_process': ['execFile', 'spawn', 'spawnSync'],
  'node:net': ['connect', 'createServer'],
  'node:os': ['homedir', 'tmpdir'],
  'node:timers/promises': ['setTimeout'],
};

const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) =>
      path in LAZY ? { path, namespace: 'lazy', sideEffects: false } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path }) => ({
      contents: (LAZY[path] ?? [])
        .map(
          (name) =>
            `export const ${name} = (...args) => process.getBuiltinModule('${path}').${name}(...args);`,
        )
        .join('\n'),
    }));
    // Small and at hand, where node:zlib is 2 ms away.
    onResolve({ filter: /^node:zlib$/ }, () => ({ path: join(source, 'kernel', 'crc32.ts') }));
  },
};

/** After those that rewrite a file in another way, which is left to them. */
const lazyConstants: Plugin = {
  name: 'lazy-constants',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: withLazyConstants(readFileSync(path, 'utf8')),
    }));
  },
};

/** So that a part carries only the decisions it makes, and the store it is about to open at once. */
const shaken = ({ always = [] }: Part): Plugin => ({
  name: 'shaken',
  setup({ onLoad }) {
    const rewrite = (file: string, change: (text: string) => string) =>
      onLoad({ filter: new RegExp(`/src/${file.replaceAll('.', '\\.')}$`) }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        const changed = change(text);
        if (changed === text) throw new Error(`${file} is no longer as this script expects it`);
        return { loader: 'ts', contents: changed };
      });
    onLoad(
      { filter: /\/src\/features\/(?:[\w-]+\/(?:reclaim-)?commands|trust\/calls)\.ts$/ },
      ({ path }) => ({
        loader: 'ts',
        contents: readFileSync(path, 'utf8').replaceAll(
          / = (?=(?:command|Object\.assign)\()/g,
          ' = /* @__PURE__ */ ',
        ),
      }),
    );
    rewrite('transports/hooks/hook-entities.ts', (text) =>
      text.replace(/\{\n {2}const \{ url \}[\s\S]*?\n\}\n/, "{ return loadPart('entities').entities; }\n"),
    );
    rewrite('stores/open-store.ts', (text) =>
      text.replace(
        /const (\{ openSqlite \}) = await import\((.*?)\);(.*)/s,
        (_, name, file, rest) => `${rest}\nimport ${name} from ${file};`,
      ),
    );
    rewrite('transports/hooks/answer-hook.ts', (text) =>
      always.reduce((before, file, index) => {
        const name = `always${index}`;
        const after = before.replaceAll(`await import('${file}')`, name);
        return `import * as ${name} from '${file}';\n${after}`;
      }, text),
    );
  },
});

const parts = ({ deferred = {} }: Part): Plugin => ({
  name: 'parts',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, kind, resolveDir }) => {
      const imported = relative(source, join(resolveDir, path));
      if (imported in deferred) return { path: imported, namespace: 'deferred' };
      if (imported in UNUSED) return { path: imported, namespace: 'unused' };
      // No file of ours does anything by being imported: an unused file is left out whole.
      if (kind !== 'dynamic-import') return { path: join(resolveDir, path), sideEffects: false };
      if (UNREACHED.test(path)) return { path, namespace: 'unreached' };
      const part = partOf(imported);
      return part === undefined ? undefined : { path: part, namespace: 'part' };
    });
    onLoad({ filter: /.*/, namespace: 'part' }, ({ path }) => ({
      contents: `module.exports = loadPart('${path}')`,
    }));
    onLoad({ filter: /.*/, namespace: 'deferred' }, ({ path }) => ({
      contents: (deferred[path] ?? [])
        .map(
          (name) =>
            `export function ${name}(...given) { return new (loadPart('${partOf(path)}').${name})(...given); }`,
        )
        .join('\n'),
    }));
    onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({
      contents: (UNUSED[path] ?? [])
        .map((name) => `export function ${name}() { throw new Error('${name} is not part of the hook'); }`)
        .join('\n'),
    }));
    onLoad({ filter: /.*/, namespace: 'unreached' }, ({ path }) => ({
      contents: `throw new Error('${path} is not part of the hook')`,
    }));
  },
});

/**
 * Code that has run once, as V8 compiled it: Node's own compile cache keeps only what is compiled before anything runs, and
 * the rest took longer than the whole decision. A cache of another V8 is not taken: the source is compiled, and that kept.
 * It is all ASCII (`asciiOf`), which is read in half the time, and half as long in V8's hands.
 * V8 takes no code that was compiled under other flags, and some hooks are started with one (src/transports/hooks/quick.ts): each way of
 * starting has a cache of its own.
 * Node's loader takes some 20 µs to find a module of its own again, and each source file asks for its own: hence `need`.
 */
const LOAD_PART = `const scripts = {}, builtins = {};
const END = process.execArgv.includes('${QUICK}') ? '.quick.bin' : '.bin';
function need(name) {
  return builtins[name] ??= process.getBuiltinModule(name) ?? require(name);
}
function loadPart(name) {
  const { readFileSync } = need('node:fs'), { Script } = need('node:vm');
  const filename = __dirname + '/' + FILES[name] + '.cjs';
  let cachedData;
  try { cachedData = readFileSync(__dirname + '/' + FILES[name] + END); } catch {}
  const script = scripts[FILES[name]] = new Script(readFileSync(filename, 'latin1'), { filename, cachedData });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, need, module, filename, __dirname, loadPart);
  return module.exports;
}
function keepCompiled() {
  const { renameSync, writeFileSync } = require('node:fs');
  for (const [file, script] of Object.entries(scripts)) {
    if (script.cachedDataRejected === false) continue;
    const aside = __dirname + '/' + file + '.' + process.pid + '.new';
    try {
      writeFileSync(aside, script.createCachedData());
      renameSync(aside, __dirname + '/' + file + END);
    } catch {}
  }
}`;

/** As little as can be: this is the only code that is not there compiled. */
const START = `const PROGRAMS = { 'before-tool': 'before', 'shell-view': 'view' };
const program = (event) => loadPart(PROGRAMS[event] ?? 'during');
if (require.main === module) program(process.argv[3]).start(keepCompiled);
else module.exports = { program, scripts, END };`;

async function bundle(part: Part, banner: string, footer: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(source, part.entry)],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    minify: process.env.COX_READABLE !== '1',
    // As require(), which has no second loader to start.
    supported: { 'dynamic-import': false },
    banner: { js: banner },
    footer: { js: footer },
    // Needed only with such a store or a team; they stay where they are installed.
    external: ['pg', '@aws-sdk/client-dynamodb', 'yaml', 'zod', 'libpg-query', '@cedar-policy/cedar-wasm'],
    plugins: [parts(part), lazyBuiltins, shaken(part), moduleUrls, lazyConstants],
    logLevel: 'warning',
  });
  return outputFiles[0]?.text ?? '';
}

/** Agents may be at work, and other builds: no hook must ever meet half a file. */
function write(name: string, text: string): void {
  const path = join(dist, name);
  const aside = `${path}.${process.pid}.new`;
  writeFileSync(aside, text);
  renameSync(aside, path);
}

/**
 * A part's name says what is in it: V8 takes compiled code for any source of the same length, and a hook that has just
 * started finds the parts of its own build.
 */
async function buildParts(): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const [name, part] of Object.entries(PARTS)) {
    if (!existsSync(join(source, part.entry))) continue;
    const head = `(function(exports, require, module, __filename, __dirname, loadPart) {${MODULE_URL}`;
    const text = asciiOf(await bundle(part, head, '})'));
    files[name] = `hook-${name}-${hash('sha256', text).slice(0, 12)}`;
    write(`${files[name]}.cjs`, text);
  }
  return files;
}

/** What earlier builds have left; not so soon that one of their hooks could still want it. */
function removeOld(kept: ReadonlySet<string>): void {
  for (const name of readdirSync(dist)) {
    const path = join(dist, name);
    if (
      !/^hook[-.].*\.(?:cjs|bin|new)$/.test(name) ||
      kept.has(name.replace(/\.(?:cjs|quick\.bin|bin)$/, ''))
    )
      continue;
    if (Date.now() - statSync(path).mtimeMs > OLD_MS) rmSync(path, { force: true });
  }
}

/** Answers an exit code. */
export async function buildHook(): Promise<number> {
  mkdirSync(dist, { recursive: true });
  const files = await buildParts();
  write('hook.cjs', `const FILES = ${JSON.stringify(files)};\n${LOAD_PART}\n${START}\n`);
  removeOld(new Set(['hook', ...Object.values(files)]));
  const trainer = join(root, 'scripts', 'train-hook.cjs');
  for (const flags of [[], [QUICK]]) {
    const { status } = spawnSync(process.execPath, [...flags, trainer, dist], { stdio: 'inherit' });
    if (status !== 0) return status ?? 1;
  }
  return 0;
}
