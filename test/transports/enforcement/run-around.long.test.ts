import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../support/until.ts';
import { COX, type Finished, Place, type Repository } from './support.ts';

/** Ways around the mounts themselves, by what was there before them or is outside; ways to write stand in ways-to-change.ts. */

const RUN = ['run', '--protect', 'require', '--agent', 'alice', '--'];

function inRun(repository: Repository, script: string, shell = 'exec "$@"'): Finished {
  const command = [process.execPath, COX, ...RUN, 'bash', '-c', script];
  return repository.run('bash', ['-c', shell, 'bash', ...command]);
}

async function heldIn(place: Place): Promise<Repository> {
  const repository = place.repository();
  repository.write('src/deep/held.ts', 'as it was\n');
  repository.write('lib/one.ts', 'as it was\n');
  await repository.lock('bob', 'src/deep/held.ts', 'lib/');
  return repository;
}

function assertHeld(repository: Repository, said: Finished): void {
  const held = join(repository.root, 'src/deep/held.ts');
  assert.equal(said.code, 0, said.err);
  assert.equal(lstatSync(held).isFile(), true);
  assert.equal(readFileSync(held, 'utf8'), 'as it was\n', said.err);
  assert.equal(readFileSync(join(repository.root, 'lib/one.ts'), 'utf8'), 'as it was\n', said.err);
  assert.equal(existsSync(join(repository.root, 'lib/new.ts')), false, said.err);
}

test('[KERN-1] a handle on a folder from before the start leads to no held file, nor does the folder that it starts in', async () => {
  using place = new Place();
  const repository = await heldIn(place);
  const write = (from: string) => `echo x > ${from}/src/deep/held.ts; echo x > ${from}/lib/new.ts`;
  const handles = ['0', '7', '100', '250'].map((handle) => write(`/proc/self/fd/${handle}`));
  const open = 'exec 7<. 100<. 250<.; exec "$@" <.';
  assertHeld(repository, inRun(repository, `${handles.join('\n')}\nexit 0`, open));
  const standing = 'echo x > new.ts; echo x > one.ts; mv one.ts two.ts; exit 0';
  assertHeld(repository, inRun(repository, standing, 'cd lib; exec "$@"'));
});

test('[KERN-1] a process outside leads to no held file: by its root, its folder, its handles, its memory or its namespaces', async () => {
  using place = new Place();
  const repository = await heldIn(place);
  const { root } = repository;
  // It is of the same user, so that it would let in any other process of that user.
  const outside = spawn('bash', ['-c', 'exec 9<>src/deep/held.ts; exec sleep 100'], {
    cwd: root,
    env: place.env,
  });
  place.children.push(outside);
  const path = `/proc/${outside.pid}`;
  await until(async () => existsSync(`${path}/fd/9`) && readFileSync(`${path}/comm`, 'utf8') === 'sleep\n');
  const around = [
    `echo x > ${path}/root${root}/src/deep/held.ts`,
    `echo x > ${path}/cwd/src/deep/held.ts`,
    `echo x > ${path}/fd/9`,
    `echo x > ${path}/task/${outside.pid}/cwd/lib/new.ts`,
    `echo x > /proc/1/root${root}/lib/new.ts`,
    'for root in /proc/[0-9]*/root /proc/[0-9]*/cwd; do echo x > "$root$PWD/lib/new.ts"; done',
    `nsenter -t ${outside.pid} -m -- sh -c 'echo x > ${root}/lib/new.ts'`,
    `nsenter -t ${outside.pid} -U -m --preserve-credentials -- sh -c 'echo x > ${root}/lib/new.ts'`,
    `unshare -Urm nsenter -t ${outside.pid} -m -- sh -c 'echo x > ${root}/lib/new.ts'`,
    `chroot /proc/1/root sh -c 'echo x > ${root}/lib/new.ts'`,
    `python3 -c "import ctypes; c = ctypes.CDLL(None); p = c.syscall(434, ${outside.pid}, 0); f = c.syscall(438, p, 9, 0); import os; os.write(f, b'x')"`,
    `gdb -batch -p ${outside.pid} -ex 'call (int) creat("${root}/lib/new.ts", 0644)'`,
    `for pid in /proc/[0-9]*; do [ "$(cat $pid/comm)" = sh ] && grep -q "$PWD" $pid/cmdline && gdb -batch -p \${pid#/proc/} -ex 'call (int) umount2("${root}/lib", 2)'; done; echo x > lib/new.ts`,
    ...['1', '1000', '65534'].map(
      (id) =>
        `setpriv --reuid ${id} --clear-groups --inh-caps +dac_override --ambient-caps +dac_override sh -c 'for root in /proc/[0-9]*/root; do echo x > "$root${root}/lib/new.ts"; done'`,
    ),
  ];
  const said = inRun(repository, `{ ${around.join('\n')}\n} </dev/null >&2; exit 0`);
  assertHeld(repository, said);
});

test('[KERN-1] no mount, namespace, file handle, disk or kernel setting leads to a held file', async () => {
  using place = new Place();
  const repository = await heldIn(place);
  const { root } = repository;
  const mounts = `umount -l lib; umount lib; mount -o remount,bind,rw lib; mount --bind . /mnt; mount --rbind . /mnt; mount --move lib /mnt
    mount --make-rshared /; umount -l ${root}/src/deep/held.ts; umount -l /; umount -l /..; mount --move / /mnt; echo x > /..${root}/lib/new.ts
    for at in lib src/deep /mnt/lib /mnt/src/deep; do echo x > $at/held.ts; echo x > $at/new.ts; done
    mv src src2 && mkdir -p src/deep && echo x > src/deep/held.ts; mv "${root}" "${root}2" && mkdir -p "${root}/lib" && echo x > "${root}/lib/new.ts"`;
  const byHandle = `import ctypes, os, struct
c = ctypes.CDLL(None, use_errno=True)
for name in (b'src/deep/held.ts', b'lib/one.ts'):
    handle = ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128)); mount = ctypes.c_int()
    c.name_to_handle_at(-100, name, handle, ctypes.byref(mount), 0)
    for top in (b'/', b'.', b'..', b'/tmp', b'${root}'):
        f = c.open_by_handle_at(os.open(top, os.O_RDONLY), handle, os.O_WRONLY)
        if f >= 0: os.write(f, b'changed by its handle')`;
  // The view below the command's own, on which its root lies.
  const below = `import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
def write():
    for path in ('${root}/lib/new.ts', '/..${root}/lib/new.ts', '.${root}/lib/new.ts', '../..${root}/lib/new.ts'):
        try: open(path, 'w').write('x')
        except OSError: pass
def leave():
    os.makedirs('jail', exist_ok=True); os.chroot('jail')
    for _ in range(99): os.chdir('..')
    write(); os.chroot('.'); write()
ways = [lambda: c.setns(os.open('/proc/self/ns/mnt', os.O_RDONLY), 0), leave, lambda: c.syscall(155, b'.', b'.')]
ways += [lambda path=path: c.umount2(path, 2) for path in (b'/', b'/..', b'.')]
ways += [lambda flags=flags: c.syscall(429, c.syscall(428, -100, b'/', flags), b'', -100, b'/mnt', 4) for flags in (0, 1, 0x8001)]
for way in ways:
    for folder in ('/', '${root}'):
        if os.fork() == 0:
            os.chdir(folder)
            try: way()
            except OSError: pass
            write(); os._exit(0)
        os.wait()`;
  // What could harm the machine is only tried as far as opening it.
  const disks = `for disk in /dev/vd* /dev/sd* /dev/nvme* /dev/loop*; do [ -b $disk ] && : < $disk && : > reached; done
    mknod disk b $(stat -c '%Hd %Ld' .) && : < disk && : > reached; losetup -f src/deep/held.ts
    [ -w /proc/sys/kernel/core_pattern ] && : > reached
    mkdir o w u; mount -t overlay -o lowerdir=.,upperdir=u,workdir=w overlay o && echo x > o/lib/new.ts`;
  const script = `exec </dev/null >&2; { ${mounts}\n}; unshare -Urm sh -c '${mounts}'; unshare -UrmpfC --mount-proc sh -c '${mounts}'
    unshare -m sh -c '${mounts}'; cat > by-handle.py <<'PY'\n${byHandle}\nPY\npython3 by-handle.py; unshare -Urm python3 by-handle.py
    cat > below.py <<'PY'\n${below}\nPY\npython3 below.py; unshare -Urm python3 below.py; unshare -Ur python3 below.py\n${disks}\nexit 0`;
  const said = inRun(repository, script);
  assertHeld(repository, said);
  assert.equal(existsSync(join(root, 'reached')), false, said.err);
});

/** A process that is just ending, as a git that was asked something, has none. */
function mountsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
  } catch {
    return '';
  }
}

test('[KERN-1] a file that its holder replaces, or removes and makes again, is held again', async () => {
  using place = new Place();
  const repository = await heldIn(place);
  const held = join(repository.root, 'src/deep/held.ts');
  const script = `: > .git/started; for round in 1 2; do until [ -e .git/go$round ]; do sleep 0.02; done
    for n in 1 2 3 4 5; do echo alice > src/deep/held.ts; echo alice > held.new; mv -f held.new src/deep/held.ts; done; : > .git/done$round; done; exit 0`;
  const child = spawn(process.execPath, [COX, ...RUN, 'sh', '-c', script], {
    cwd: repository.root,
    env: place.env,
    stdio: 'ignore',
  });
  place.children.push(child);
  const ended = new Promise((resolve) => child.once('close', resolve));
  const inGit = (name: string) => join(repository.root, '.git', name);
  await until(async () => existsSync(inGit('started')));
  // The mounts of the command's namespace, as they are seen from outside.
  const { pid } = child;
  const isMounted = () => {
    const inside = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return inside.some((each) => mountsOf(each).includes(` ${held} ro`));
  };
  await until(async () => isMounted());
  writeFileSync(`${held}.new`, 'as bob saved it\n');
  renameSync(`${held}.new`, held);
  await until(async () => isMounted());
  writeFileSync(inGit('go1'), '');
  await until(async () => existsSync(inGit('done1')));
  assert.equal(readFileSync(held, 'utf8'), 'as bob saved it\n');
  rmSync(held);
  mkdirSync(join(repository.root, 'src/deep'), { recursive: true });
  writeFileSync(held, 'as bob made it again\n');
  await until(async () => isMounted());
  writeFileSync(inGit('go2'), '');
  assert.equal(await ended, 0);
  assert.equal(readFileSync(held, 'utf8'), 'as bob made it again\n');
});
