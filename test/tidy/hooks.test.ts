import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { parse, readProject, type SourceText } from './files.ts';

/** Importing zod alone triples the start of a hook, which runs before every edit: schemas come by dynamic import. */
const HEAVY = /^(zod|hono|@hono\/.*|libpg-query|@aws-sdk\/.*|@modelcontextprotocol\/.*|commander)(\/|$)/;

/** Modules loaded at start: static imports and re-exports, without those that are erased with the types. */
function staticImports(file: SourceText): string[] {
  const found: string[] = [];
  for (const statement of parse(file).statements) {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
    const erased = ts.isImportDeclaration(statement)
      ? statement.importClause?.phaseModifier
      : statement.isTypeOnly;
    if (erased === true || erased === ts.SyntaxKind.TypeKeyword) continue;
    const target = statement.moduleSpecifier;
    if (target !== undefined && ts.isStringLiteral(target)) found.push(target.text);
  }
  return found;
}

/** Every way from the files below `folder` to a heavy package, written as the chain of imports. */
function heavyPaths(files: SourceText[], folder: string): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const queue = files.filter(({ path }) => path.startsWith(folder)).map(({ path }) => [path]);
  const seen = new Set(queue.flat());
  const found: string[] = [];
  for (const chain of queue) {
    const file = byPath.get(chain.at(-1) ?? '');
    for (const target of file === undefined ? [] : staticImports(file)) {
      if (HEAVY.test(target)) found.push([...chain, target].join(' → '));
      if (file === undefined || !target.startsWith('.')) continue;
      const path = posix.join(posix.dirname(file.path), target);
      if (!seen.has(path)) queue.push([...chain, path]);
      seen.add(path);
    }
  }
  return found;
}

test('tidy: no static import leads from a hook to a heavy package', () => {
  assert.deepEqual(heavyPaths(readProject(), 'src/transports/hooks/'), []);
});

test('tidy: the walk follows static imports only', () => {
  const files = [
    {
      path: 'src/transports/hooks/a.ts',
      text: "import { b } from '../../b.ts'; import type { Z } from 'zod';",
    },
    { path: 'src/b.ts', text: "export * from './c.ts'; const z = await import('zod');" },
    { path: 'src/c.ts', text: "import { z } from 'zod/mini';" },
  ];
  assert.deepEqual(heavyPaths(files, 'src/transports/hooks/'), [
    'src/transports/hooks/a.ts → src/b.ts → src/c.ts → zod/mini',
  ]);
  assert.deepEqual(heavyPaths(files.slice(0, 2), 'src/transports/hooks/'), []);
});
