import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tool } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operations as declared } from '../../src/runtime/operation-list.ts';
import { catalogueOf } from '../../src/transports/mcp/mcp-server.ts';
import { offerTools } from '../../src/transports/mcp/tools.ts';
import { chooseTools } from '../../src/transports/mcp/toolset.ts';
import { soundInputs } from './hostile.ts';
import { connectClient, startEndpoint } from './mcp-support.ts';
import { scratch, startMcp } from './support.ts';

const operations = declared.filter(({ administers, personal }) => administers !== true && personal !== true);

const TOOL_LIST_BYTES_MAX = 12_000;
/** The tools an agent needs day by day once all of them are there, and what the simple ones among them may take. */
const STANDARD_TOOLS_PLANNED = 21;
const TOOL_BYTES_PLANNED = 450;

const bytesOf = (tools: readonly Tool[]) => Buffer.byteLength(JSON.stringify({ tools }));

test('[MCP-1] the list every agent pays for stays within 12 KB, with room for what is to come', async () => {
  const tools = (await offerTools(operations.filter(({ standard }) => standard))).map(({ tool }) => tool);
  const to_come = Math.max(0, STANDARD_TOOLS_PLANNED - tools.length) * TOOL_BYTES_PLANNED;
  const bytes = bytesOf(tools);
  assert.ok(bytes + to_come <= TOOL_LIST_BYTES_MAX, `${bytes} bytes now, ${to_come} more planned`);
});

test('[MCP-1] a terse schema leaves out what is checked anyway, and nothing an agent has to know', async () => {
  const all = await offerTools(operations);
  for (const { operation, tool } of all) {
    const { properties = {}, required = [] } = (await operation.input()).json;
    const listed = Object.keys(tool.inputSchema.properties ?? {});
    assert.deepEqual(
      listed,
      Object.keys(properties as JsonObject).filter((field) => field !== 'operation_id'),
      operation.name,
    );
    assert.deepEqual(tool.inputSchema.required ?? [], required, operation.name);
    assert.doesNotMatch(JSON.stringify(tool), /\$schema|additionalProperties|9007199254740991|maxLength/);
  }
  const acquire = all.find(({ tool }) => tool.name === 'acquire_lock')?.tool.inputSchema
    .properties as JsonObject;
  const { description: _, ...minutes } = acquire.ttl_minutes as JsonObject;
  assert.deepEqual(minutes, { default: 120, type: 'number', minimum: 0.02, maximum: 480 });
});

test('[MCP-1] annotations say what a tool does to the world', async () => {
  const hints = Object.fromEntries(
    (await offerTools(operations)).map(({ tool }) => [tool.name, tool.annotations]),
  );
  const closed = { openWorldHint: false };
  assert.deepEqual(hints.check_locks, { readOnlyHint: true, ...closed });
  assert.deepEqual(hints.submit_work, { destructiveHint: false, ...closed });
  const again = { idempotentHint: true, ...closed };
  assert.deepEqual(hints.release_lock, { destructiveHint: false, ...again });
  assert.deepEqual(hints.cancel_work, { destructiveHint: true, ...again });
  for (const { name, mutates } of operations)
    assert.equal(hints[name]?.readOnlyHint ?? false, !mutates, name);
});

test('[MCP-1] sets of tools: standard, all, groups; an unknown group is named', () => {
  const names = (set?: string) => {
    const chosen = chooseTools(set);
    return 'success' in chosen ? chosen.message : chosen.map(({ name }) => name).join();
  };
  assert.equal(names(), names('standard'));
  assert.equal(names('all'), operations.map(({ name }) => name).join());
  assert.equal(names(' lock '), 'acquire_lock,release_lock,check_locks');
  assert.doesNotMatch(
    names('standard'),
    /board|artefact|bid|grant/,
    'only who takes part in the board pays for it',
  );
  assert.equal(
    names('board'),
    'board_status,join_board,leave_board,place_bid,my_grants,take_grant,return_grant,deliver_artefact',
  );
  assert.match(names('lock,'), /there is no group ""/);
  assert.match(
    names('lock,nonsense\n'),
    /expected standard, all or some of .*; there is no group "nonsense"/,
  );
});

test('[MCP-3] no tool lets a caller name another agent: the field is refused and nothing is done', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place);
  const http = { query: '?tools=all', headers: { 'x-agent-id': 'mallory' } };
  await using modern = await connectClient(endpoint.url, http);
  await using legacy = await connectClient(endpoint.url, { ...http, revision: 'legacy' });
  await using stdio = await startMcp(place, { args: ['--tools', 'all'], env: { AGENT_ID: 'mallory' } });
  for (const operation of operations) {
    const sound = soundInputs[operation.name];
    assert.ok(sound, operation.name);
    const own = Object.keys(((await operation.input()).json.properties ?? {}) as JsonObject);
    const fields = ['agent_id', 'agent_type', 'session_id', 'locked_by', 'claimed_by', 'authority'];
    for (const field of fields.filter((name) => !own.includes(name)))
      for (const client of [modern, legacy, stdio]) {
        const spoofed: JsonObject = { ...sound, [field]: 'alice' };
        const { answer, isError } = await client.call(operation.name, spoofed);
        assert.deepEqual(
          [answer.error, answer.field, isError],
          ['invalid_input', field, true],
          operation.name,
        );
      }
  }
  assert.deepEqual((await modern.call('check_locks')).answer, { success: true, locks: [] });
});

test('[MCP-1] schemas are made when somebody lists the tools, once: a client is greeted without them', async () => {
  let made = 0;
  const counted = operations.slice(0, 3).map((operation) => ({
    ...operation,
    input: async () => {
      made += 1;
      return await operation.input();
    },
  }));
  const { tools, listed } = catalogueOf(counted);
  assert.deepEqual([tools.length, made], [3, 0]);
  assert.equal((await listed()).length, 3);
  assert.equal(await listed(), await listed());
  assert.equal(made, 3);
});
