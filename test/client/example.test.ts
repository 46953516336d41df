import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { scratch } from '../transports/support.ts';
import { KEY, serve } from './support.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/two-agents.ts', import.meta.url));

const TOLD = [
  /^alice has src\/app\.ts, grant \d+$/,
  /^bob {3}is told: src\/app\.ts is locked by alice until .* \("rename the router"\)\.$/,
  /^bob {3}has src\/app\.ts now$/,
  /^bob {3}does: build it$/,
  /^bob {3}does: test it$/,
  /^$/,
];

async function told(cwd: string, args: string[], env: Record<string, string>): Promise<void> {
  const { PATH = '' } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE, ...args], {
    cwd,
    env: { PATH, ...env },
  });
  const lines = stdout.split('\n');
  assert.equal(lines.length, TOLD.length, stdout);
  for (const [index, line] of lines.entries()) assert.match(line, TOLD[index] ?? /never/);
}

test('examples/two-agents.ts: on a store, and with a server', async () => {
  using place = scratch();
  await told(place.folder, [join(place.folder, 'example.db')], {});
  await using server = await serve(place);
  await told(place.folder, [], { COORDINATION_API_URL: server.url, COORDINATION_API_KEY: KEY });
});
