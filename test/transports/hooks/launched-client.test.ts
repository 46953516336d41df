import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clientIdentity, parentOfLauncher } from '../../../src/child-process/client-process.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { HookEvent } from '../../../src/transports/hooks/hook-call.ts';
import { CLIENTS, type Client } from '../../../src/transports/shared/agent-clients.ts';
import { needsOldNode, oldNode } from '../old-node.ts';
import { finished } from '../support.ts';
import type { Wish } from './fake-client.ts';
import { editOf, payloadOf } from './payloads.ts';
import { HOOK_PROGRAM, Stage } from './support.ts';

const node = oldNode();
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const BIN = file('../../../bin/cox');

/** A client without a name of its own that runs `cox` on this Node. */
function running(stage: Stage, client: Client, on: string) {
  const child: ChildProcess = spawn(
    process.execPath,
    [file('./fake-client.ts'), client, BIN, HOOK_PROGRAM, on],
    {
      cwd: stage.repo,
      env: stage.env,
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const answers = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const tell = async (wish: Wish): Promise<JsonObject> => {
    child.stdin?.write(`${JSON.stringify(wish)}\n`);
    return JSON.parse((await answers.next()).value as string) as JsonObject;
  };
  return {
    tell,
    identity: clientIdentity(client, undefined, child.pid),
    hook: (event: HookEvent, rest: JsonObject = {}) =>
      tell({ do: 'hook', event, payload: payloadOf(client, event, stage.repo, rest) }),
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

for (const client of CLIENTS)
  test(
    `[SESS-1] ${client} on an old Node: hooks and MCP server are one agent, and its end frees what it held`,
    needsOldNode(node),
    async () => {
      await using stage = new Stage();
      await using agent = running(stage, client, node ?? '');
      const locks = async () => (await stage.ask('looker', 'check_locks')).locks as JsonObject[];
      await agent.hook('session-start');
      await agent.hook('before-tool', editOf(client, stage.repo, 'a.txt'));
      const [held] = await locks();
      assert.deepEqual(
        [held?.locked_by, held?.session_id],
        [agent.identity?.agent_id, agent.identity?.session_id],
      );
      await agent.tell({ do: 'connect' });
      const again = await agent.tell({ do: 'call', name: 'acquire_lock', input: { file_path: 'a.txt' } });
      assert.deepEqual([again.success, again.action], [true, 'refreshed']);
      await agent.hook('after-tool', editOf(client, stage.repo, 'a.txt'));
      await agent.hook('turn-end');
      await agent.hook('session-end');
      assert.deepEqual(await locks(), []);
    },
  );

test('[SESS-1] only a process that runs our own script is taken for a launcher', () => {
  const facts = { name: 'node', parent: 7, started: '1' };
  const parent = (words: readonly string[] | undefined) =>
    parentOfLauncher(
      9,
      BIN,
      () => facts,
      () => words,
    );
  assert.equal(parent(['node', BIN, 'hook']), 7);
  assert.equal(parent(['node', '--no-warnings', BIN, 'hook']), 7);
  for (const words of [
    undefined,
    [],
    ['node'],
    ['claude', 'mcp', BIN],
    ['sh', '-c', BIN],
    ['codex', BIN],
    ['node', `${BIN}.js`],
  ])
    assert.equal(parent(words), 9, String(words));
  assert.equal(
    parentOfLauncher(
      9,
      BIN,
      () => undefined,
      () => ['node', BIN],
    ),
    9,
  );
});

test('[SESS-1] a client that says that it is a launcher is not believed', async () => {
  await using stage = new Stage();
  const spawned = `import { spawn } from 'node:child_process';
    const child = spawn(process.execPath, ${JSON.stringify([BIN, 'hook', 'claude-code', 'before-tool'])}, {
      stdio: ['pipe', 'ignore', 'inherit', 'ipc'], env: { ...process.env, COX_HANDED_OVER: '1' } });
    child.stdin.end(${JSON.stringify(JSON.stringify(payloadOf('claude-code', 'before-tool', stage.repo, editOf('claude-code', stage.repo, 'a.txt'))))});
    await new Promise((resolve) => child.once('exit', resolve));
    process.stdin.resume();
    console.log('done');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', spawned], {
    cwd: stage.repo,
    env: stage.env,
  });
  const own = clientIdentity('claude-code', undefined, child.pid);
  await once(child.stdout, 'data');
  const [held] = (await stage.ask('looker', 'check_locks')).locks as JsonObject[];
  assert.equal(held?.session_id, own?.session_id);
  const ended = finished(child);
  child.kill('SIGKILL');
  await ended;
});
