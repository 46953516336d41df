import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operations } from '../../src/runtime/operation-list.ts';

/** How the inspector reaches a server. */
export interface Target {
  readonly name: string;
  readonly args: readonly string[];
}

const run = promisify(execFile);

/** The inspector's command line as a person would use it: lists and calls. Answers how many commands it took. */
export async function inspect(inspector: string, { args }: Target, home: string): Promise<number> {
  let commands = 0;
  const ask = async (...words: string[]): Promise<JsonObject> => {
    commands += 1;
    const env = { PATH: process.env.PATH, HOME: home };
    const { stdout } = await run(process.execPath, [inspector, '--cli', ...args, ...words], {
      cwd: home,
      env,
    });
    return JSON.parse(stdout) as JsonObject;
  };
  const call = async (tool: string, ...given: string[]) => {
    const words = given.length === 0 ? [] : ['--tool-arg', ...given];
    const result = await ask('--method', 'tools/call', '--tool-name', tool, ...words);
    return result.structuredContent as JsonObject;
  };
  const { tools } = await ask('--method', 'tools/list', '--strict');
  const standard = operations.filter((operation) => operation.standard).map(({ name }) => name);
  const listed = (tools as JsonObject[]).map(({ name }) => name);
  for (const name of standard) assert.ok(listed.includes(name), `${name} is not listed`);
  assert.equal((await call('acquire_lock', 'file_path=src/a.ts', 'reason=inspected')).success, true);
  assert.equal((await call('check_locks')).success, true);
  assert.equal((await call('submit_work', 'task_type=t', 'task_description=d')).success, true);
  const { resources } = await ask('--method', 'resources/list');
  assert.ok((resources as JsonObject[]).some(({ uri }) => uri === 'locks://current'));
  const { contents } = await ask('--method', 'resources/read', '--uri', 'work://pending');
  assert.match(String((contents as JsonObject[])[0]?.text), /"task_description":"d"/);
  const { prompts } = await ask('--method', 'prompts/list');
  assert.ok((prompts as JsonObject[]).some(({ name }) => name === 'coordinate_file_edit'));
  const filled = ['--prompt-name', 'coordinate_file_edit', '--prompt-args', 'file_path=src/a.ts'];
  assert.match(JSON.stringify(await ask('--method', 'prompts/get', ...filled)), /acquire_lock/);
  return commands;
}
