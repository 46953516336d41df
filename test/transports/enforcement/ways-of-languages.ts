/** More ways to change `held.txt`, as in ways-to-change.ts: by interpreters, git and system calls. A line is a script of its own. */

export const MORE_GIT = String.raw`
GIT_TRACE="$PWD/held.txt" git status
GIT_TRACE2="$PWD/held.txt" git status
GIT_TRACE2_EVENT="$PWD/held.txt" git status
GIT_TRACE_SETUP="$PWD/held.txt" git status
GIT_INDEX_FILE="$PWD/held.txt" git read-tree --empty; rm -f held.txt; GIT_INDEX_FILE="$PWD/held.txt" git read-tree HEAD
git shortlog --output=held.txt HEAD
git archive --output=held.txt HEAD:./
cp held.txt base; git merge-file held.txt base other.txt
printf 'From: a <a@b>\nSubject: s\n\nbody\n' | git mailinfo held.txt p
printf 'From: a <a@b>\nSubject: s\n\nbody\n' | git mailinfo m held.txt
printf 'protocol=https\nhost=h\nusername=u\npassword=p\n' | git credential-store --file held.txt store
git -c core.fsmonitor="echo x > '$PWD/held.txt'; false" status
GIT_ALLOW_PROTOCOL=ssh git -c core.sshCommand="echo x > '$PWD/held.txt'; false" fetch ssh://h/x
GIT_ALLOW_PROTOCOL=ssh GIT_SSH_COMMAND="echo x > '$PWD/held.txt'; false" git fetch ssh://h/x
GIT_EXTERNAL_DIFF="sh -c 'echo x > $PWD/held.txt'" git diff held.txt
git -c diff.external="sh -c 'echo x > $PWD/held.txt'" diff held.txt
git difftool -y -x "echo x > $PWD/held.txt; true" held.txt
mkdir h && printf '#!/bin/sh\necho x > "%s/held.txt"\n' "$PWD" > h/pre-commit && chmod +x h/pre-commit && git -c core.hooksPath="$PWD/h" commit --allow-empty -qm x
mkdir h && printf '#!/bin/sh\necho x > "%s/held.txt"\n' "$PWD" > h/post-commit && chmod +x h/post-commit && git -c core.hooksPath="$PWD/h" commit --allow-empty -qm x
GIT_EDITOR="echo x > '$PWD/held.txt'; false" git commit --allow-empty
GIT_ASKPASS="$PWD/ask" && printf '#!/bin/sh\necho x > "%s/held.txt"\n' "$PWD" > ask && chmod +x ask && printf 'protocol=https\nhost=h\n\n' | GIT_ASKPASS="$PWD/ask" git credential fill
git -c alias.s='!sh -c "cd \"$GIT_PREFIX\" && echo x > held.txt"' s
echo '*.txt filter=w' > .gitattributes; git -c filter.w.clean="tee '$PWD/held.txt'" add held.txt other.txt
echo '*.txt diff=w' > .gitattributes; git -c diff.w.textconv="echo x > $PWD/held.txt; cat" diff held.txt
git checkout HEAD -- .
git checkout HEAD~0 -- held.txt
git restore --staged --worktree held.txt
git restore --worktree --source=HEAD~0 .
printf 'held.txt\0' | git restore --pathspec-from-file=- --pathspec-file-nul
git stash push --keep-index -q -- held.txt
git stash push -q --include-untracked -- .
printf 'y\nq\n' | git stash push -p -- held.txt
git reset -q --hard HEAD~0
git diff -R held.txt | git apply
git diff held.txt | patch -sR -p1 -d "$(git rev-parse --show-toplevel)"
git cat-file blob HEAD:./other.txt | dd of=held.txt
git ls-files -z other.txt held.txt | xargs -0 rm
git ls-files held.txt | git checkout-index -f --stdin
git rm -rqf .
git --literal-pathspecs checkout -- held.txt
git submodule foreach -q true; git for-each-ref --shell --format='echo %(refname) > held.txt' | sh
git worktree add -q --detach ../t-"$$" && cp ../t-"$$"/a.ts held.txt
git rev-list --objects HEAD > held.txt
git var GIT_AUTHOR_IDENT | tee held.txt
`;

export const MORE_NODE = `
fs.writevSync(fs.openSync('held.txt', 'r+'), [Buffer.from('x')])
fs.promises.appendFile('held.txt', 'x')
fs.promises.truncate('held.txt', 1)
fs.promises.rename('other.txt', 'held.txt')
fs.promises.copyFile('other.txt', 'held.txt')
fs.promises.open('held.txt', 'r+').then((f) => f.writev([Buffer.from('x')]))
fs.promises.open('held.txt', 'r+').then((f) => f.truncate(2))
fs.copyFileSync('other.txt', 'held.txt', fs.constants.COPYFILE_FICLONE)
fs.cpSync('other.txt', 'held.txt', { force: true })
fs.mkdirSync('t'); fs.copyFileSync('other.txt', 't/held.txt'); fs.cpSync('t', '.', { recursive: true })
fs.unlinkSync('held.txt'); fs.linkSync('other.txt', 'held.txt')
fs.unlinkSync('held.txt'); fs.symlinkSync('other.txt', 'held.txt')
fs.createWriteStream('held.txt', { flags: 'r+', start: 2 }).end('x')
fs.createWriteStream('held.txt', { flags: 'a' }).end('x')
fs.createReadStream('other.txt').pipe(fs.createWriteStream('held.txt'))
require('stream').pipeline(fs.createReadStream('other.txt'), fs.createWriteStream('held.txt'), () => {})
process.chdir('..'); fs.writeFileSync(require('path').join(process.env.PWD, 'held.txt'), 'x')
fs.rmSync(process.cwd(), { recursive: true })
fs.renameSync(process.cwd(), process.cwd() + '-away')
require('child_process').spawnSync('echo', ['x'], { stdio: ['ignore', fs.openSync('held.txt', 'w'), 2] })
require('child_process').execFileSync('cp', ['other.txt', 'held.txt'])
require('child_process').spawn('sh', ['-c', 'echo x > held.txt'], { detached: true })
require('child_process').spawnSync('echo x > held.txt', { shell: true })
require('child_process').spawnSync(process.execPath, ['-e', "fs.writeFileSync('held.txt', 'x')"])
require('v8').writeHeapSnapshot('held.txt')
new Function('f', "f.writeFileSync('held.txt', 'x')")(fs)
import('node:fs').then((f) => f.writeFileSync('held.txt', 'x'))
process.getBuiltinModule('fs').writeFileSync('held.txt', 'x')
globalThis['proc' + 'ess'].binding && require('f' + 's').appendFileSync('held.txt', 'x')
Reflect.apply(fs.writeFileSync, fs, ['held.txt', 'x'])
fs.writeFileSync(fs.openSync('held.txt', 'a'), 'x')
fs.writeFileSync('/proc/self/cwd/held.txt', 'x')
process.execve('/bin/sh', ['sh', '-c', 'echo x > held.txt'], process.env)
`;

export const NODE_FLAGS = `
--redirect-warnings=held.txt -e 'process.emitWarning("x")'
--cpu-prof --cpu-prof-name=held.txt -e 0
--heap-prof --heap-prof-name=held.txt -e 0
--report-filename=held.txt -e 'process.report.writeReport()'
`;

export const MORE_PYTHON = String.raw`
import os; os.pwrite(os.open('held.txt', os.O_RDWR), b'x', 2)
import os; os.writev(os.open('held.txt', os.O_RDWR), [b'x', b'y'])
import os; os.copy_file_range(os.open('other.txt', 0), os.open('held.txt', os.O_RDWR), 4)
import os; os.sendfile(os.open('held.txt', os.O_RDWR), os.open('other.txt', 0), 0, 4)
import os; os.posix_fallocate(os.open('held.txt', os.O_RDWR), 0, 5000)
import os; os.ftruncate(os.open('held.txt', os.O_RDWR), 3)
import os; os.open('held.txt', os.O_RDONLY | os.O_TRUNC)
import os; d = os.open('.', 0); os.write(os.open('held.txt', os.O_WRONLY, dir_fd=d), b'x')
import os; d = os.open('.', 0); os.unlink('held.txt', dir_fd=d)
import os; d = os.open('.', 0); os.rename('other.txt', 'held.txt', src_dir_fd=d, dst_dir_fd=d)
import os; d = os.open('..', 0); os.rename(os.path.basename(os.getcwd()), os.path.basename(os.getcwd()) + '-x', src_dir_fd=d, dst_dir_fd=d)
import os; os.remove('held.txt'); os.link('other.txt', 'held.txt')
import os; os.link('other.txt', 'n'); os.rename('n', 'held.txt'); os.truncate('held.txt', 1)
import os; r, w = os.pipe(); os.write(w, b'x'); f = os.open('held.txt', os.O_WRONLY); os.splice(r, f, 1)
import os; m = os.memfd_create('m'); os.write(m, b'xyz'); os.sendfile(os.open('held.txt', os.O_WRONLY), m, 0, 3)
import os; os.fork() or (os.truncate('held.txt', 0), os._exit(0)); os.wait()
import os; os.posix_spawn('/bin/sh', ['sh', '-c', 'echo x > held.txt'], os.environ); os.wait()
import os; os.execvp('cp', ['cp', 'other.txt', 'held.txt'])
import os; os.popen('tee held.txt', 'w').write('x')
import pty; pty.spawn(['sh', '-c', 'echo x > held.txt'])
import threading; t = threading.Thread(target=lambda: open('held.txt', 'w')); t.start(); t.join()
import multiprocessing as m; p = m.get_context('fork').Process(target=lambda: open('held.txt', 'w')); p.start(); p.join()
import asyncio; asyncio.run(asyncio.create_subprocess_shell('echo x > held.txt')); import time; time.sleep(0.1)
import concurrent.futures as c; c.ThreadPoolExecutor().submit(open, 'held.txt', 'w').result()
import subprocess; subprocess.run('echo x', shell=True, stdout=open('held.txt', 'w'))
import ctypes; c = ctypes.CDLL(None); c.renameat2(-100, b'other.txt', -100, b'held.txt', 2)
import ctypes; c = ctypes.CDLL(None); c.creat(b'held.txt', 0o644)
import ctypes; c = ctypes.CDLL(None); c.system(b'echo x > held.txt')
import ctypes, struct; c = ctypes.CDLL(None); h = struct.pack('QQQ', 1 | 512, 0, 0); c.syscall(437, -100, b'held.txt', h, 24)
import ctypes, os; c = ctypes.CDLL(None); f = os.open('.', os.O_TMPFILE | os.O_WRONLY); os.write(f, b'x'); c.unlink(b'held.txt'); c.linkat(-100, b'/proc/self/fd/%d' % f, -100, b'held.txt', 0x400)
import mmap; f = open('held.txt', 'r+b'); m = mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED); m.write(b'zz'); m.close()
import fcntl, os; fcntl.ioctl(os.open('held.txt', os.O_RDWR), 0x40049409, os.open('other.txt', 0)) if False else os.pwrite(os.open('held.txt', os.O_RDWR), b'yy', 0)
import socket, os; a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [os.open('held.txt', os.O_WRONLY)]); os.write(socket.recv_fds(b, 1, 1)[1][0], b'x')
import shutil; shutil.copy2('other.txt', 'held.txt')
import shutil, os; os.mkdir('t'); shutil.copy('other.txt', 't/held.txt'); shutil.copytree('t', '.', dirs_exist_ok=True)
import shutil, os; shutil.rmtree(os.getcwd())
import shutil; shutil.copyfileobj(open('other.txt', 'rb'), open('held.txt', 'wb'))
import tarfile, io; t = tarfile.open('t.tar', 'w'); t.add('other.txt', 'held.txt'); t.close(); tarfile.open('t.tar').extractall()
import zipfile; z = zipfile.ZipFile('t.zip', 'w'); z.write('other.txt', 'held.txt'); z.close(); zipfile.ZipFile('t.zip').extract('held.txt')
import gzip; gzip.open('held.txt', 'w').write(b'x')
import lzma; lzma.open('held.txt', 'w').write(b'x')
import bz2; bz2.open('held.txt', 'w').write(b'x')
import pickle; pickle.dump(1, open('held.txt', 'wb'))
import plistlib; plistlib.dump({}, open('held.txt', 'wb'))
import configparser; configparser.ConfigParser({'a': 'b'}).write(open('held.txt', 'w'))
import xml.etree.ElementTree as e; e.ElementTree(e.Element('a')).write('held.txt')
import wave; w = wave.open('held.txt', 'wb'); w.setparams((1, 1, 8000, 0, 'NONE', '')); w.close()
import mailbox; m = mailbox.mbox('held.txt'); m.add('From: a\n\nb'); m.flush()
import py_compile; open('x.py', 'w'); py_compile.compile('x.py', cfile='held.txt')
import urllib.request, os; urllib.request.urlretrieve('file://' + os.getcwd() + '/other.txt', 'held.txt')
import codecs; codecs.open('held.txt', 'w', 'utf8').write('x')
import io; io.FileIO('held.txt', 'w')
import os; os.fdopen(os.open('held.txt', os.O_WRONLY), 'w').write('x')
import contextlib; f = open('held.txt', 'w'); contextlib.redirect_stdout(f).__enter__(); print('x'); f.flush()
import array; array.array('i', [1]).tofile(open('held.txt', 'wb'))
import cProfile; cProfile.run('1', 'held.txt')
import trace, faulthandler; faulthandler.dump_traceback(open('held.txt', 'w'))
import sqlite3; c = sqlite3.connect('n'); c.execute('create table t(a)'); c.commit(); import shutil; shutil.move('n', 'held.txt')
import dbm.dumb; dbm.dumb.open('n', 'n').close(); import os; os.replace('n.dir', 'held.txt')
import tempfile, os; d = tempfile.mkdtemp(dir='.'); os.replace('held.txt', d + '/x')
import runpy; open('x.py', 'w').write("open('held.txt', 'w')"); runpy.run_path('x.py')
import importlib; open('held_by.py', 'w').write("open('held.txt', 'w')"); import sys; sys.path.insert(0, '.'); importlib.import_module('held_by')
import code; code.InteractiveInterpreter().runsource("open('held.txt', 'w')")
import glob; [open(f, 'w') for f in glob.glob('h*.txt')]
import pathlib; pathlib.Path('held.txt').open('a').write('x')
import pathlib; pathlib.Path('held.txt').rename('away.txt')
import pathlib; p = pathlib.Path('held.txt'); p.unlink(); p.symlink_to('other.txt')
__import__('os').truncate('held.txt', 0)
`;

/** Removes the file by one entry of an io_uring: the kernel does it, by no system call of that name. */
export const IO_URING = `
import ctypes, mmap, struct
c = ctypes.CDLL(None, use_errno=True)
p = ctypes.create_string_buffer(120)
f = c.syscall(425, 4, p)
sq_off = struct.unpack_from('10I', p.raw, 40)
entries = struct.unpack_from('I', p.raw, 0)[0]
ring = mmap.mmap(f, sq_off[6] + entries * 4, offset=0)
sqes = mmap.mmap(f, entries * 64, offset=0x10000000)
name = ctypes.create_string_buffer(b'held.txt')
sqes[0:64] = struct.pack('BBHiQQIIQHHiQQ', 36, 0, 0, -100, 0, ctypes.addressof(name), 0, 0, 0, 0, 0, 0, 0, 0)
struct.pack_into('I', ring, sq_off[6], 0)
struct.pack_into('I', ring, sq_off[1], 1)
c.syscall(426, f, 1, 1, 1, None, 0)
`;

export const MORE_PERL = `
open F, '|-', 'cat > held.txt'; print F 'x'
open F, '>&=', do { open my $g, '>', 'held.txt'; fileno $g }
unlink 'held.txt'; link 'other.txt', 'held.txt'
unlink 'held.txt'; symlink 'other.txt', 'held.txt'
qx{echo x > held.txt}
exec 'cp', 'other.txt', 'held.txt'
fork or exec 'tee', 'held.txt'; wait
eval pack 'H*', '6f70656e20462c20273e68656c642e74787427'
use IO::File; IO::File->new('held.txt', 'w')->print('x')
use POSIX; POSIX::write(POSIX::open('held.txt', O_WRONLY), 'x', 1)
use File::Temp; my $f = File::Temp->new(DIR => '.', UNLINK => 0); rename $f->filename, 'held.txt'
use Tie::File; tie my @l, 'Tie::File', 'held.txt'; $l[0] = 'x'
use Storable; Storable::nstore([1], 'held.txt')
use File::Path; rmtree '.'; unlink 'held.txt'
use Archive::Tar; Archive::Tar->create_archive('held.txt', 0, 'other.txt')
use IO::Compress::Gzip; IO::Compress::Gzip::gzip('other.txt' => 'held.txt')
use Sys::Hostname; use Fcntl; sysopen F, 'held.txt', O_RDWR | O_TRUNC
$^I = ''; @ARGV = 'held.txt'; while (<>) { print "x$_" }
opendir D, '.'; for (readdir D) { open F, ">$_" if /^h.*t$/ }
my $name = 'held.txt'; syscall 76, $name, 1
`;

/** What is not in its content: mode, owner, times, attributes and the number of its names. */
export const METADATA = `
chmod 600 held.txt
chmod +x held.txt
chmod -R 640 held.txt
chmod 755 linked.txt
chown 12:34 held.txt
chgrp 12 held.txt
chown -R 12 .
touch held.txt
touch -d 1990-01-01 held.txt
touch -r other.txt held.txt
touch -m linked.txt
cmake -E touch held.txt
ln held.txt another.txt
cp -al held.txt another.txt
cp -p --attributes-only other.txt held.txt
chattr +d held.txt
python3 -c 'import os; os.setxattr("held.txt", "user.a", b"b")'
python3 -c 'import os; os.utime("held.txt", (1, 1))'
python3 -c 'import os; os.fchmod(os.open("held.txt", 0), 0o600)'
perl -e 'utime 1, 1, "held.txt"'
perl -e 'chmod 0600, "held.txt"'
git update-index --chmod=+x held.txt; git checkout-index -f held.txt
`;
