// Runs `npm ci` when what is installed does not match package-lock.json. Plain JavaScript without dependencies: it is
// started by whatever Node the machine has, before the pinned one exists. A sub folder may be named: `bench`.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LOCK_AGE_MS_MAX = 15 * 60_000;
const LOCK_POLL_MS = 200;

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, process.argv[2] ?? '.');
const marker = join(folder, 'node_modules', '.cox-installed');
const lock = join(folder, '.cox-installing');

/** The machine is part of the fingerprint: a node_modules copied from another platform does not count. */
function wanted() {
  const lockFile = readFileSync(join(folder, 'package-lock.json'));
  return createHash('sha256').update(lockFile).update(`${process.platform}-${process.arch}`).digest('hex');
}

function readOrNull(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** One try: true when the lock is ours. Hard-linking a finished file means the lock never exists without its pid. */
function tryLock() {
  const mine = `${lock}-${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

/** A holder that was killed leaves its file behind. Renaming lets only one of several waiters take it away. */
function dropStaleLock() {
  const holder = readOrNull(lock);
  if (holder === null) return;
  const age_ms = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (alive(Number(holder)) && age_ms < LOCK_AGE_MS_MAX) return;
  const taken = `${lock}-stale-${process.pid}`;
  try {
    renameSync(lock, taken);
    if (readOrNull(taken) !== holder) linkSync(taken, lock);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  }
  rmSync(taken, { force: true });
}

function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** The outer npm's settings must not leak into this install (`npm test --silent`, `--omit=dev`, `--dry-run` …), and
 *  neither may the node_modules/.bin it put on PATH: the `node` in there is about to be replaced. */
function cleanEnvironment() {
  const foreign =
    /^npm_(lifecycle|package)_|^npm_(command|execpath|node_execpath)$|^npm_config_(local_prefix|global|dry_run|omit|include|only|production|workspace|workspaces|include_workspace_root|ignore_scripts|json|package_lock|package_lock_only|loglevel|silent|if_present|prefix|dev|optional|save.*)$/i;
  const env = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!foreign.test(name) && name !== 'INIT_CWD') env[name] = value;
  }
  const pathName = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  env[pathName] = (env[pathName] ?? '')
    .split(delimiter)
    .filter((entry) => !/node_modules[\\/]\.bin[\\/]?$|node-gyp-bin[\\/]?$/.test(entry))
    .join(delimiter);
  return env;
}

/** `npm ci` would empty the folder behind a link, and that belongs to another checkout. */
function isBorrowed() {
  return lstatSync(join(folder, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function install() {
  process.stderr.write(`coxswain: installing dependencies in ${folder} …\n`);
  const done = spawnSync(
    'npm',
    ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--no-progress'],
    {
      cwd: folder,
      env: cleanEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      shell: process.platform === 'win32',
    },
  );
  if (done.status === 0) return 0;
  process.stderr.write(`${done.stdout ?? ''}${done.stderr ?? ''}`);
  const why = done.error ? done.error.message : (done.signal ?? `exit code ${done.status}`);
  process.stderr.write(`coxswain: \`npm ci\` in ${folder} failed (${why}); what it said is above.\n`);
  return done.status ?? 1;
}

function main() {
  if (readOrNull(join(folder, 'package-lock.json')) === null) {
    process.stderr.write(`coxswain: ${folder} has no package-lock.json; nothing can be installed there.\n`);
    return 1;
  }
  if (readOrNull(marker) === wanted()) return 0;
  if (isBorrowed()) {
    process.stderr.write(
      `coxswain: ${join(folder, 'node_modules')} is a link and does not match package-lock.json; it is used as it is. Remove the link to install here.\n`,
    );
    return 0;
  }
  let announced = false;
  while (!tryLock()) {
    if (!announced) process.stderr.write(`coxswain: another process is installing in ${folder}; waiting …\n`);
    announced = true;
    pause(LOCK_POLL_MS);
    dropStaleLock();
  }
  try {
    const fingerprint = wanted();
    if (readOrNull(marker) === fingerprint) return 0;
    const code = install();
    if (code === 0) writeFileSync(marker, fingerprint);
    return code;
  } finally {
    rmSync(lock, { force: true });
  }
}

/** The hook that agent clients start, when its sources are newer. Without it everything but those clients works. */
function buildHook() {
  const node = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(node)) return;
  const built = spawnSync(node, [join(root, 'scripts', 'build-hook.ts'), '--if-old'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (built.status !== 0)
    process.stderr.write('coxswain: the hook program could not be built; what was said is above.\n');
}

process.exitCode = main();
if (process.exitCode === 0 && folder === join(root, '.')) buildHook();
