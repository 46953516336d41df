import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { type Finished, finished } from '../support.ts';
import { editOf, payloadOf } from './payloads.ts';
import { type Answered, answered, HOOK_PROGRAM, Stage } from './support.ts';

const BIN = fileURLToPath(new URL('../../../bin/cox', import.meta.url));

/** Node with these words, in a folder that is removed before it starts. */
async function fromGone(stage: Stage, words: readonly string[], input = ''): Promise<Finished> {
  const folder = join(stage.folder, 'gone');
  mkdirSync(folder);
  const child = spawn('sh', ['-c', 'rmdir "$PWD" && exec "$@"', 'sh', process.execPath, ...words], {
    cwd: folder,
    env: { ...stage.env, AGENT_ID: 'alice', SESSION_ID: 'alice-1' },
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return await finished(child);
}

async function before(
  stage: Stage,
  cwd: string,
  payload: JsonObject,
  program: readonly string[] = [HOOK_PROGRAM],
): Promise<Answered> {
  const input = JSON.stringify(payloadOf('claude-code', 'before-tool', cwd, payload));
  const words = [...program, 'claude-code', 'before-tool', '--locks', 'require'];
  return answered(await fromGone(stage, words, input));
}

const FORCE_PUSH = { tool_name: 'Bash', tool_input: { command: 'git push --force origin main' } };

test('[GUARD-2] [LOCK-12] an agent whose folder was removed under it is judged like any other', async () => {
  await using stage = new Stage();
  await stage.ask('bob', 'acquire_lock', { file_path: 'a.txt' });
  for (const program of [[HOOK_PROGRAM], [BIN, 'hook']]) {
    const push = await before(stage, stage.repo, FORCE_PUSH, program);
    assert.match(push.denied ?? '', /^Coxswain: A forced push replaces commits/);
    const edit = await before(stage, stage.repo, editOf('claude-code', stage.repo, 'a.txt'), program);
    assert.match(edit.denied ?? '', /a\.txt is locked by bob/);
  }
});

test('[HOOK-2] where nothing says which repository is meant, danger is denied and no folder comes back', async () => {
  await using stage = new Stage();
  const gone = join(stage.folder, 'gone');
  const push = await before(stage, gone, FORCE_PUSH);
  assert.match(push.denied ?? '', /could not decide about this, and it looks dangerous/);
  const edit = await before(stage, gone, editOf('claude-code', gone, 'a.txt'));
  assert.match(edit.denied ?? '', /could not check the locks/, 'as its policy says');
  assert.equal(existsSync(gone), false);
  assert.match(stage.hookLog(), /gone is not there any more/);
});

test('[CLI-1] a command in a folder that was removed says so; what needs no folder works', async () => {
  await using stage = new Stage();
  const status = await fromGone(stage, [BIN, 'status']);
  assert.deepEqual([status.code, status.out], [2, '']);
  assert.match(status.err, /^cox: invalid_input: The folder that this was started in is not there any more/);
  for (const words of [['lock', 'check'], ['git', 'status'], ['run']]) {
    const tail = words[0] === 'run' ? ['--', 'true'] : [];
    const { code, out, err } = await fromGone(stage, [BIN, ...words, '--json', ...tail]);
    assert.deepEqual([code, err], [2, ''], words.join(' '));
    assert.equal((JSON.parse(out) as JsonObject).field, 'cwd');
  }
  for (const words of [['--version'], ['lock', '--help'], ['completion', 'bash']])
    assert.equal((await fromGone(stage, [BIN, ...words])).code, 0, words.join(' '));
});
