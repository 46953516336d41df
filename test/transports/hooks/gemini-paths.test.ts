import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Answered, Stage } from './support.ts';

/** `src/c.ts` and `a.txt` are alice's. */
async function held(): Promise<Stage> {
  const stage = new Stage();
  await stage.ask('alice', 'acquire_lock', { file_paths: ['src/c.ts', 'a.txt'] });
  return stage;
}

async function call(stage: Stage, tool_name: string, file_path: string): Promise<Answered> {
  const bob = stage.agent('bob', 'gemini-cli');
  const tool_input = { file_path, content: 'x', old_string: 'one', new_string: 'two' };
  return await bob.hook('before-tool', { tool_name, tool_input });
}

test('[LOCK-12] Gemini’s edit of a path that is not there is one of the file that it will find', async () => {
  await using stage = await held();
  for (const path of ['c.ts', 'rc/c.ts', '@c.ts'])
    assert.match((await call(stage, 'replace', path)).denied ?? '', /src\/c\.ts is locked by alice/, path);
  assert.equal((await call(stage, 'write_file', 'c.ts')).out, '', 'a new file is made where it is named');
  assert.equal((await call(stage, 'replace', 'd.ts')).out, '');
  assert.equal((await call(stage, 'replace', 'src/b.txt')).out, '', 'no path ends like that');
  assert.equal((await call(stage, 'replace', 'b.txt')).out, '');
  assert.ok(!(await stage.locks()).some((lock) => /[*?]/.test(lock)));
});

test('[LOCK-12] Gemini’s own spellings of a file are the file', async () => {
  await using stage = await held();
  const whole = join(stage.repo, '%61.txt');
  for (const path of ['@a.txt', '@/a.txt', '%61.txt', whole, 'a\0.txt', 'src/%63.ts', '@src/c.ts'])
    for (const tool of ['write_file', 'replace'])
      assert.match((await call(stage, tool, path)).denied ?? '', /is locked by alice/, `${tool} ${path}`);
  assert.equal((await call(stage, 'write_file', '100%.txt')).out, '');
  mkdirSync(join(stage.repo, '@src'));
  writeFileSync(join(stage.repo, '@src', 'old.ts'), '');
  assert.equal((await call(stage, 'write_file', '@src/c.ts')).out, '', 'there is a folder of that name');
});
