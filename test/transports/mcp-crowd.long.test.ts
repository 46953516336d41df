// A thousand clients at once on one server: whatever is answered is answered to the one who asked.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Crowd } from './mcp-crowd-worker.ts';
import { startEndpoint } from './mcp-support.ts';
import { scratch } from './support.ts';

/** CI sends a thousand; a part of them shows as much in every test run. */
const CLIENTS = Number(process.env.COX_TEST_CLIENTS ?? 200);
const worker = fileURLToPath(new URL('mcp-crowd-worker.ts', import.meta.url));

test(`[MCP-3] ${CLIENTS} clients at once, of both revisions: no answer reaches another client`, async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place);
  const args = [worker, endpoint.url, String(CLIENTS)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 10_000_000 });
  const { holders, sessions, winners } = JSON.parse(stdout) as Crowd;
  assert.deepEqual([new Set(holders).size, new Set(sessions).size, winners], [CLIENTS, CLIENTS, 1]);
});
