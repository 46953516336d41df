import { join } from 'node:path';
import { atMost, type Bench, type Row } from '../bench.ts';
import { share } from '../harness.ts';
import { HttpConnection } from '../http-load.ts';
import { buildCox, COX, McpProcess, memory_mb, NOOP_MCP, startServer } from '../processes.ts';
import { median, spread } from '../statistics.ts';

const CALLS = 200;
const CONNECTIONS = 32;
const SAMPLES = 20;

async function mcpMemory(bench: Bench): Promise<Row> {
  const dir = await bench.cleanup.tempDir('p8');
  const measure = async (args: readonly string[], tool: string): Promise<number> => {
    const server = new McpProcess(bench, args, dir);
    await server.initialise();
    for (let n = 0; n < CALLS; n++) await server.call(tool, { file_path: `src/file-${n}.ts` });
    const used_mb = memory_mb(server.child);
    await server.stop();
    return used_mb;
  };
  const [ours, noop]: [number[], number[]] = [[], []];
  for (let round = 1; round <= bench.rounds; round++) {
    bench.progress.say(`P8 memory of cox mcp: round ${round}/${bench.rounds}`);
    ours.push(await measure([COX, 'mcp', '--store', `sqlite:${join(dir, `${round}.db`)}`], 'acquire_lock'));
    noop.push(await measure([NOOP_MCP], 'noop'));
  }
  return {
    goal: 'P8',
    what: `memory of cox mcp after ${CALLS} calls`,
    ours: median(ours),
    peer: median(noop),
    peer_name: 'a no-op SDK server',
    unit: 'MB',
    ratio: spread(ours.map((used, round) => used / (noop[round] ?? Number.NaN))),
    bound: atMost(1.25, 1.15),
    note: '',
  };
}

/** Memory late in a long run beside memory early in it: what leaks shows as growth. */
async function serveMemory(bench: Bench): Promise<Row> {
  const dir = await bench.cleanup.tempDir('p8');
  const args = [COX, 'serve', '--json', '--port', '0', '--store', `sqlite:${join(dir, 'serve.db')}`];
  const server = await startServer(bench, args, dir);
  const connections = Array.from({ length: CONNECTIONS }, () => new HttpConnection(server.url));
  const used: number[] = [];
  const total = bench.p8_operations;
  for (let sample = 0; sample < SAMPLES; sample++) {
    bench.progress.say(`P8 memory of cox serve: ${Math.round((100 * sample) / SAMPLES)} %`);
    await share(total / SAMPLES / 2, CONNECTIONS, 1, async (_, n, caller) => {
      const agent = `agent-${n % 100}-${caller}`;
      const body = JSON.stringify({ file_path: `src/${caller}-${n}.ts` });
      await connections[caller]?.post('/locks/acquire', agent, body);
      await connections[caller]?.post('/locks/release', agent, body);
    });
    used.push(memory_mb(server.child));
  }
  for (const connection of connections) connection.close();
  await server.stop();
  const [early, late] = [used.slice(2, 6), used.slice(-4)];
  const ratio = median(late) / median(early);
  return {
    goal: 'P8',
    what: `memory of cox serve after ${total.toLocaleString('en')} operations`,
    ours: median(late),
    peer: median(early),
    peer_name: `ours, after a tenth to a third of them`,
    unit: 'MB',
    ratio: spread([ratio]),
    bound: atMost(1.25, 1.15),
    note: `first ${used[0]?.toFixed(0)} MB, most ${Math.max(...used).toFixed(0)} MB`,
  };
}

/** Memory. Lower is better. */
export async function p8(bench: Bench): Promise<Row[]> {
  buildCox();
  return [await mcpMemory(bench), await serveMemory(bench)];
}
