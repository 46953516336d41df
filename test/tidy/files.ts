import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export type SourceText = { path: string; text: string };

const root = fileURLToPath(new URL('../..', import.meta.url));
const BYTES_MAX = 2_000_000;

/** What is tracked or would be: without a repository (an unpacked archive) whatever is not installed or built. */
function listPaths(): string[] {
  if (existsSync(join(root, '.git'))) {
    const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
      cwd: root,
      encoding: 'utf8',
    });
    return listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
  }
  const skipped = /(^|\/)(node_modules|dist|coverage|\.git)(\/|$)/;
  return globSync(['**/*', '.*', '.ci/*'], { cwd: root, exclude: (path) => skipped.test(path) });
}

export function readProject(): SourceText[] {
  const files: SourceText[] = [];
  for (const path of listPaths().sort()) {
    const info = statSync(join(root, path));
    if (!info.isFile() || info.size > BYTES_MAX) continue;
    const text = readFileSync(join(root, path), 'utf8');
    if (!text.includes('\0')) files.push({ path, text });
  }
  return files;
}

export function isCode({ path }: SourceText): boolean {
  return /^(src|test|scripts|bench)\/.*\.(ts|mjs)$/.test(path) || path.startsWith('bin/');
}

const parsed = new WeakMap<SourceText, ts.SourceFile>();

export function parse(file: SourceText): ts.SourceFile {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const kind = file.path.endsWith('.ts') ? ts.ScriptKind.TS : ts.ScriptKind.JS;
  const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true, kind);
  parsed.set(file, source);
  return source;
}

export function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}
