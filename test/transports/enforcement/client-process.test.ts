import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  clientIdentity,
  clientProcess,
  type ProcessFacts,
  parseProcStat,
  readPs,
} from '../../../src/child-process/client-process.ts';

const tree: Record<number, ProcessFacts> = {
  1: { name: 'init', parent: 0, started: '1' },
  10: { name: 'claude', parent: 1, started: '500' },
  11: { name: 'sh', parent: 10, started: '501' },
  12: { name: '-bash', parent: 11, started: '502' },
  20: { name: 'claude', parent: 1, started: '900' },
};
const read = (pid: number) => tree[pid];

test('[MCP-3] [HOOK-1] hooks and MCP server of one client are one agent, those of another are another', () => {
  const server = clientIdentity('claude-code', read, 10);
  const hook = clientIdentity('claude-code', read, 12);
  const other = clientIdentity('claude-code', read, 20);
  assert.equal(clientProcess(read, 12)?.pid, 10);
  assert.deepEqual(hook, server);
  assert.match(server?.agent_id ?? '', /^claude-code-[0-9a-f]{6}$/);
  assert.notEqual(other?.session_id, server?.session_id);
  const reused = clientIdentity('claude-code', () => ({ name: 'claude', parent: 1, started: '501' }), 10);
  assert.notEqual(reused?.session_id, server?.session_id, 'a process number that was used before');
});

test('[HOOK-1] without a client above, nobody is made up', () => {
  assert.equal(clientIdentity('codex', read, 99), undefined);
  assert.equal(clientIdentity('codex', read, 1), undefined);
  assert.equal(
    clientIdentity('codex', () => ({ name: 'sh', parent: 7, started: '1' }), 7),
    undefined,
  );
});

test('[HOOK-1] a process is read from /proc and from ps, whatever it calls itself', () => {
  const numbers = Array.from({ length: 17 }, (_, index) => index).join(' ');
  assert.deepEqual(parseProcStat(`42 (a) (b c) S 7 ${numbers} 12345 9 9`), {
    name: 'a) (b c',
    parent: 7,
    started: '12345',
  });
  const parent = clientProcess(undefined, process.pid);
  assert.equal(parent?.pid, process.pid);
  assert.equal(readPs(process.pid)?.parent, process.ppid);
  assert.equal(readPs(2 ** 22 + 1), undefined);
});
