// The bundle that bin/cox loads: in a checkout only while it is what the sources would be, and in the package always.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const places: string[] = [];
after(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true });
});

function place(): string {
  const made = mkdtempSync(join(tmpdir(), 'cox-bundle-'));
  places.push(made);
  return made;
}

function run(cwd: string, program: string, ...words: string[]): string {
  return give('', cwd, program, ...words);
}

function give(input: string, cwd: string, program: string, ...words: string[]): string {
  const { COX_BUNDLE: _, ...env } = process.env;
  const own = { ...env, COX_STATE_DIR: join(cwd, 'state') };
  return execFileSync(program, words, { cwd, input, encoding: 'utf8', env: own });
}

/** As it was cloned and installed, with its bundle. */
function checkout(): string {
  const made = place();
  for (const name of ['bin', 'src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json'])
    cpSync(join(root, name), join(made, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(made, 'node_modules'));
  return made;
}

function change(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8');
  assert.ok(text.includes(from), path);
  writeFileSync(path, text.replace(from, to));
}

/** The file of the bundle in which a text is. */
function packOf(made: string, text: string): string {
  const packs = readdirSync(join(made, 'dist')).filter((name) => /^cox-\w+\.cjs$/.test(name));
  const found = packs.find((name) => readFileSync(join(made, 'dist', name), 'utf8').includes(text));
  assert.ok(found !== undefined, text);
  return join(made, 'dist', found);
}

/** From now on the bundle answers otherwise than the sources, if it is what answers. */
function mark(made: string, from: string, to: string): void {
  change(packOf(made, from), from, to);
  for (const name of readdirSync(join(made, 'dist')))
    if (name.endsWith('.bin')) rmSync(join(made, 'dist', name));
}

test('[CLI-1] a checkout runs its bundle while every source is as it was, and else its sources', () => {
  const made = checkout();
  const help = () => run(made, process.execPath, join(made, 'bin/cox'), 'help', '--all');
  const build = () => run(made, process.execPath, join(made, 'scripts/build-cox.ts'), '--if-old');
  assert.match(help(), /Letters between agents\./, 'with nothing built');
  build();
  mark(made, 'Letters between', 'LETTERS between');
  assert.match(help(), /LETTERS between/, 'the bundle');
  change(join(made, 'src/transports/cli/program/command-groups.ts'), 'Letters between', 'Post between');
  assert.match(help(), /Post between/, 'the sources, one of which has changed');
  build();
  mark(made, 'Post between', 'POST between');
  assert.match(help(), /POST between/, 'the bundle, which was built anew');
  build();
  assert.match(help(), /POST between/, 'nothing was to be built');
});

const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

/** As npm installs it, from the tarball alone; what it depends on is linked. */
function installed(): string {
  const made = place();
  run(root, 'npm', 'pack', '--silent', '--pack-destination', made);
  const [tarball = ''] = readdirSync(made);
  const folder = join(made, 'node_modules', 'coxswain');
  mkdirSync(folder, { recursive: true });
  run(made, 'tar', '-xzf', join(made, tarball), '-C', folder, '--strip-components=1');
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    mkdirSync(join(made, 'node_modules', name, '..'), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(made, 'node_modules', name));
  }
  mkdirSync(join(made, 'work'));
  return made;
}

test('[CLI-1] the packed package runs: command line, MCP, hook and library', () => {
  const made = installed();
  const folder = join(made, 'node_modules', 'coxswain');
  const work = join(made, 'work');
  assert.deepEqual(readdirSync(folder).sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin',
    'dist',
    'package.json',
  ]);
  const cox = (...words: string[]) => run(work, process.execPath, join(folder, 'bin/cox'), ...words);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  assert.equal(cox('--version'), `${version}\n`);
  assert.match(cox('--help'), /Coordinates AI coding agents/);
  const lock = JSON.parse(cox('lock', 'acquire', 'a.ts', '--agent', 'ann', '--json')) as { action: string };
  assert.equal(lock.action, 'acquired');
  assert.match(cox('status'), /ann/);
  assert.match(cox('log'), /a\.ts/);
  const messages = [
    { id: 1, method: 'initialize', params: HELLO },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'acquire_lock', arguments: { file_path: 'a.ts' } } },
  ];
  const said = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  assert.match(give(said, work, process.execPath, join(folder, 'bin/cox'), 'mcp'), /locked_by.*ann/);
  const hook = run(work, process.execPath, join(folder, 'dist/hook.cjs'), 'claude-code', 'session-start');
  assert.equal(typeof hook, 'string');
  const script = `import { open } from 'coxswain';
    const coxswain = await open({ store: 'memory:' });
    await coxswain.close();
    process.stdout.write('opened');`;
  writeFileSync(join(work, 'use.mjs'), script);
  assert.equal(run(work, process.execPath, 'use.mjs'), 'opened');
});

test('[CLI-1] a stack names the functions of the bundle, and nothing in it names the machine that built it', () => {
  run(root, process.execPath, join(root, 'scripts/build-cox.ts'), '--if-old');
  const { files } = JSON.parse(readFileSync(join(root, 'dist/cox.json'), 'utf8')) as { files: string[] };
  const texts = files.map((name) => readFileSync(join(root, 'dist', name), 'utf8'));
  assert.ok(texts.some((text) => text.includes('function decideInside(')));
  for (const text of texts) {
    assert.ok(!text.includes(root), 'a path of this machine');
    assert.ok(text.split('\n').every((line) => line.length < 60_000));
  }
});
