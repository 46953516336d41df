// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's, not ours
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { cox, scratch, start } from '../../transports/support.ts';

const skill = readFileSync(
  new URL('../../../src/transports/cli/init/skills/validate-feature.md', import.meta.url),
  'utf8',
);

/** A step of the shipped skill, as an agent runs it. */
function stepWith(words: string): string {
  const step = [...skill.matchAll(/```sh\n([\s\S]*?)```/g)].find(([, text = '']) =>
    text.includes(words),
  )?.[1];
  assert.ok(step, words);
  return step;
}

/** Stands where the stack's REST server would be. */
async function listenAt(port: number, answer: string): Promise<Server> {
  const server = createServer((_request, response) => response.end(answer));
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return server;
}

test('[PORT-6] [PORT-1] two agents validate at once: what reads the ports from its environment reaches its own stack', async () => {
  using place = scratch();
  // Tests of others may run on this machine at the same time.
  const base = { PORT_ALLOC_BASE: String(20_000 + 100 * Math.floor(Math.random() * 200)) };
  const stacks = await Promise.all(
    ['one', 'two'].map(async (session) => {
      const { out } = await cox(['port', 'allocate', session, '--json'], { cwd: place.folder, env: base });
      const { env_snippet, allocation } = JSON.parse(out) as { env_snippet: string; allocation: JsonObject };
      const env = { API_PORT: String(allocation.api_port), COORDINATION_API_KEYS: session };
      const api = start(['serve', '--store', 'memory:'], { cwd: place.folder, env });
      const rest = await listenAt(Number(allocation.rest_port), `the stack of ${session}`);
      return { session, env_snippet, api, rest };
    }),
  );
  try {
    for (const { session, env_snippet } of stacks) {
      const run = async (script: string) =>
        (await promisify(execFile)('sh', ['-ec', `${env_snippet}\n${script}`], { cwd: place.folder })).stdout;
      // Exactly what the skill says, and then whose answer it was.
      await run(stepWith('--retry-all-errors'));
      assert.equal(
        await run('curl -fsS "http://localhost:${AGENT_COORDINATOR_REST_PORT:-3000}/"'),
        `the stack of ${session}`,
      );
      const asked = await run(
        `curl -fsS --retry 60 --retry-delay 1 --retry-all-errors -H 'X-API-Key: ${session}' "http://localhost:\${API_PORT:-8081}/locks/active"`,
      );
      assert.deepEqual(JSON.parse(asked).locks, []);
      const other = session === 'one' ? 'two' : 'one';
      const wrong = `curl -s -o /dev/null -w '%{http_code}' -H 'X-API-Key: ${other}' "http://localhost:\${API_PORT:-8081}/locks/active"`;
      assert.equal(await run(wrong), '401', 'it is the server of this session alone');
    }
  } finally {
    for (const { api, rest } of stacks) {
      api.kill();
      rest.close();
    }
  }
});
