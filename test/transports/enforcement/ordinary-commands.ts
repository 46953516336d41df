/**
 * A working day in a small project (see `layOut` in run-ordinary.long.test.ts), one command after the other: none of them means to change
 * what another agent holds, so each must do and say the same in a protected run as outside.
 */

const SHELL = String.raw`
id
whoami
pwd
uname -s
umask
ulimit -n
ulimit -c
tty
nproc
hostname
echo $SHELL $HOME $LANG
locale | head -3
type -P git bash
ls
ls -la src | awk '{print $1, $3, $4, $9}'
ls -ld . .. / /tmp /etc | awk '{print $1, $3, $4, $9}'
stat -c '%n %U %G %a %s' package.json /etc/passwd
df --output=target . | tail -1 | wc -l
du -s --apparent-size src | cut -f2
cat package.json
head -2 src/app.ts
tail -1 src/app.ts
wc -l src/*.ts
sort README.md
sort README.md | uniq -c
cut -d: -f1 README.md
tr a-z A-Z < README.md
rev README.md
nl README.md
paste README.md README.md
join README.md README.md
comm README.md README.md
diff src/app.ts src/util.ts
diff -ru src docs
cmp src/app.ts src/util.ts
md5sum README.md
sha256sum src/*.ts
file -b README.md
find . -name '*.ts' -not -path './.git/*' | sort
find . -type f -newer package.json -not -path './.git/*' | wc -l
grep -rn export src
grep -c import src/app.ts
grep nothing-of-the-kind src
awk '{ print NF }' README.md
sed -n 2p README.md
sed -i 's/one/two/' README.md
mkdir -p build/a/b
touch build/a/b/new
cp -r src build/copy
cp -p README.md build/
cp -l README.md build/linked.md
ln -s ../README.md build/readme
readlink -f build/readme | xargs basename
mv build/copy build/moved
mv build/moved src/moved
mv src/moved build/moved
mv docs/guide.md src/guide.md && mv src/guide.md docs/guide.md
rm build/a/b/new
rmdir build/a/b
rm -r build/moved
chmod +x scripts/run.sh
chmod 600 README.md
chmod 644 README.md
touch -d 2020-01-01 docs/guide.md
stat -c %Y docs/guide.md
truncate -s 100 build/hundred
dd if=/dev/zero of=build/zeros bs=1k count=4 status=none
mktemp -d -p build tmp.XXXX | wc -l
mkfifo build/pipe && (echo through > build/pipe & cat build/pipe; wait)
./scripts/run.sh one two
sh scripts/run.sh three
exit 7
no-such-program-at-all
cat no-such-file
(kill -TERM $BASHPID)
timeout 0.2 sleep 5
sleep 0.05 & wait $!
seq 3 | xargs -n1 echo item
seq 5 | xargs -P3 -I{} sh -c 'echo {}' | sort
echo one | tee build/tee.txt
yes | head -1000 | wc -l
printf '%s\n' a b c > build/list && cat build/list
cat <<< 'here' > build/here; cat build/here
for i in 1 2 3; do echo $i; done
echo $((6 * 7))
trap 'echo bye' EXIT
nohup true
nice -n 5 nice
env -i sh -c 'echo clean'
setsid -w echo in a session of its own
script -qec 'echo in a terminal' /dev/null
flock build/lock echo locked
date -d @0 -u +%F
ps -o comm= -p $$
kill -0 $$
pgrep -c no-such-program
which node > /dev/null; echo $?
cat /proc/self/comm
test -w README.md; echo $?
test -w /etc; echo $?
df . > /dev/null; echo $?
unshare -Ur true; echo $?
`;

const GIT = `
git status
git status --short
git diff
git diff --stat
git add README.md
git diff --cached
git commit -qm 'Change the readme'
git commit --amend -qm 'Change the readme again'
git log --oneline
git log -p -1
git show --stat
git blame README.md
git branch
git branch feature
git switch feature
git checkout -b other
git switch main
git checkout feature
sed -i 's/util/tool/' src/util.ts && git commit -qam 'Rename in util'
git mv src/util.ts src/tool.ts
git commit -qm 'Move util'
git mv src/tool.ts docs/tool.ts && git mv docs/tool.ts src/tool.ts
git switch main
git merge --no-edit feature
git merge --abort
echo four > four.txt && git add four.txt && git commit -qm Four
git switch -c topic HEAD~1
echo five > five.txt && git add -A && git commit -qm Five
git rebase main
git rebase -q --onto main HEAD~1
git switch main
git cherry-pick topic
git revert --no-edit HEAD
git reset --soft HEAD~1
git reset -q
git checkout -- five.txt
git restore README.md
git clean -ndx
echo stashed >> README.md && git stash
git stash list
git stash show -p
git stash pop
git stash -q && git stash apply -q && git stash drop -q
git restore README.md
git checkout -q topic -- five.txt && git rm -qf five.txt
git tag v1
git tag -a v2 -m two
git describe --tags
git rev-parse HEAD
git ls-files
git ls-tree -r HEAD
git cat-file -p HEAD
git grep -n export
git shortlog -s HEAD
git reflog | wc -l
git remote add origin ../origin.git
git push -q origin main
git push -q origin topic v1
git fetch -q origin
git pull -q --rebase origin main
git branch -vv
git push -q -u origin main
git clone -q ../origin.git build/clone
git -C build/clone log --oneline
git worktree add -q build/tree topic
git worktree list | wc -l
git -C build/tree status --short
git worktree prune
git format-patch -1 -o build HEAD
git diff HEAD~1 > build/change.patch; wc -l < build/change.patch
git apply --check -R build/change.patch
git am --abort
git bisect start HEAD HEAD~2 && git bisect reset
git gc -q
git fsck
git count-objects | wc -l
git config user.name
git config --local core.abbrev 10
git notes add -m note
git archive HEAD | tar t
git bundle create -q build/all.bundle --all
git submodule status
git check-ignore build
git hash-object README.md
git merge-base main topic
git rev-list --count HEAD
git update-index --refresh
git commit -m 'Nothing to commit'
git checkout no-such-branch
git merge no-such-branch
git branch -D other
git status --porcelain=v2 --branch
`;

const PROGRAMS = String.raw`
node -e 'console.log(process.argv.length, process.exitCode)'
node -p '6 * 7'
node scripts/hello.mjs
node --test src/math.test.mjs | grep -v duration
node --check scripts/hello.mjs
node -e 'process.exit(3)'
node -e 'throw new Error("on purpose")' 2> /dev/null
node -e 'fs.renameSync("four.txt", "docs/four.txt"); fs.renameSync("docs/four.txt", "four.txt")'
node -e 'require("http").createServer((q, s) => s.end("ok")).listen(0, async function () { console.log(await (await fetch("http://127.0.0.1:" + this.address().port)).text()); this.close() })'
node -e 'const c = require("child_process"); console.log(String(c.execSync("echo child")))'
node -e 'fs.watch(".").close(); console.log("watched")'
node -e 'console.log(process.stdout.isTTY, process.stdin.isTTY)'
npm --version
npm test
npm run -s hello
npm run no-such-script > /dev/null 2>&1
npm pkg get name
npm pkg set description=changed
npm pack --silent --pack-destination build
npm ls
npm init -y --prefix build > /dev/null
npm install --offline --no-audit --no-fund ./vendor/left > /dev/null
npm ls
npm exec --offline -- hello-cli
npm uninstall --offline --no-audit --no-fund left > /dev/null
"$BIN/biome" --version
"$BIN/biome" format src/app.ts > /dev/null
"$BIN/biome" format --write src/app.ts > /dev/null
"$BIN/biome" lint src/app.ts > /dev/null
"$BIN/tsc" --version
"$BIN/tsc" --noEmit --strict --ignoreConfig src/app.ts
"$BIN/esbuild" src/app.ts --bundle --outfile=build/app.js --log-level=error
printf 'Content-Length: 58\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"shutdown","params":null}' | timeout 5 "$BIN/biome" lsp-proxy > /dev/null 2>&1; "$BIN/biome" stop > /dev/null 2>&1; echo answered
echo '{"seq":1,"type":"request","command":"status"}' | "$BIN/tsserver" | grep -c version
python3 -c 'print(6 * 7)'
python3 -m json.tool package.json
python3 -m unittest -q scripts/test_one.py 2> /dev/null
python3 -m compileall -q scripts
python3 -m venv --without-pip build/venv
build/venv/bin/python -c 'print("in the environment")'
python3 -c 'import sys; sys.exit(4)'
python3 -c 'import os; os.rename("four.txt", "src/four.txt"); os.rename("src/four.txt", "four.txt")'
python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print("listens")'
python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))'
python3 -c 'import tempfile; print(len(tempfile.mkdtemp()) > 0)'
perl -e 'print "perl\n"'
perl -pi -e 's/two/three/' README.md
perl -MFile::Copy -e 'move("four.txt", "docs/four.txt"); move("docs/four.txt", "four.txt")'
gcc -o build/hello scripts/hello.c && build/hello
gcc -c scripts/hello.c -o build/hello.o && nm build/hello.o | grep -c main
make -s -f scripts/Makefile
make -s -f scripts/Makefile
make -s -f scripts/Makefile clean
cmake -E echo cmake
gdb -nx -batch -ex run build/hello 2> /dev/null | grep -c hello
strace -qq -e trace=none true
strace -f -qq -o build/trace sh -c 'true'
tar czf build/src.tgz src && tar tzf build/src.tgz
tar xzf build/src.tgz -C build
zip -qr build/src.zip src && unzip -l build/src.zip | tail -1 | awk '{print $2}'
unzip -qo build/src.zip -d build
gzip -k -f build/list && gunzip -c build/list.gz
diff -u README.md build/README.md > build/p; patch -s build/README.md < <(diff -u build/README.md README.md)
sqlite3 build/data.db 'create table t(a); insert into t values (1); select * from t'
sqlite3 build/data.db 'pragma journal_mode = wal; insert into t values (2); select count(*) from t'
jq .name package.json
curl -s "file://$PWD/README.md"
curl -s http://127.0.0.1:9/; echo $?
openssl dgst -sha1 README.md
ssh-keygen -q -t ed25519 -N '' -f build/key && test -s build/key.pub
vim -es -u NONE +'%s/three/four/' +wq README.md
ex -sc '1i|first' -cx build/list; cat build/list
printf '1p\nq\n' | ed -s README.md
printf 'a\nmore\n.\nw\nq\n' | ed -s build/list
tmux -L "day$$" new-session -d 'sleep 5' && tmux -L "day$$" ls | wc -l; tmux -L "day$$" kill-server
su -c 'id -u' root < /dev/null 2>&1 | tail -1
ssh -G example.org | grep -c '^hostname example.org'
ssh -V 2>&1 | wc -l
crontab -l > /dev/null 2>&1; echo asked
getent hosts localhost | wc -l
free > /dev/null; echo $?
top -b -n1 > /dev/null; echo $?
lsof -p $$ > /dev/null 2>&1; echo asked
git add -A && git commit -qm 'The end of the day'
git status --short
`;

export function ordinaryCommands(): string[] {
  return [SHELL, GIT, PROGRAMS].flatMap((text) => text.split('\n')).filter((line) => line !== '');
}
