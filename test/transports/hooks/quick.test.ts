import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { nodeFlags, QUICK_BYTES_MAX } from '../../../src/transports/hooks/quick.ts';
import { HOOK_PROGRAM, Stage } from './support.ts';

const QUICK = nodeFlags('before-tool');

/** Notes with which flags every Node is started that has its environment. */
function spyIn(stage: Stage): { env: Record<string, string>; starts(): string[][] } {
  const [spy, notes] = [join(stage.folder, 'spy.cjs'), join(stage.folder, 'starts')];
  writeFileSync(notes, '');
  writeFileSync(
    spy,
    `require('node:fs').appendFileSync(${JSON.stringify(notes)}, JSON.stringify(process.execArgv) + '\\n');`,
  );
  return {
    env: { NODE_OPTIONS: `--require=${spy}` },
    starts: () =>
      readFileSync(notes, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as string[]),
  };
}

function writing(stage: Stage, characters: number) {
  const content = 'x'.repeat(characters);
  return { tool_name: 'Write', tool_input: { file_path: join(stage.repo, 'a.txt'), content } };
}

test('[HOOK-2] [LOCK-12] a long payload is read by a process whose table of names nobody can foresee', async () => {
  await using stage = new Stage();
  await stage.ask('alice', 'acquire_lock', { file_path: 'a.txt', reason: 'mine' });
  const bob = stage.agent('bob');
  const cases = [
    { characters: 100, starts: [QUICK] },
    { characters: QUICK_BYTES_MAX - 2000, starts: [QUICK] },
    { characters: QUICK_BYTES_MAX, starts: [QUICK, []] },
    { characters: 5_000_000, starts: [QUICK, []] },
  ];
  for (const { characters, starts } of cases) {
    const spy = spyIn(stage);
    const { denied, code, err } = await bob.hook('before-tool', writing(stage, characters), {
      env: spy.env,
    });
    assert.match(denied ?? '', /a\.txt is locked by alice.*"mine"/, `${characters}`);
    assert.deepEqual([code, err], [0, '']);
    assert.deepEqual(spy.starts(), starts, `${characters}`);
  }
});

test('[HOOK-2] a long payload that comes in pieces is no exception', async () => {
  await using stage = new Stage();
  const spy = spyIn(stage);
  const bob = stage.agent('bob');
  const bytes = Buffer.from(JSON.stringify({ cwd: stage.repo, ...writing(stage, QUICK_BYTES_MAX) }));
  const stdin = [bytes.subarray(0, 10), bytes.subarray(10, 50), bytes.subarray(50)];
  const { denied, code } = await bob.hook('before-tool', {}, { env: spy.env, stdin });
  assert.deepEqual([denied, code], [undefined, 0]);
  assert.deepEqual(spy.starts(), [QUICK, []]);
  assert.deepEqual(await stage.locks(), ['a.txt: bob (editing (automatic))']);
});

test("[HOOK-2] each way of starting finds code that was compiled for it, and leaves the other's alone", async () => {
  await using stage = new Stage();
  const folder = dirname(HOOK_PROGRAM);
  const compiled = () =>
    Object.fromEntries(
      readdirSync(folder)
        .filter((name) => /^hook-(?:before|during)-.*\.bin$/.test(name))
        .map((name) => [name, statSync(join(folder, name)).ino]),
    );
  const before = compiled();
  assert.equal(Object.keys(before).filter((name) => name.includes('hook-before')).length, 2);
  const bob = stage.agent('bob');
  await bob.edit('a.txt');
  await bob.edit('a.txt', { nodeFlags: [] });
  await bob.edited('a.txt');
  assert.deepEqual(compiled(), before);
});
