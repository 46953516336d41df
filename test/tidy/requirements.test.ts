import assert from 'node:assert/strict';
import { test } from 'node:test';
import ts from 'typescript';
import { parse, readProject, visit } from './files.ts';
import { requirements } from './requirements.ts';

/** Ids in brackets at the start of a text: test titles, also those that a table or a template builds. */
function citedIds(): Map<string, string> {
  const cited = new Map<string, string>();
  for (const file of readProject()) {
    if (!/^test\/(?!tidy\/).*\.ts$/.test(file.path)) continue;
    visit(parse(file), (node) => {
      if (!ts.isStringLiteralLike(node) && !ts.isTemplateHead(node)) return;
      const [brackets] = /^(\[[A-Z]+-\d+\]\s*)+/.exec(node.text) ?? [''];
      for (const [, id] of brackets.matchAll(/\[([A-Z]+-\d+)\]/g))
        if (id !== undefined) cited.set(id, file.path);
    });
  }
  return cited;
}

const cited = citedIds();

test('every promise of this version is cited by a test', () => {
  assert.deepEqual(
    Object.entries(requirements)
      .filter(([id]) => !cited.has(id))
      .map(([id, promise]) => `${id}: ${promise}`),
    [],
  );
});

test('no test cites a promise this version does not make', () => {
  assert.deepEqual(
    [...cited].filter(([id]) => !(id in requirements)).map(([id, path]) => `${path} cites ${id}`),
    [],
  );
});
