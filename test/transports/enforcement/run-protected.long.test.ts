import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { until } from '../../support/until.ts';
import { COX, type Finished, Place, type Repository } from './support.ts';
import { type Way, waysToChange } from './ways-to-change.ts';

/** No way to change a file is known to the code that is tested: the kernel refuses the write. */
function inRun(
  repository: Repository,
  flags: readonly string[],
  command: readonly string[],
  env: Record<string, string> = {},
  time_ms_max?: number,
): Finished {
  const words = [COX, 'run', '--protect', 'require', ...flags, '--', ...command];
  return repository.run(process.execPath, words, env, '', time_ms_max);
}

/** Some 30 seconds, on a machine that does nothing else. */
const CORPUS_MS_MAX = 300_000;
/** What the held file is before each way: not what was committed. */
const CHANGED = 'first line, changed\nsecond line\n';

/** Where the programs of this project's own dependencies are, and Python itself: what stands for it may take a while to find it. */
function programs(place: Place): Record<string, string> {
  const BIN = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
  const PATH = stdout ? `${dirname(stdout.trim())}:${place.env.PATH}` : (place.env.PATH ?? '');
  return { BIN, PATH, CHANGED: CHANGED.trimEnd() };
}

/** Of what a file is, with its mode, owner and times. */
interface FileState {
  readonly content: string;
  readonly about: string;
}

function stateOf(path: string): FileState {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return { content: 'gone', about: '' };
  const { mode, uid, gid, nlink, mtimeNs, ctimeNs } = found;
  const about = [mode.toString(8), uid, gid, nlink, mtimeNs, ctimeNs].join(' ');
  if (!found.isFile()) return { content: found.isSymbolicLink() ? 'a link' : 'no file', about };
  return { content: createHash('sha256').update(readFileSync(path)).digest('hex'), about };
}

/** A place in which each way has a file of its own, so that one run can try them all. */
function prepared(place: Place, name: string, ways: readonly Way[]): Repository {
  const repository = place.repository(name);
  for (const [index] of ways.entries()) {
    const folder = join(repository.root, `w${index}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'held.txt'), 'first line\nsecond line\n');
    writeFileSync(join(folder, 'other.txt'), 'something else\n');
    linkSync(join(folder, 'held.txt'), join(folder, 'linked.txt'));
  }
  repository.must('add', '.');
  repository.must('commit', '-qm', 'files');
  for (const [index] of ways.entries())
    writeFileSync(join(repository.root, `w${index}`, 'held.txt'), CHANGED);
  return repository;
}

/** The same in a file that no earlier way has changed; says its number if the content changes, and with a minus if only the rest does. */
function controlOf({ script }: Way, index: number): string {
  const about = 'stat -c "%F %a %u %g %h %.Y %.Z" "$here"';
  return `(cd w${index} && rm -f held.txt && printf '${CHANGED.replaceAll('\n', '\\n')}' > held.txt && ln -f held.txt linked.txt &&
here=$PWD/held.txt; about=$(${about}); { (${script}
) } </dev/null >/dev/null 2>&1
[ -f "$here" ] && [ ! -L "$here" ] && [ "$(<"$here")" = "$CHANGED" ] || { echo ${index}; exit; }; [ "$(${about})" = "$about" ] || echo -${index}) 2>/dev/null\n`;
}

/** In its folder; whether it succeeds is not asked. */
function tried({ script }: Way, index: number): string {
  return `(cd w${index} && { ${script}\n} </dev/null >/dev/null 2>&1)\n`;
}

/** Longer than one argument of a program may be. */
function written(place: Place, parts: readonly string[]): string {
  const path = join(place.folder, `script-${parts.length}`);
  writeFileSync(path, parts.join(''));
  return path;
}

test('[LOCK-12] in a protected run no way to write changes a held file, and outside each of them does', async (t) => {
  using place = new Place();
  const ways = waysToChange();
  const env = programs(place);
  const heldOf = (repository: Repository) =>
    ways.map((_, index) => stateOf(join(repository.root, `w${index}`, 'held.txt')));

  const control = prepared(place, 'outside', ways);
  const { out } = control.run('bash', [written(place, ways.map(controlOf))], env, '', CORPUS_MS_MAX);
  // A program that this machine does not have changes nothing, and proves nothing.
  const said = new Set(out.split('\n'));
  const working = ways.filter((_, index) => said.has(String(index)));
  const besides = ways.filter((_, index) => said.has(`-${index}`));
  const idle = ways.filter((way) => !working.includes(way) && !besides.includes(way)).map(({ name }) => name);
  t.diagnostic(
    `${working.length} of ${ways.length} ways change a file here, ${besides.length} its mode, owner, times or names; not: ${idle.join(' ¦ ')}`,
  );
  assert.ok(working.length >= 300, `only ${working.length} ways work here`);

  const repository = prepared(place, 'inside', ways);
  const held = ways.map((_, index) => `w${index}/held.txt`);
  for (let start = 0; start < held.length; start += 20) {
    const answer = await repository.ask('bob', 'acquire_lock', { file_paths: held.slice(start, start + 20) });
    assert.equal(answer.success, true, JSON.stringify(answer));
  }
  const states = heldOf(repository);
  const everything = ['bash', written(place, [...ways.map(tried), 'exit 0'])];
  const { code, err } = inRun(repository, ['--agent', 'alice'], everything, env, CORPUS_MS_MAX);
  assert.equal(code, 0, err);
  const changed = heldOf(repository);
  assert.deepEqual(
    ways.flatMap(({ name }, index) => {
      const [before, after] = [states[index], changed[index]];
      return isDeepStrictEqual(before, after) ? [] : [{ name, before, after }];
    }),
    [],
  );
});

test('[LOCK-12] a held folder takes no new, renamed or removed files, and a pattern holds what matches it', async () => {
  using place = new Place();
  const repository = place.repository();
  repository.write('lib/deep/x.ts', 'x\n');
  repository.write('web/a.css', 'a\n');
  repository.write('web/a.ts', 'a\n');
  const answer = await repository.ask('bob', 'acquire_lock', { file_paths: ['lib/', 'web/*.css'] });
  assert.equal(answer.success, true);
  const script = `echo n > lib/new; mkdir lib/d; mv a.ts lib/; rm lib/deep/x.ts; mv lib/deep lib/deeper; mv lib lab
    echo n > web/a.css; echo mine > web/a.ts`;
  const { code } = inRun(repository, ['--agent', 'alice'], ['sh', '-c', `${script}; exit 3`]);
  assert.equal(code, 3);
  for (const path of ['lib/new', 'lib/d', 'lib/a.ts', 'lib/deeper', 'lab'])
    assert.equal(existsSync(join(repository.root, path)), false, path);
  assert.equal(readFileSync(join(repository.root, 'lib/deep/x.ts'), 'utf8'), 'x\n');
  assert.equal(readFileSync(join(repository.root, 'web/a.css'), 'utf8'), 'a\n');
  assert.equal(readFileSync(join(repository.root, 'web/a.ts'), 'utf8'), 'mine\n');
});

test('[LOCK-12] what becomes held while it runs is protected, and what is released is writable again', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  const script = `: > .git/started; until [ -e .git/go ]; do sleep 0.02; done
    for n in 1 2 3 4 5 6 7 8 9; do echo mine > a.ts && break; sleep 0.1; done; echo mine > b.ts; exit 0`;
  const words = [COX, 'run', '--protect', 'require', '--agent', 'alice', '--', 'sh', '-c', script];
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, words, { cwd: repository.root, env: place.env, stdio: 'ignore' });
  place.children.push(child);
  const ended = new Promise((resolve) => child.once('close', resolve));
  await until(async () => existsSync(join(repository.root, '.git/started')));
  await repository.ask('bob', 'release_lock', { file_path: 'a.ts' });
  await repository.ask('bob', 'acquire_lock', { file_path: 'b.ts' });
  // Seen from outside: the mounts of the command's own namespace.
  const mounts = () =>
    String(
      spawnSync('sh', ['-c', `cat /proc/[0-9]*/mountinfo 2>/dev/null | grep -F "${repository.root}/"`])
        .stdout,
    );
  await until(
    async () =>
      mounts().includes(join(repository.root, 'b.ts')) && !mounts().includes(join(repository.root, 'a.ts')),
  );
  repository.write('.git/go', '');
  assert.equal(await ended, 0);
  assert.equal(readFileSync(join(repository.root, 'a.ts'), 'utf8'), 'mine\n');
  assert.equal(readFileSync(join(repository.root, 'b.ts'), 'utf8'), 'b\n');
});

test('[HOOK-4] a protected command has its arguments, input, exit code and signals as without', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  const words = [
    'node',
    '-e',
    'process.stdin.pipe(process.stdout); process.stdin.on("end", () => { console.log(process.argv.slice(1)); process.exitCode = 9; })',
  ];
  const args = ['with space', '$HOME', "quote'", '', '*'];
  const outside = repository.run(process.execPath, ['-e', words[2] ?? '', ...args], {}, 'typed\n');
  const flags = [
    'run',
    '--protect',
    'require',
    '--agent',
    'alice',
    '--',
    process.execPath,
    '-e',
    words[2] ?? '',
  ];
  const inside = repository.run(process.execPath, [COX, ...flags, ...args], {}, 'typed\n');
  assert.deepEqual([inside.code, inside.out], [outside.code, outside.out]);
  const killed = inRun(repository, ['--agent', 'alice'], ['sh', '-c', 'kill -TERM $$']);
  assert.equal(killed.code, 143);
  const none = inRun(repository, ['--agent', 'alice'], ['no-such-program']);
  assert.equal(none.code, 127);
});

test('[LOCK-12] the protected command can’t undo the protection', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  const script = `umount a.ts; mount -o remount,bind,rw a.ts; unshare -Urm sh -c 'umount a.ts; mount -o remount,bind,rw a.ts; echo 1 > a.ts'
    nsenter -t 1 -m sh -c 'echo 2 > ${repository.root}/a.ts'; chmod u+w a.ts; chattr -i a.ts; echo 3 > a.ts; echo hold >&3; echo free >&3; exit 0`;
  assert.equal(inRun(repository, ['--agent', 'alice'], ['sh', '-c', script]).code, 0);
  assert.equal(readFileSync(join(repository.root, 'a.ts'), 'utf8'), 'a\n');
});

test('[LOCK-12] without being root it works in the same way', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  const command = [process.execPath, COX, 'run', '--protect', 'require', '--agent', 'alice', '--'];
  const script = 'echo mine > a.ts; echo mine > b.ts; id -u; umount a.ts; echo mine > a.ts; exit 0';
  const asUser =
    process.getuid?.() === 0 ? ['unshare', '-U', '--map-user=1000', '--map-group=1000'] : ['env'];
  const [program = '', ...words] = [...asUser, ...command, 'sh', '-c', script];
  const { code, out, err } = repository.run(program, words);
  assert.equal(code, 0, err);
  assert.notEqual(out.trim(), '0');
  assert.equal(readFileSync(join(repository.root, 'a.ts'), 'utf8'), 'a\n');
  assert.equal(readFileSync(join(repository.root, 'b.ts'), 'utf8'), 'mine\n');
});

test('[LOCK-12] without being root it works on a file system that is mounted nosuid and nodev', async () => {
  using place = new Place();
  const repository = place.repository();
  const odd = 'an "odd" name %s';
  repository.write(odd, 'odd\n');
  await repository.lock('bob', 'a.ts', odd);
  const folder = join(place.folder, 'mounted');
  mkdirSync(folder);
  const mounted = `mount -t tmpfs -o nosuid,nodev none "$1" && cp -a . "$1/repo" && cd "$1/repo" && chmod -R a+rwX . && shift &&
    exec unshare -U --map-user=1000 --map-group=1000 "$@"`;
  const script = 'echo mine > a.ts; echo mine > "$0"; echo mine > b.ts; cat a.ts "$0" b.ts';
  const run = [process.execPath, COX, 'run', '--protect', 'require', '--agent', 'alice', '--'];
  const words = ['-Urm', 'sh', '-c', mounted, 'sh', folder, ...run, 'sh', '-c', script, odd];
  const { out, err } = repository.run('unshare', words);
  assert.equal(out, 'a\nodd\nmine\n', err);
});

test('[LOCK-12] where the kernel can’t help it says why and what to do, or runs as before', async () => {
  using place = new Place();
  const repository = place.repository();
  await repository.lock('bob', 'a.ts');
  const bin = join(place.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'unshare'),
    '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2\nexit 1\n',
  );
  chmodSync(join(bin, 'unshare'), 0o755);
  const env = { PATH: `${bin}:${place.env.PATH}` };
  const words = (when: string) => [
    COX,
    'run',
    '--protect',
    when,
    '--agent',
    'alice',
    '--',
    'sh',
    '-c',
    'echo mine > a.ts',
  ];
  const refused = repository.run(process.execPath, words('require'), env);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /sh was not started.*Operation not permitted.*(sysctl|SYS_ADMIN)/);
  assert.equal(readFileSync(join(repository.root, 'a.ts'), 'utf8'), 'a\n');
  const asBefore = repository.run(process.execPath, words('auto'), env);
  assert.match(asBefore.err, /sh has changed what others hold/);
  assert.equal(readFileSync(join(repository.root, 'a.ts'), 'utf8'), 'mine\n');
  rmSync(bin, { recursive: true });
});
