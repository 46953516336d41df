// `node scripts/screens.ts`: draws docs/screens anew, in 80 columns, from the real commands on a small scene.
// A test does the same and compares, so that what the documents show is what a person sees.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from '../src/index.ts';
import type { JsonObject } from '../src/kernel/json.ts';
import type { Coxswain } from '../src/runtime/coxswain.ts';
import { operationsByName } from '../src/runtime/operation-list.ts';
import { main } from '../src/transports/cli/main.ts';

const COLUMNS = 80;
const ROWS = 34;
/** Where the store would be: the scene's own folder is somewhere else each time. */
const SHOWN_STORE = 'sqlite:.git/coxswain/cox.db';

type Call = (operation: string, input?: JsonObject) => Promise<JsonObject>;

function agent(coxswain: Coxswain, agent_id: string, gone?: AbortSignal, onWaiting?: () => void): Call {
  const connection = coxswain.connect({ agent_id, agent_type: 'claude-code', session_id: agent_id });
  return async (name, input = {}) => {
    const operation = operationsByName.get(name);
    if (operation === undefined) throw new Error(`there is no operation ${name}`);
    const answer = await connection.perform(operation, input, { signal: gone, onWaiting });
    if (answer.success !== true && gone?.aborted !== true) throw new Error(JSON.stringify(answer));
    return answer;
  };
}

/** A morning with five agents; ben waits for as long as the pictures are taken. */
async function setScene(coxswain: Coxswain, over: AbortSignal): Promise<{ waiting: Promise<unknown> }> {
  const [ada, cleo, dan, eve] = ['ada', 'cleo', 'dan', 'eve'].map((name) => agent(coxswain, name)) as Call[];
  if (!ada || !cleo || !dan || !eve) throw new Error('somebody is missing');
  const waits = Promise.withResolvers<void>();
  const ben = agent(coxswain, 'ben', over, waits.resolve);
  await ada('register_session', { capabilities: ['typescript'], current_task: 'rename the router' });
  await ada('acquire_lock', { file_path: 'src/router.ts', reason: 'rename the router' });
  await cleo('acquire_lock', { file_path: 'web/', reason: 'new colours', shared: true });
  const build = await ada('submit_work', {
    task_type: 'build',
    task_description: 'compile everything',
    priority: 1,
  });
  const submit = async (task_type: string, task_description: string, more: JsonObject = {}) =>
    await ada('submit_work', { task_type, task_description, ...more });
  await submit('test', 'run the browser tests', { depends_on: [String(build.task_id)] });
  const migrate = await submit('migrate', 'rename the price column', { max_attempts: 1 });
  await submit('release', 'publish version 2', { depends_on: [String(migrate.task_id)] });
  await dan('get_work', { task_types: ['migrate'] });
  await dan('end_session');
  await cleo('get_work', { task_types: ['build'] });
  await submit('docs', 'describe the new routes');
  await submit('lint', 'tidy up src/', { priority: 3 });
  await eve('register_session', { capabilities: ['review'], current_task: 'review the cart' });
  await eve('write_handoff', { summary: 'cart reviewed, one question left' });
  await eve('send_message', { to: ['ada'], body: 'may I have src/router.ts after ben?' });
  const waiting = ben('acquire_lock', { file_path: 'src/router.ts', wait_seconds: 600 });
  await Promise.race([waits.promise, waiting]);
  return { waiting };
}

async function picture(words: readonly string[], store: string, cwd: string): Promise<string> {
  let text = '';
  const out = async (part: string) => {
    text += part;
  };
  const terminal = {
    env: { COX_STORE: store },
    cwd,
    columns: COLUMNS,
    rows: ROWS,
    seen: { out: true, err: true },
    out,
    err: out,
  };
  await main([...words, '--no-color'], terminal);
  return text.replaceAll(store, SHOWN_STORE);
}

export async function captureScreens(): Promise<Record<'status' | 'watch', string>> {
  const folder = mkdtempSync(join(tmpdir(), 'cox-screens-'));
  const store = `sqlite:${join(folder, 'cox.db')}`;
  const over = new AbortController();
  const coxswain = await open({ store, cwd: folder });
  try {
    const { waiting } = await setScene(coxswain, over.signal);
    const status = await picture(['status'], store, folder);
    const watch = await picture(['watch', '--once'], store, folder);
    over.abort();
    await waiting;
    return { status, watch };
  } finally {
    await coxswain.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const folder = fileURLToPath(new URL('../docs/screens', import.meta.url));
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await captureScreens()))
    writeFileSync(join(folder, `${name}.txt`), text);
}
