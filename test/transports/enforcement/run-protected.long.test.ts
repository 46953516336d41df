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
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../support/until.ts';
import { COX, type Finished, Place, type Repository } from './support.ts';
import { type Way, waysToChange } from './ways-to-change.ts';

/** No way to change a file is known to the code that is tested: the kernel refuses the write. */
function inRun(repository: Repository, flags: readonly string[], command: readonly string[]): Finished {
  return repository.run(process.execPath, [COX, 'run', '--protect', 'require', ...flags, '--', ...command]);
}

function stateOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'gone';
  if (!found.isFile()) return found.isSymbolicLink() ? 'a link' : 'no file';
  return createHash('sha256').update(readFileSync(path)).digest('hex');
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
    writeFileSync(join(repository.root, `w${index}`, 'held.txt'), 'first line, changed\nsecond line\n');
  return repository;
}

/** The same in a file that no earlier way has changed; says its number if it works. */
function controlOf({ script }: Way, index: number): string {
  return `(cd w${index} && rm -f held.txt && printf 'first line, changed\\nsecond line\\n' > held.txt && ln -f held.txt linked.txt &&
before=$(sha256sum held.txt); { (${script}
) } </dev/null >/dev/null 2>&1; [ "$(sha256sum held.txt 2>/dev/null)" = "$before" ] && [ ! -L held.txt ] || echo ${index})\n`;
}

/** Each in its folder; whether it succeeds is not asked. */
function scriptOf(ways: readonly Way[]): string {
  return ways
    .map(({ script }, index) => `(cd w${index} && { ${script}\n} </dev/null >/dev/null 2>&1)\n`)
    .join('');
}

test('[LOCK-12] in a protected run no way to write changes a held file, and outside each of them does', async (t) => {
  using place = new Place();
  const ways = waysToChange();
  const heldOf = (repository: Repository) =>
    ways.map((_, index) => stateOf(join(repository.root, `w${index}`, 'held.txt')));

  const control = prepared(place, 'outside', ways);
  const { out } = control.run('bash', ['-c', `set +e\n${ways.map(controlOf).join('')}`]);
  // A program that this machine does not have changes nothing, and proves nothing.
  const working = new Set(out.split('\n').filter((line) => line !== ''));
  const idle = ways.filter((_, index) => !working.has(String(index))).map(({ name }) => name);
  t.diagnostic(`${working.size} of ${ways.length} ways change a file here; not: ${idle.join(' ¦ ')}`);
  assert.ok(working.size >= 150, `only ${working.size} ways work here`);

  const repository = prepared(place, 'inside', ways);
  const held = ways.map((_, index) => `w${index}/held.txt`);
  for (let start = 0; start < held.length; start += 20) {
    const answer = await repository.ask('bob', 'acquire_lock', { file_paths: held.slice(start, start + 20) });
    assert.equal(answer.success, true, JSON.stringify(answer));
  }
  const states = heldOf(repository);
  const { code, err } = inRun(repository, ['--agent', 'alice'], ['bash', '-c', `${scriptOf(ways)} exit 0`]);
  assert.equal(code, 0, err);
  const changed = heldOf(repository);
  assert.deepEqual(
    ways.filter((_, index) => states[index] !== changed[index]).map(({ name }) => name),
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
