import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { HookEvent } from '../../../src/transports/hooks/hook-call.ts';
import { QUICK_BYTES_MAX } from '../../../src/transports/hooks/quick.ts';
import { CLIENTS, type Client } from '../../../src/transports/shared/agent-clients.ts';
import { until } from '../../support/until.ts';
import type { Finished } from '../support.ts';
import type { Wish } from './fake-client.ts';
import { editOf, payloadOf } from './payloads.ts';
import { type Answered, answered, HOOK_PROGRAM, Stage as NewStage, type Stage } from './support.ts';

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A running client without a name of its own: who it is follows from its process. */
class Running {
  readonly process: ChildProcess;
  readonly client: Client;
  readonly #stage: Stage;
  readonly #answers: AsyncIterator<string>;

  constructor(stage: Stage, client: Client) {
    this.#stage = stage;
    this.client = client;
    const args = [file('./fake-client.ts'), client, file('../../../bin/cox'), HOOK_PROGRAM];
    this.process = spawn(process.execPath, args, {
      cwd: stage.repo,
      env: stage.env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: this.process.stdout as NodeJS.ReadableStream });
    this.#answers = lines[Symbol.asyncIterator]();
  }

  async tell(wish: Wish): Promise<JsonObject> {
    this.process.stdin?.write(`${JSON.stringify(wish)}\n`);
    const { value } = await this.#answers.next();
    return JSON.parse(value as string) as JsonObject;
  }

  call(name: string, input: JsonObject = {}): Promise<JsonObject> {
    return this.tell({ do: 'call', name, input });
  }

  async hook(event: HookEvent, rest: JsonObject = {}): Promise<Answered> {
    const payload = payloadOf(this.client, event, this.#stage.repo, rest);
    return answered((await this.tell({ do: 'hook', event, payload })) as unknown as Finished);
  }

  edit(path: string): Promise<Answered> {
    return this.hook('before-tool', editOf(this.client, this.#stage.repo, path));
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const gone = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await gone;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

async function holders(stage: Stage): Promise<string[]> {
  return (await stage.locks()).map((line) => line.replace(/: (\S+) .*/, ' $1'));
}

for (const client of CLIENTS) {
  test(`[MCP-3] [HOOK-1] ${client}: hooks and MCP server of one process are one agent, its twin is another`, async () => {
    await using stage = new NewStage();
    await using one = new Running(stage, client);
    await using two = new Running(stage, client);
    await one.tell({ do: 'connect' });
    const taken = await one.call('acquire_lock', { file_path: 'a.txt', reason: 'asked for' });
    assert.equal(taken.success, true);
    assert.equal((await one.edit('a.txt')).out, '', 'its own');
    assert.match((await two.edit('a.txt')).denied ?? '', /a\.txt is locked by \S+-[0-9a-f]{6}.*"asked for"/);

    // Longer than a quick process reads: the one that it is handed on to knows the client, too.
    const padding = 'x'.repeat(QUICK_BYTES_MAX);
    await one.hook('before-tool', { ...editOf(client, stage.repo, 'b.txt'), padding });
    const { locks } = await one.call('check_locks');
    const [first, second] = locks as JsonObject[];
    assert.match(first?.locked_by as string, new RegExp(`^${client}-[0-9a-f]{6}$`));
    for (const field of ['locked_by', 'session_id', 'agent_type'])
      assert.equal(first?.[field], second?.[field], field);
    assert.match(
      (await one.hook('session-start')).context ?? '',
      new RegExp(`you are ${first?.locked_by}\\.`),
    );
    assert.equal(
      (await one.call('release_lock', { file_path: 'b.txt' })).success,
      true,
      'what its hook has taken',
    );
  });
}

test('[HOOK-1] [SESS-4] kill -9 of a client frees its locks at once, through its MCP server, with a hand-off', async () => {
  await using stage = new NewStage();
  await using one = new Running(stage, 'claude-code');
  await one.tell({ do: 'connect' });
  await one.call('acquire_lock', { file_path: 'a.txt', reason: 'asked for' });
  await one.edit('b.txt');
  assert.equal((await stage.locks()).length, 2);
  await one.kill();
  await until(async () => (await stage.locks()).length === 0);
  const [handoff] = await until(async () => {
    const found = await stage.handoffs();
    return found.length > 0 && found;
  });
  assert.deepEqual(handoff?.in_progress, ['a.txt was locked: asked for']);
});

test('[HOOK-1] also when the agent never asked its MCP server for anything', async () => {
  await using stage = new NewStage();
  await using one = new Running(stage, 'gemini-cli');
  await one.tell({ do: 'connect' });
  await one.edit('a.txt');
  assert.equal((await stage.locks()).length, 1);
  await one.kill();
  await until(async () => (await stage.locks()).length === 0);
});

test('[HOOK-1] an MCP server that ends or is killed while its client lives frees nothing', async () => {
  await using stage = new NewStage();
  await using one = new Running(stage, 'codex');
  await one.tell({ do: 'connect' });
  await one.call('acquire_lock', { file_path: 'a.txt' });
  await one.edit('b.txt');
  const before = await holders(stage);
  await one.tell({ do: 'disconnect' });
  assert.deepEqual(await holders(stage), before);
  const { pid } = await one.tell({ do: 'connect' });
  assert.equal(
    (await one.call('acquire_lock', { file_path: 'a.txt' })).action,
    'refreshed',
    'still the same agent',
  );
  process.kill(pid as number, 'SIGKILL');
  assert.equal((await one.edit('a.txt')).out, '');
  assert.deepEqual(await holders(stage), before);
});

test('[HOOK-1] a name in the environment wins over the process', async () => {
  await using stage = new NewStage();
  Object.assign(stage.env, { AGENT_ID: 'alice' });
  await using one = new Running(stage, 'claude-code');
  await using two = new Running(stage, 'claude-code');
  await one.edit('a.txt');
  assert.deepEqual(await holders(stage), ['a.txt alice']);
  await one.hook('turn-end');
  await two.edit('b.txt');
  assert.deepEqual(await holders(stage), ['b.txt alice'], 'two sessions of one agent');
});
