import {
  IO_URING,
  METADATA,
  MORE_GIT,
  MORE_NODE,
  MORE_PERL,
  MORE_PYTHON,
  NODE_FLAGS,
} from './ways-of-languages.ts';
import { ARCHIVES, BASH, COMPILERS, EDITORS, FILES, TOOLS, WRAPPERS } from './ways-of-tools.ts';

/**
 * Ways to change the file `held.txt` in the folder one stands in; `other.txt` is beside it, `linked.txt` is a hard link to it, and the
 * folder is part of a git repository in which the file differs from the last commit. Nothing here is known to the code that protects.
 */
export interface Way {
  readonly name: string;
  readonly script: string;
}

const SHELL = `
echo x > held.txt
echo x >> held.txt
echo x >| held.txt
echo x 1<> held.txt
: > held.txt
> held.txt
exec 9> held.txt
{ echo a; echo b; } > ./held.txt
echo x > "$PWD/held.txt"
echo x > ../w*/"$(basename "$PWD")"/../held.txt; f=held.txt; echo x > $f
n=hel; echo x > "\${n}d.txt"
echo x > $(printf 'held.txt')
eval 'echo x > he'"ld.txt"
echo 'echo x > held.txt' | sh
echo ZWNobyB4ID4gaGVsZC50eHQ= | base64 -d | sh
bash <<< 'echo x > held.txt'
echo x > linked.txt
cat other.txt > held.txt
cat <<< x > held.txt
printf x | tee held.txt
printf x | tee -a held.txt
printf x | tee -a linked.txt
cp other.txt held.txt
cp -f other.txt held.txt
cp --remove-destination other.txt held.txt
cp -l -f other.txt held.txt
cp -s -f "$PWD/other.txt" held.txt
mv other.txt held.txt
mv -f held.txt elsewhere.txt
mv held.txt .hidden
rm held.txt
rm -f held.txt
rm -rf ./held.txt
unlink held.txt
ln -f other.txt held.txt
ln -sf other.txt held.txt
install other.txt held.txt
install -m 644 other.txt held.txt
dd if=other.txt of=held.txt
dd if=/dev/zero of=held.txt bs=1 count=3 conv=notrunc
truncate -s 3 held.txt
truncate -s +5 held.txt
shred held.txt
shred -u held.txt
fallocate -l 4096 held.txt
fallocate -p -o 0 -l 5 held.txt
sed -i s/first/last/ held.txt
sed -i.bak s/first/last/ held.txt
sed -n 'w held.txt' other.txt
sed s/first/last/ held.txt > new && mv new held.txt
awk '{ print "x" > "held.txt" }' other.txt
awk 'BEGIN { print "x" >> "held.txt" }'
awk 'BEGIN { print "x" | "cat > held.txt" }'
sort -r -o held.txt held.txt
uniq other.txt held.txt
split -b 4 other.txt held && mv heldaa held.txt
csplit -f held other.txt 1 && mv held00 held.txt
ed -s held.txt <<< $'1d\\nw\\nq'
ex -sc '1d|x' held.txt
vim -es -u NONE -c 'normal dd' -c wq held.txt
xxd -r -p - held.txt <<< 616263
openssl enc -base64 -in other.txt -out held.txt
openssl rand -out held.txt 20
gzip -f held.txt
bzip2 -f held.txt
xz -f held.txt
gzip -c other.txt > held.txt
tar cf held.txt other.txt
mkdir t && cp other.txt t/held.txt && tar cf t.tar -C t held.txt && tar xf t.tar
mkdir t && cp other.txt t/held.txt && tar cf - -C t . | tar xf - --overwrite
tar cf t.tar held.txt --remove-files
mkdir t && cp other.txt t/held.txt && (cd t && zip -q ../t.zip held.txt); unzip -oq t.zip
mkdir t && cp other.txt t/held.txt && rsync -I t/held.txt held.txt
printf -- '--- held.txt\\n+++ held.txt\\n@@ -1,2 +1,2 @@\\n-first line, changed\\n+patched\\n second line\\n' | patch -p0
printf -- '--- held.txt\\n+++ held.txt\\n@@ -1,2 +1,2 @@\\n-first line, changed\\n+patched\\n second line\\n' > p && patch held.txt p
find . -name 'held*' -delete
find . -name held.txt -exec rm {} +
find . -name held.txt -exec sh -c 'echo x > "$1"' sh {} ';'
find . -name held.txt -fprint held.txt
echo held.txt | xargs rm
echo held.txt | xargs -I{} sh -c 'echo x > {}'
ls held.txt | while read -r f; do echo x > "$f"; done
env echo x | dd of=held.txt
timeout 5 sh -c 'echo x > held.txt'
nohup sh -c 'echo x > held.txt'
setsid sh -c 'echo x > held.txt'; sleep 0.1
(sleep 0.01; echo x > held.txt) & wait
nice sh -c 'echo x > held.txt'
script -qc 'echo x > held.txt' /dev/null
echo x > /proc/self/cwd/held.txt
echo x > /dev/fd/../cwd/held.txt
exec 8<>held.txt; echo x >&8
ln -s held.txt s; echo x > s
ln -s "$PWD" up; echo x > up/held.txt
mkdir -p deep && echo x > deep/../held.txt
cd /; echo x > "$OLDPWD/held.txt"
curl -s "file://$PWD/other.txt" -o held.txt
gcc -x c - -o held.txt <<< 'int main(void){return 0;}'
printf 'all:\\n\\techo x > held.txt\\n' > Makefile && make
jq -n 1 > held.txt
sqlite3 :memory: '.output held.txt' 'select 1;'
sqlite3 :memory: ".once held.txt" "select 2;"
flock held.txt -c 'echo x > held.txt'
logger -s x 2> held.txt
strace -o held.txt true
time -o held.txt true; command time -o held.txt true
wget -q -O held.txt "file:///etc/hostname"; echo > held.txt
busybox sh -c 'echo x > held.txt'
m4 <<< x > held.txt
bc <<< 1 > held.txt; echo 1 > held.txt
`;

const GIT = `
git checkout -- held.txt
git checkout HEAD held.txt
git checkout .
git checkout -f
git restore held.txt
git restore .
git restore --source=HEAD --worktree held.txt
echo held.txt | git checkout --pathspec-from-file=-
git reset -q --hard
git stash -q
git stash push -q held.txt
git rm -qf held.txt
git mv -f other.txt held.txt
git mv held.txt moved.txt
git show HEAD:./held.txt > held.txt
git cat-file -p HEAD:./other.txt > held.txt
git read-tree -u --reset HEAD
git checkout-index -f held.txt
git checkout-index -f -a
printf 'y\\n' | git checkout -p -- held.txt
printf 'y\\n' | git restore -p held.txt
git diff held.txt | git apply -R
git diff held.txt > p; git apply -R p
git diff held.txt > p; git apply -R --unsafe-paths p
git config alias.w '!f() { echo x > held.txt; }; f'; git w; git config --unset alias.w; echo x >> held.txt
git -c core.editor='sh -c "echo x > held.txt"' commit --allow-empty -q
git -c core.pager='cat > held.txt' --paginate log -1
git -c alias.z='!echo x > held.txt' z; echo x > held.txt
git archive HEAD held.txt | tar xf -
git update-index -q --refresh; git checkout-index -fu held.txt
git log -1 --output=held.txt
git diff --output=held.txt HEAD~0 HEAD
git format-patch -q -1 --stdout > held.txt
git bundle create held.txt HEAD
git switch -qf --detach HEAD
git rev-parse HEAD > held.txt
git merge-file held.txt other.txt other.txt
git hash-object -w held.txt; git ls-files > held.txt
`;

const NODE = `
fs.writeFileSync('held.txt', 'x')
fs.appendFileSync('held.txt', 'x')
fs.truncateSync('held.txt')
fs.rmSync('held.txt')
fs.unlinkSync('held.txt')
fs.renameSync('other.txt', 'held.txt')
fs.renameSync('held.txt', 'away.txt')
fs.copyFileSync('other.txt', 'held.txt')
fs.cpSync('other.txt', 'held.txt')
fs.writeSync(fs.openSync('held.txt', 'r+'), 'x')
fs.ftruncateSync(fs.openSync('held.txt', 'r+'), 1)
fs.createWriteStream('held.txt').end('x')
fs.promises.writeFile('held.txt', 'x')
fs.promises.rm('held.txt')
fs.promises.open('held.txt', 'w').then((f) => f.close())
fs.writeFileSync(Buffer.from('held.txt'), 'x')
fs.writeFileSync(new URL('file://' + process.cwd() + '/held.txt'), 'x')
fs['write' + 'FileSync'](['held', 'txt'].join('.'), 'x')
fs.writeFileSync('linked.txt', 'x')
require('child_process').execSync('echo x > held.txt')
require('child_process').spawnSync('tee', ['held.txt'], { input: 'x' })
require('vm').runInNewContext("w('held.txt','x')", { w: fs.writeFileSync })
process.report.writeReport('held.txt')
new (require('worker_threads').Worker)("require('fs').writeFileSync('held.txt','x')", { eval: true })
`;

const PYTHON = `
open('held.txt', 'w')
open('held.txt', 'a').write('x')
open('held.txt', 'r+b').write(b'x')
open('linked.txt', 'a').write('x')
import os; os.remove('held.txt')
import os; os.rename('other.txt', 'held.txt')
import os; os.replace('other.txt', 'held.txt')
import os; os.truncate('held.txt', 1)
import os; os.write(os.open('held.txt', os.O_WRONLY), b'x')
import os; os.system('echo x > held.txt')
import os; os.symlink('other.txt', 'l'); os.replace('l', 'held.txt')
import shutil; shutil.copy('other.txt', 'held.txt')
import shutil; shutil.copyfile('other.txt', 'held.txt')
import shutil; shutil.move('other.txt', 'held.txt')
import pathlib; pathlib.Path('held.txt').write_text('x')
import pathlib; pathlib.Path('held.txt').unlink()
import pathlib; pathlib.Path('other.txt').rename('held.txt')
import subprocess; subprocess.run(['tee', 'held.txt'], input=b'x')
import mmap; f = open('held.txt', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:1] = b'X'; m.flush()
import ctypes; ctypes.CDLL(None).truncate(b'held.txt', 1)
import ctypes; ctypes.CDLL(None).unlink(b'held.txt')
import fileinput; [print('x') for _ in fileinput.input('held.txt', inplace=True)]
import tempfile, os; f = tempfile.NamedTemporaryFile(dir='.', delete=False); f.close(); os.replace(f.name, 'held.txt')
import zipfile; zipfile.ZipFile('held.txt', 'w')
import sqlite3; c = sqlite3.connect('held.txt2'); c.execute('create table t(a)'); c.commit(); import os; os.replace('held.txt2', 'held.txt')
import logging; logging.basicConfig(filename='held.txt', filemode='w'); logging.error('x')
exec(bytes.fromhex('6f70656e282768656c642e747874272c27772729'))
getattr(__builtins__, 'op' + 'en')('held' + chr(46) + 'txt', 'w')
import csv; csv.writer(open('held.txt', 'w')).writerow([1])
import json; json.dump({}, open('held.txt', 'w'))
`;

const PERL = `
open F, '>held.txt'
open F, '>>', 'held.txt'; print F 'x'
open F, '+<', 'held.txt'; print F 'x'
unlink 'held.txt'
rename 'other.txt', 'held.txt'
truncate 'held.txt', 1
system 'echo x > held.txt'
use File::Copy; copy('other.txt', 'held.txt')
use File::Copy; move('other.txt', 'held.txt')
sysopen F, 'held.txt', 1; syswrite F, 'x'
`;

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export function waysToChange(): Way[] {
  const lines = [SHELL, GIT, BASH, WRAPPERS, FILES, ARCHIVES, COMPILERS, EDITORS, TOOLS, MORE_GIT, METADATA];
  const shell = lines.flatMap(linesOf).map((line) => ({ name: line, script: line }));
  const program = (start: string, lines: string) =>
    linesOf(lines).map((line) => ({ name: `${start} ${line}`, script: `${start} ${quoted(line)}` }));
  return [
    ...shell,
    ...program(`${quoted(process.execPath)} -e`, NODE),
    ...program('python3 -c', PYTHON),
    ...program('perl -e', PERL),
    ...program(`${quoted(process.execPath)} -e`, MORE_NODE),
    ...linesOf(NODE_FLAGS).map((line) => ({
      name: `node ${line}`,
      script: `${quoted(process.execPath)} ${line}`,
    })),
    ...program('python3 -c', MORE_PYTHON),
    ...program('perl -e', MORE_PERL),
    { name: 'io_uring', script: `python3 -c ${quoted(IO_URING)}` },
    { name: 'perl -i', script: "perl -pi -e 's/first/last/' held.txt" },
    { name: 'perl -i.bak', script: "perl -i.bak -pe 's/first/last/' held.txt" },
  ];
}
