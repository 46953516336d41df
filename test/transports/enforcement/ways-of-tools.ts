/** More ways to change `held.txt`, as in ways-to-change.ts: by the tools of a development machine. A line is a script of its own. */

const AGAIN = 'mkdir t && cp other.txt t/held.txt';
const FOLDER = 'D=$(basename "$PWD")';

export const BASH = String.raw`
echo x &> held.txt
echo x >& held.txt
ls no-such-file 2>> held.txt
exec {fd}<> held.txt; echo x >&$fd
exec > held.txt; echo x
exec 3>&1 > held.txt; echo x; exec >&3
trap 'echo x > held.txt' EXIT; exit
trap 'echo x > held.txt' USR1; kill -USR1 $BASHPID
coproc tee held.txt; echo x >&"${'$'}{COPROC[1]}"; eval "exec ${'$'}{COPROC[1]}>&-"; wait
set -o history; history -s x; history -w held.txt
set -o history; history -s x; history -a held.txt
source <(echo 'echo x > held.txt')
echo 'echo x > held.txt' > env; BASH_ENV=env bash -c :
echo 'echo x > held.txt' > env; ENV=env sh -i -c : 2>&1
echo 'echo x > held.txt' > rc; bash --rcfile rc -i -c :
exec 7> held.txt; BASH_XTRACEFD=7; set -x; :
printf '%s' x > "./$(echo dleh | rev).txt"
set -- held.txt; echo x > "$1"
f() { echo x > held.txt; }; export -f f; bash -c f
for f in *.txt; do echo x > "$f"; done
while read -r l; do echo "$l"; done < other.txt > held.txt
select f in held.txt; do echo x > $f; break; done <<< 1
cat > held.txt < other.txt
cat other.txt | (cat > held.txt)
diff <(echo a) <(echo b) > held.txt
tee held.txt < other.txt
tee held.txt held.txt < other.txt
tee -p held.txt < other.txt
echo x | tee >(cat > held.txt); sleep 0.1
mkfifo p; timeout 1 sh -c 'echo x > p' & cat p > held.txt; wait
dash -c 'echo x > held.txt'
bash -r -c 'cp other.txt held.txt'
bash -o posix -c 'echo x > held.txt'
env -S 'sh -c "echo\_x\_>\_held.txt"'
env -C . sh -c 'echo x > held.txt'
env -i PATH="$PATH" sh -c 'echo x > held.txt'
exec -a innocent sh -c 'echo x > held.txt'
command eval 'echo x > held.txt'
builtin printf x > held.txt
alias w='echo x >'; shopt -s expand_aliases; eval 'w held.txt'
printf 'echo x > held.txt' | bash -s
printf '#!/bin/sh\necho x > held.txt\n' > s; chmod +x s; ./s
printf '#!/usr/bin/awk -f\nBEGIN { print "x" > "held.txt" }\n' > s; chmod +x s; ./s
cp "$(command -v tee)" t; echo x | ./t held.txt
ln -s "$(command -v tee)" cat; echo x | ./cat held.txt
`;

export const WRAPPERS = String.raw`
stdbuf -o0 sh -c 'echo x > held.txt'
taskset 1 sh -c 'echo x > held.txt'
prlimit --nofile=100 sh -c 'echo x > held.txt'
setarch -R sh -c 'echo x > held.txt'
ionice -c 3 sh -c 'echo x > held.txt'
chrt -o 0 sh -c 'echo x > held.txt'
runuser -u root -- sh -c 'echo x > held.txt'
su root -c "cd '$PWD' && echo x > held.txt"
sg root -c 'echo x > held.txt'
fakeroot sh -c 'echo x > held.txt'
unshare -Ur sh -c 'echo x > held.txt'
unshare -Urm sh -c 'echo x > held.txt'
unshare -Urpf sh -c 'echo x > held.txt'
setsid -w sh -c 'echo x > held.txt'
setpriv --no-new-privs sh -c 'echo x > held.txt'
nsenter -t $$ sh -c 'echo x > held.txt'
setpriv --reuid 0 --keep-groups sh -c 'echo x > held.txt'
xargs -a other.txt sh -c 'echo x > held.txt'
printf 'a\0b\0' | xargs -0 -P2 sh -c 'echo $0 > held.txt'
flock -x other.txt sh -c 'echo x > held.txt'
logsave held.txt echo x
logsave -a held.txt echo x
script -q -c true held.txt
script -q -a -c true held.txt
script -q -I held.txt -c true
strace -qq -o '|cat > held.txt' true
strace -qq -A -o held.txt true
valgrind -q --log-file=held.txt true
perf stat -o held.txt true
tmux -L "own$$" new-session -d 'echo x > held.txt'; sleep 0.3; tmux -L "own$$" kill-server
make -s -f - <<< 'all: ; echo x > held.txt'
printf 'held.txt: other.txt\n\tcp $< $@\n' > Makefile; touch -d 1990-01-01 held.txt; make
printf '$(file >held.txt,x)\nall:\n' > Makefile; make
printf 'X := $(shell echo x > held.txt)\nall:\n' > Makefile; make
cmake -E copy other.txt held.txt
cmake -E copy_if_different other.txt held.txt
cmake -E rename other.txt held.txt
cmake -E rm held.txt
cmake -E remove held.txt
cmake -E create_symlink other.txt held.txt
echo 'file(WRITE held.txt x)' > w.cmake; cmake -P w.cmake
echo 'file(APPEND held.txt x)' > w.cmake; cmake -P w.cmake
echo 'file(RENAME other.txt held.txt)' > w.cmake; cmake -P w.cmake
echo 'file(REMOVE held.txt)' > w.cmake; cmake -P w.cmake
echo 'configure_file(other.txt held.txt COPYONLY)' > w.cmake; cmake -P w.cmake
echo 'execute_process(COMMAND echo x OUTPUT_FILE held.txt)' > w.cmake; cmake -P w.cmake
echo 'file(DOWNLOAD file://${'$'}{CMAKE_CURRENT_SOURCE_DIR}/other.txt held.txt)' > w.cmake; cmake -P w.cmake
${AGAIN} && tar cf t.tar -C t held.txt && cmake -E tar xf t.tar
`;

export const FILES = String.raw`
cp -u -t . /etc/passwd; cp -T passwd held.txt
cp --reflink=auto other.txt held.txt
cp --sparse=always other.txt held.txt
cp -a other.txt held.txt
cp -b other.txt held.txt
cp -H -f other.txt ./held.txt
${AGAIN} && cp -r t/. .
${AGAIN} && cp -t . t/held.txt
${AGAIN} && cp -T -r t .
${AGAIN} && mv -t . t/held.txt
${AGAIN} && mv -f t/* .
mv -b other.txt held.txt
mv -T other.txt held.txt
mv --backup=numbered other.txt held.txt
ln -f -T other.txt held.txt
ln -sfT /etc/passwd held.txt
ln -b other.txt held.txt
rm held.txt; link other.txt held.txt
install -b other.txt held.txt
install -D -T other.txt held.txt
install -C -m 600 other.txt held.txt
truncate -r other.txt held.txt
truncate -s 0 linked.txt
truncate -o -s 1 held.txt
dd if=/dev/null of=held.txt
dd if=other.txt of=held.txt oflag=append conv=notrunc
dd if=other.txt of=held.txt bs=1 seek=3 count=1 conv=notrunc,fsync
dd if=other.txt of=linked.txt
fallocate -z -o 0 -l 5 held.txt
fallocate -o 4096 -l 10 held.txt
shred -n 1 -z held.txt
sed --in-place 1d held.txt
sed -i -e '$a more' held.txt
sed -i -s 's/^/# /' held.txt other.txt
sed --in-place=.orig --follow-symlinks s/first/last/ held.txt
sed 's/e/f/w held.txt' other.txt
sed '1e echo x > held.txt' other.txt
sed -n '1W held.txt' other.txt
sort --output=held.txt other.txt
sort -m -T . -o held.txt other.txt other.txt
shuf -o held.txt other.txt
shuf -e -o held.txt a b c
ptx -G other.txt held.txt
split --filter='cat > held.txt' other.txt
split -n 1 --additional-suffix=.txt other.txt p && mv paa.txt held.txt
iconv -f utf8 -t utf16 -o held.txt other.txt
xxd other.txt held.txt
xxd -p other.txt held.txt
find . -name held.txt -fprintf held.txt x
find . -name held.txt -fls held.txt
find . -name held.txt -fprint0 held.txt
find . -name held.txt -execdir rm {} ';'
find . -samefile linked.txt -delete
find "$PWD" -delete
awk '{ print > ("held" ".txt") }' other.txt
awk 'BEGIN { system("echo x > held.txt") }'
awk 'BEGIN { printf "x" | "tee held.txt" }'
awk -v f=held.txt 'BEGIN { print "x" > f; close(f) }'
awk '1' other.txt > held.new && mv held.new held.txt
patch -s -o held.txt other.txt < /dev/null
printf '1c\nchanged\n.\n' | patch -s -e held.txt
printf '1c1\n< first line, changed\n---\n> normal\n' | patch -s -n held.txt
diff -u held.txt other.txt | patch -s held.txt
diff -u held.txt other.txt > p; patch -s -i p -p0 --follow-symlinks
diff -u held.txt /dev/null | patch -s -E held.txt
diff3 -m other.txt other.txt other.txt > new && mv new held.txt
sdiff -o held.txt other.txt other.txt
touch -d 1990-01-01 held.txt && cp -u other.txt held.txt
${FOLDER}; cd .. && mv "$D" "$D-away" && mkdir "$D" && echo x > "$D/held.txt"
${FOLDER}; cd .. && mv "$D" "$D-away" && ln -s "$D-away" "$D" && echo x > "$D/held.txt"
${FOLDER}; cd .. && cp -r "$D" "$D-2" && echo x > "$D-2/held.txt" && mv "$D" "$D-3" && mv "$D-2" "$D"
${FOLDER}; cd .. && rm -rf "$D"
${FOLDER}; cd .. && git mv "$D" "$D-moved"
${FOLDER}; cd .. && perl -e 'rename $ARGV[0], "$ARGV[0]-x"; mkdir $ARGV[0]' "$D"
ln linked.txt third.txt; echo x > third.txt
ln -s linked.txt s; cp --remove-destination other.txt s; cp other.txt linked.txt
ln -s . a; ln -s a b; echo x > b/a/b/held.txt
echo x > /proc/self/cwd/./held.txt
exec 5< .; echo x > /proc/self/fd/5/held.txt
exec 5< held.txt; echo x > /proc/self/fd/5
`;

export const ARCHIVES = String.raw`
${AGAIN} && tar cf t.tar -C t held.txt && tar xf t.tar --unlink-first
${AGAIN} && tar cf t.tar -C t held.txt && tar xf t.tar --recursive-unlink
${AGAIN} && tar cf t.tar -C t held.txt && tar xOf t.tar > held.txt
${AGAIN} && tar cf t.tar -C t held.txt && tar xf t.tar --to-command='cat > held.txt'
${AGAIN} && tar czf t.tgz -C t held.txt && tar xzf t.tgz
${AGAIN} && tar cJf t.txz -C t held.txt && tar xf t.txz
tar cf t.tar other.txt && tar xf t.tar --transform s/other/held/
tar cf /dev/null other.txt --checkpoint=1 --checkpoint-action=exec='sh -c "echo x > held.txt"'
tar -I 'sh -c "cat > held.txt"' -cf - other.txt
tar --create --file=held.txt --gzip other.txt
tar cf held.txt -T <(echo other.txt)
zip -qm t.zip held.txt
zip -q t.zip held.txt -TT true -m
${AGAIN} && (cd t && zip -q ../t.zip held.txt); unzip -oq t.zip -d .
${AGAIN} && (cd t && zip -q ../t.zip held.txt); unzip -p t.zip > held.txt
${AGAIN} && (cd t && zip -q ../t.zip held.txt); python3 -m zipfile -e t.zip .
${AGAIN} && (cd t && zip -q ../t.zip held.txt); jar xf t.zip
${AGAIN} && (cd t && ar r ../t.a held.txt); ar x t.a
${AGAIN} && (cd t && ar r ../t.a held.txt); ar p t.a > held.txt
${AGAIN} && tar cf t.tar -C t held.txt && python3 -m tarfile -e t.tar .
${AGAIN} && tar cf t.tar -C t held.txt && ptar -xf t.tar
mkdir -p d/DEBIAN && cp other.txt d/held.txt && printf 'Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a\nDescription: a\n' > d/DEBIAN/control && dpkg-deb -b d d.deb && dpkg-deb -x d.deb .
zstd -q -f other.txt -o held.txt
zstd -q other.txt -o t.zst && zstd -q -d -f t.zst -o held.txt
zstd -q --rm -f held.txt
lz4 -q -f other.txt held.txt
lz4 -q -f --rm held.txt
lzma -f held.txt
xz -f -k -S .z held.txt && xz -d -f held.txt.z; rm held.txt
${AGAIN} && gzip -n t/held.txt && mv t/held.txt.gz . && gzip -d -f held.txt.gz
${AGAIN} && bzip2 t/held.txt && mv t/held.txt.bz2 . && bunzip2 -f held.txt.bz2
sqlite3 t.sqlar -Ac other.txt && cp other.txt o2 && sqlite3 t.sqlar "update sqlar set name = 'held.txt'" && sqlite3 t.sqlar -Ax
`;

export const COMPILERS = String.raw`
gcc -S -x c - -o held.txt <<< 'int x;'
gcc -c -x c - -o held.txt <<< 'int x;'
gcc -E -x c - -o held.txt <<< 'int x;'
gcc -c -x c - -o /dev/null -MD -MF held.txt <<< 'int x;'
echo '-S -x c - -o held.txt' > args; gcc @args <<< 'int x;'
cpp - -o held.txt <<< x
as -o held.txt <<< .text
ld -r -b binary -o held.txt other.txt
objcopy -I binary -O elf64-x86-64 other.txt held.txt
strip -o held.txt "$(type -P cat)"
gcc -c -x c - -o a.o <<< 'int x;' && ld -r -Map=held.txt a.o -o b.o
gcc -c -x c - -o a.o <<< 'int x;' && ar r t.a a.o && cp t.a held.txt
printf '#include <stdio.h>\nint main(void) { return rename("other.txt", "held.txt"); }' | gcc -x c - -o w && ./w
printf '#include <fcntl.h>\nint main(void) { return creat("held.txt", 0644); }' | gcc -x c - -o w && ./w
printf '#define _GNU_SOURCE\n#include <fcntl.h>\n#include <unistd.h>\nint main(void) { int a = open("other.txt", 0), b = open("held.txt", 1); return copy_file_range(a, 0, b, 0, 4, 0); }' | gcc -x c - -o w && ./w
printf '#include <fstream>\nint main() { std::ofstream("held.txt") << 1; }' | g++ -x c++ - -o w && ./w
printf '#include <fcntl.h>\n__attribute__((constructor)) static void f(void) { creat("held.txt", 0644); }' | gcc -shared -fPIC -x c - -o w.so && LD_PRELOAD=./w.so cat other.txt
echo 'class W { public static void main(String[] a) throws Exception { java.nio.file.Files.writeString(java.nio.file.Path.of("held.txt"), "x"); } }' > W.java; java W.java
jar cf held.txt other.txt
echo 'let a = 1' > a.js; "$BIN/esbuild" a.js --log-level=error --outfile=held.txt --allow-overwrite
gdb -nx -batch -ex 'shell echo x > held.txt'
gdb -nx -batch -ex 'dump binary value held.txt 1'
gdb -nx -batch -ex 'set logging file held.txt' -ex 'set logging overwrite on' -ex 'set logging enabled on' -ex 'show version'
gdb -nx -batch -ex 'python open("held.txt", "w").write("x")'
gdb -nx -batch -ex 'pipe show version | cat > held.txt'
`;

export const EDITORS = String.raw`
printf '1s/first/x/\nw\nq\n' | ed -s held.txt
printf 'w held.txt\nq\n' | ed -s other.txt
printf 'W held.txt\nq\n' | ed -s other.txt
printf '!echo x > held.txt\nq\n' | ed -s other.txt
printf 'w !tee held.txt\nq\n' | ed -s other.txt
vim -es -u NONE +'set backupcopy=yes' +'%s/first/x/' +wq held.txt
vim -es -u NONE +'set backupcopy=no' +'%s/first/x/' +wq held.txt
vim -es -u NONE +'set backup' +'normal dd' +x held.txt
vim -es -u NONE +'w! held.txt' +q other.txt
vim -es -u NONE +'sav! held.txt' +q other.txt
vim -es -u NONE +'1w >> held.txt' +q other.txt
vim -es -u NONE +'call writefile(["x"], "held.txt")' +q
vim -es -u NONE +'call delete("held.txt")' +q
vim -es -u NONE +'call rename("other.txt", "held.txt")' +q
vim -es -u NONE +'redir! > held.txt' +version +'redir END' +q
vim -es -u NONE +'mksession! held.txt' +q
vim -es -u NONE +'mkvimrc! held.txt' +q
vim -es -u NONE +'!echo x > held.txt' +q
vim -es -u NONE +'w !cat > held.txt' +q other.txt
vim -es -u NONE --startuptime held.txt +q
vim -es -u NONE +'args held.txt other.txt' +'argdo %s/e/x/e | update' +qa
view -es -u NONE +'normal dd' +'w!' +q held.txt
rvim -es -u NONE +'normal dd' +wq held.txt
ex -s held.txt <<< $'1d\nwq'
ex -sc 'r other.txt' -c x held.txt
`;

export const TOOLS = String.raw`
curl -s "file://$PWD/other.txt" --output held.txt
${AGAIN} && (cd t && tar cf t.tar held.txt) && curl -sO "file://$PWD/t/held.txt"
${AGAIN} && curl -s --output-dir . -O "file://$PWD/t/held.txt"
printf 'url = "file://%s/other.txt"\noutput = "held.txt"\n' "$PWD" | curl -s -K -
curl -s --trace held.txt "file://$PWD/other.txt"
curl -s -c held.txt "file://$PWD/other.txt"
curl -s --libcurl held.txt "file://$PWD/other.txt"
curl -sD held.txt "file://$PWD/other.txt"
curl --stderr held.txt "file://$PWD/no-such-file"
wget -o held.txt --tries=1 http://127.0.0.1:9/
wget -q -O held.txt --tries=1 http://127.0.0.1:9/
openssl dgst -out held.txt other.txt
openssl base64 -in other.txt -out held.txt
openssl genpkey -algorithm ed25519 -out held.txt
openssl rand -writerand held.txt 1
yes | ssh-keygen -q -t ed25519 -N '' -f held.txt
gpg --batch --yes --homedir . -o held.txt --store other.txt
gpg --batch --yes --homedir . -o held.txt --enarmor other.txt
printf '.open f held.txt\n.write f x\n' | groff -U
printf '.opena f held.txt\n.write f x\n' | troff -U
printf '.pso echo x > held.txt\n' | groff -U
pod2text other.txt held.txt
pod2man other.txt held.txt
sqlite3 :memory: "select writefile('held.txt', 'x')"
sqlite3 :memory: ".log held.txt" "select * from nothing"
sqlite3 :memory: ".trace held.txt" "select 1"
sqlite3 :memory: '.shell echo x > held.txt'
sqlite3 :memory: '.system cp other.txt held.txt'
sqlite3 :memory: ".output '|cat > held.txt'" 'select 1'
psql -X -L held.txt -h 127.0.0.1 -p 1 -c 'select 1'; echo x | tee -a held.txt
jq -r .a --arg f held.txt <<< '{"a": "echo x > held.txt"}' | sh
echo 'puts [open held.txt w] x' | tclsh
echo 'file delete held.txt' | tclsh
echo 'file rename -force other.txt held.txt' | tclsh
echo 'file copy -force other.txt held.txt' | tclsh
echo 'exec tee held.txt << x' | tclsh
echo 'chan truncate [open held.txt r+] 1' | tclsh
echo 'set f [open held.txt a]; puts $f x; close $f' | tclsh
`;
