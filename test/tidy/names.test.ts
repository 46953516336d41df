import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProject } from './files.ts';
import { namesOfTwoSlices, sharedFileNames } from './names.ts';

const project = readProject();

test('tidy: a file name is used once, but for the rooms of a slice', () => {
  assert.deepEqual(sharedFileNames(project), []);
  const planted = [
    'src/features/locks/plan.ts',
    'src/runtime/plan.ts',
    'src/features/locks/state.ts',
    'src/features/queue/state.ts',
  ];
  assert.deepEqual(sharedFileNames(planted.map((path) => ({ path, text: '' }))), [
    'src/features/locks/plan.ts and src/runtime/plan.ts',
  ]);
});

test('tidy: a name that two slices export carries its slice’s word', () => {
  assert.deepEqual(namesOfTwoSlices(project), []);
  const planted = [
    { path: 'src/features/locks/a.ts', text: 'export interface Place {}\nexport const one = 1;' },
    { path: 'src/features/board/b.ts', text: 'export type Place = string;\nconst one = 2;' },
  ];
  assert.deepEqual(namesOfTwoSlices(planted), ['Place in board and locks']);
});
