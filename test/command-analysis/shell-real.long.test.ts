// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's, not ours
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, test } from 'node:test';
import { filesWritten, type Write } from '../../src/command-analysis/shell/analyse-shell.ts';
import { globMatches } from '../../src/kernel/glob.ts';

/** What is said of a command, held against what bash and the programs really do. */
const folder = mkdtempSync(join(tmpdir(), 'cox-shell-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const FILES = [
  'a.ts',
  'b.ts',
  'with space.ts',
  'src/a.ts',
  'src/b.ts',
  'src/deep/c.ts',
  'lib/x.js',
  'list.txt',
];

const COMMANDS = [
  'echo x > a.ts',
  'echo x >> new.txt',
  'echo x >| "with space.ts"',
  'ls nothing &> errors.log; true',
  'ls nothing 2> errors.log; true',
  '{ echo a; echo b; } > both.txt',
  'cat <<EOF > here.txt\n> a.ts\nEOF',
  'echo x | tee one.txt two.txt >/dev/null',
  'cd src && rm a.ts',
  'cd src; rm a.ts; cd ..; rm b.ts',
  '(cd src && touch n.ts); touch n.ts',
  'cd nowhere 2>/dev/null || cd lib; rm x.js',
  '[ -d src ] && cd src; rm b.ts',
  'if [ -d nowhere ]; then cd nowhere; fi; rm b.ts',
  'pushd src >/dev/null && rm a.ts && popd >/dev/null && rm b.ts',
  'for d in src lib; do cd $d; touch y; cd ..; done',
  'for d in */; do (cd "$d" && touch z); done',
  'for f in src/*.ts; do mv "$f" "${f%.ts}.js"; done',
  'for f in *.ts; do cp "$f" "copy-$f"; done',
  'for i in 1 2 3; do touch "n$i"; done',
  'for ((i=0;i<3;i++)); do touch f$i; done',
  'i=0; while [ $i -lt 3 ]; do touch f$i; i=$((i+1)); done',
  'find src -name "*.ts" | while read -r f; do echo x >> "$f"; done',
  'find src -name "*.ts" -exec sed -i s/x/y/ {} +',
  'find . -name c.ts -delete',
  'find src -type d -name deep -exec rm -rf {} +',
  'grep -rl text src | xargs sed -i s/text/other/',
  'printf "a.ts\\nb.ts\\n" | xargs -I{} mv {} {}.bak',
  'echo a.ts b.ts | xargs -n1 rm',
  'ls *.ts | head -1 | xargs rm',
  'f=a.ts; g=$f; rm "$g"',
  'F="a.ts b.ts"; rm $F',
  'F="*.ts"; rm $F',
  'files=(a.ts "with space.ts"); rm "${files[@]}"',
  'f=src/a.ts; mv $f ${f%.ts}.js; touch ${f##*/}.new ${f%/*}/x',
  'f=a.b.c; touch ${f%%.*}.x ${f#*.} ${f##*.} ${f%.*} ${f/b/z} ${f//./_}',
  'rm {a,b}.ts src/{a,deep/{c,d}}.ts 2>/dev/null; true',
  'touch n{1..3} m{01..03} {x,y}{1,2} "{p,q}" {r}',
  'rm [ab].ts; touch [zz].new',
  'mkdir -p "app/[slug]" && touch app/[slug]/page.tsx',
  'rm src/*.ts',
  'rm -rf src/*',
  'rm -rf src lib',
  'set -- a.ts b.ts; shift; rm "$1"',
  'f() { rm "$1"; cd src; }; f a.ts; rm b.ts',
  'bash -c \'cd src && rm "$1"\' _ a.ts; rm b.ts',
  "bash <<'EOF'\nf=a.ts\nrm $f\nEOF",
  "echo 'rm a.ts' | sh",
  'X=rm; $X -f a.ts',
  'eval "cd src"; rm a.ts',
  'env -C src rm a.ts',
  'x=$(touch inside; echo a.ts); rm $x',
  'rm "$(dirname src/a.ts)/$(basename src/b.ts)"',
  'cat list.txt > >(tee out.log >/dev/null); sleep 0.05',
  'trap "touch trapped" EXIT; rm a.ts',
  'sed -i.bak s/text/x/ a.ts b.ts',
  'sed -n "s/text/x/w out.txt" a.ts',
  "sed -n 's/[/t]e/b/w out.txt' a.ts",
  'mv a.ts lib',
  'mv a.ts b.ts lib/',
  'mv lib core',
  'mv src lib',
  'cp a.ts lib',
  'cp -r src copy',
  'cp -r src/. lib',
  'cp -t lib a.ts b.ts',
  'ln -s ../a.ts lib/',
  'ln -s src/deep/c.ts',
  'install -m 755 a.ts lib/tool',
  'touch -r a.ts n.ts && truncate -s 0 b.ts',
  'dd if=a.ts of=copy.img 2>/dev/null',
  'sort -r -o list.txt list.txt; uniq list.txt u.txt',
  'tar czf out.tgz src && rm -r src && tar xzf out.tgz',
  'gzip a.ts && gzip -k b.ts',
  'patch -p1 -s <<EOF\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-text\n+other\nEOF',
  'git checkout -q -- . ; git rm -q a.ts; git mv b.ts c.ts',
  'echo x > n.txt; git checkout -q HEAD -- a.ts; git rm -rq src',
  'echo x > a.ts; git apply <<EOF\n--- a/b.ts\n+++ b/b.ts\n@@ -1 +1 @@\n-text\n+other\nEOF',
  "node -e \"fs.writeFileSync('n.txt', 'x'); fs.renameSync('a.ts', 'c.ts')\"",
  "node <<'EOF'\nconst f = 'a.ts';\nrequire('fs').appendFileSync(f, 'x');\nEOF",
  "node -e \"require('child_process').execSync('rm a.ts')\"",
];

function fresh(): string {
  const root = mkdtempSync(join(folder, 'run-'));
  for (const path of FILES) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), path === 'list.txt' ? 'b\na\nb\n' : 'text\n');
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'start');
  return root;
}

function contents(root: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(root, path);
    if (name.startsWith('.git')) continue;
    // Folders come and go with what is in them.
    if (!entry.isDirectory()) found.set(name, entry.isFile() ? readFileSync(path, 'utf8') : 'a link');
  }
  return found;
}

function covers({ path, how }: Write, name: string): boolean {
  const bare = path.replace(/^\.\//, '').replace(/\/+$/, '');
  if (how === 'glob') return globMatches(bare, name);
  return bare === name || (how === 'tree' && (bare === '.' || name.startsWith(`${bare}/`)));
}

test('shell: what bash really writes is what was said', () => {
  const missed: string[] = [];
  for (const command of COMMANDS) {
    const root = fresh();
    const before = contents(root);
    const { writes, unknown, everywhere } = filesWritten(command, { cwd: root, home: folder, root });
    const run = spawnSync('bash', ['-c', command], { cwd: root, timeout: 20_000, encoding: 'utf8' });
    if (run.status !== 0) missed.push(`${command}: ended with ${run.status} ${run.stderr}`);
    const now = contents(root);
    const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
      (name) => before.get(name) !== now.get(name),
    );
    if (changed.length === 0) missed.push(`${command}: changed nothing`);
    if (unknown.length > 0) missed.push(`${command}: unknown ${unknown.join(', ')}`);
    const free = changed.filter(
      (name) => everywhere.length === 0 && !writes.some((write) => covers(write, name)),
    );
    if (free.length > 0) missed.push(`${command}: wrote ${free.join(', ')}, not ${JSON.stringify(writes)}`);
  }
  assert.deepEqual(missed, []);
});
