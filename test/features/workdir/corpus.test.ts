import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTask } from '../../../src/features/workdir/files/task-yaml.ts';
import { rewriteTask } from '../../../src/features/workdir/folder/task-text.ts';
import { readPlain } from '../../../src/storage/plain-yaml.ts';
import { samples } from './corpus.ts';

const valid = samples.filter(({ wrong }) => wrong === undefined);
const broken = samples.filter(({ wrong }) => wrong !== undefined);

test('[DIR-1] a corpus of task files: every valid one is read, every mistake is told with its field and line', () => {
  assert.ok(samples.length >= 200 && broken.length >= 80, `${samples.length}, of which ${broken.length}`);
  for (const { name, text } of valid) {
    const read = parseTask(text);
    assert.deepEqual([read.ok, read.problems], [true, undefined], name);
  }
  for (const { name, text, wrong } of broken) {
    const read = parseTask(text);
    const [first] = read.problems ?? [];
    assert.deepEqual({ field: first?.field, line: first?.line }, wrong, `${name}: ${first?.reason}\n${text}`);
  }
});

/** Something that only the whole language has; so the quick reader does not answer. */
const asTheWholeLanguage = (text: string) =>
  text.startsWith('{') ? text : `${text}${text.endsWith('\n') ? '' : '\n'}x-tagged: !!str yes\n`;

test('the quick reader and the whole language say the same of every valid file', () => {
  let quick = 0;
  for (const { name, text } of valid) {
    const keys = new Set([...text.matchAll(/^["']?(\w+)["']?:/gm)].map(([, key = '']) => key));
    if (readPlain(text, keys) !== undefined) quick += 1;
    assert.equal(readPlain(asTheWholeLanguage(text), keys) === undefined || text.startsWith('{'), true, name);
    assert.deepEqual(parseTask(text), parseTask(asTheWholeLanguage(text)), name);
  }
  assert.ok(quick > valid.length / 2, `${quick} of ${valid.length} were read quickly`);
});

test('[DIR-1] every valid file can be given a status, and says nothing else afterwards', () => {
  for (const { name, text } of valid) {
    const rewritten = rewriteTask(text, { status: 'assigned', assigned_at_ms: 0 });
    assert.ok('text' in rewritten, name);
    const [before, after] = [parseTask(text), parseTask(rewritten.text)];
    assert.ok(before.ok && after.ok, name);
    assert.deepEqual(after.task, { ...before.task, status: 'assigned', assigned_at_ms: 0 }, name);
    if (text.startsWith('{')) continue;
    const kept = text.split('\n').filter((line) => !/^["']?(?:status|assigned_at)/.test(line));
    const lines = rewritten.text.split('\n').filter((line) => !/^["']?(?:status|assigned_at)/.test(line));
    assert.deepEqual(lines, kept, name);
  }
});
