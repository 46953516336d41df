// `node scripts/house/footprint.ts [folder of a checkout]`: how many sources one warm `acquire_lock` over MCP passes (by coverage), and how
// many the hook before a shell command loads when it runs from the sources. With --list it names them.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

interface Recorded {
  readonly signals: number;
  readonly loaded: readonly string[];
  readonly passed: readonly string[];
}

const words = process.argv.slice(2).filter((word) => word !== '--list');
const isListed = process.argv.includes('--list');
const root = resolve(words[0] ?? join(import.meta.dirname, '../..'));
const WARM_CALLS = 30;

const place = mkdtempSync(join(tmpdir(), 'cox-footprint-'));
const record = join(place, 'recorded.json');
execFileSync('git', ['init', '-q', place]);

function startNode(words: readonly string[]): ChildProcess {
  rmSync(record, { force: true });
  const recorder = pathToFileURL(join(import.meta.dirname, 'recorder.mjs')).href;
  const child = spawn(process.execPath, ['--import', recorder, ...words], {
    cwd: place,
    env: {
      ...process.env,
      COX_BUNDLE: 'off',
      COX_RECORD_FILE: record,
      COX_RECORD_ROOT: `${pathToFileURL(root).href}/`,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin?.on('error', () => {});
  return child;
}

function readRecord(): Recorded {
  return JSON.parse(readFileSync(record, 'utf8')) as Recorded;
}

/** The record that the process writes when it has handled the signal. */
async function signal(child: ChildProcess, count: number): Promise<Recorded> {
  child.kill('SIGUSR2');
  for (;;) {
    await setTimeout(20);
    if (existsSync(record) && readRecord().signals === count) return readRecord();
  }
}

const ended = (child: ChildProcess) => new Promise((resolve) => child.once('close', resolve));

/** The sources in which a function ran between the request of the last lock and its answer. */
async function passedByALock(): Promise<readonly string[]> {
  const child = startNode([join(root, 'bin/cox'), 'mcp']);
  if (child.stdout === null) throw new Error('cox mcp has no output');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const send = (message: object) => child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (method: string, params: object) => {
    id += 1;
    send({ id, method, params });
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`cox mcp ended before it answered ${method}`);
      const answer = JSON.parse(value) as { id?: number; result?: object };
      if (answer.id === id) return answer.result;
    }
  };
  const lock = (name: string) => ask('tools/call', { name: 'acquire_lock', arguments: { file_path: name } });
  const clientInfo = { name: 'footprint', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  send({ method: 'notifications/initialized' });
  for (let call = 0; call < WARM_CALLS; call += 1) await lock(`src/warm-${call}.ts`);
  await signal(child, 1);
  const answer = await lock('src/measured.ts');
  const { passed } = await signal(child, 2);
  child.stdin?.end();
  await ended(child);
  if (!JSON.stringify(answer).includes('acquired')) throw new Error(`no lock: ${JSON.stringify(answer)}`);
  return passed;
}

/** The hook as clients start it, but from the sources; in a repository whose store is there, as it is for all hooks but the first. */
async function loadedByAHook(command: string): Promise<readonly string[]> {
  const main = ['src/transports/hooks/hook-main.ts', 'src/doors/hooks/main.ts']
    .map((path) => join(root, path))
    .find(existsSync);
  const start = `import(${JSON.stringify(main)}).then(({ main }) => main(['claude-code', 'before-tool']))`;
  const child = startNode(['-e', start]);
  child.stdout?.resume();
  child.stdin?.end(
    JSON.stringify({
      ...{ session_id: 's1', cwd: place, hook_event_name: 'PreToolUse', tool_name: 'Bash' },
      tool_input: { command },
    }),
  );
  await ended(child);
  return readRecord().loaded;
}

function print(title: string, sources: readonly string[]): void {
  console.log(`${title}: ${sources.length} files`);
  if (isListed) for (const source of sources) console.log(`  ${source}`);
}

try {
  print('a warm acquire_lock over MCP passes', await passedByALock());
  await loadedByAHook('true');
  for (const command of ['npm test', 'rm -f out.log'])
    print(`the hook before \`${command}\` loads`, await loadedByAHook(command));
} finally {
  rmSync(place, { recursive: true, force: true });
}
