// Runs the bundle through what is done most, in a scratch folder: `--keep quick|mcp` keeps what V8 compiled on the way,
// `--used quick|mcp FILE` prints what was loaded of the bundle that is described there.
const { mkdtempSync, readFileSync, realpathSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { PassThrough } = require('node:stream');
const { find, load } = require('../bin/bundle.cjs');

const COMMANDS = [
  ['lock', 'acquire', 'a.ts'],
  ['lock', 'acquire', 'b.ts', '--json'],
  ['lock', 'check', 'a.ts'],
  ['status'],
  ['lock', 'release', 'a.ts'],
];
const ACQUIRE = { name: 'acquire_lock', arguments: { file_path: 'c.ts' } };
const CLIENT = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'trainer', version: '1' },
};
const MESSAGES = [
  { id: 1, method: 'initialize', params: CLIENT },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
  { id: 3, method: 'tools/call', params: ACQUIRE },
];

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-train-')));
const write = process.stdout.write.bind(process.stdout);

/** One after the other, as a client sends them. */
async function mcp(program) {
  const input = new PassThrough();
  Object.defineProperty(process, 'stdin', { value: input });
  let answered = () => {};
  process.stdout.write = (_text, ...rest) => {
    rest.findLast((each) => typeof each === 'function')?.();
    answered();
    return true;
  };
  const ended = program.main(['mcp']);
  for (const message of MESSAGES) {
    const answer = new Promise((resolve) => {
      answered = resolve;
    });
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    if (message.id !== undefined) await answer;
  }
  input.end();
  await ended;
}

async function quick(program) {
  for (const stream of [process.stdout, process.stderr])
    stream.write = (_text, ...rest) => {
      rest.findLast((each) => typeof each === 'function')?.();
      return true;
    };
  for (const words of COMMANDS) await program.main(words);
}

async function main([mode, what, file]) {
  for (const name of Object.keys(process.env))
    if (/^(?:COX_|AGENT_|SESSION_ID)/.test(name)) delete process.env[name];
  process.env.COX_STATE_DIR = join(folder, 'state');
  process.env.COX_STORE = `sqlite:${join(folder, 'cox.db')}`;
  process.chdir(folder);
  const built = mode === '--used' ? JSON.parse(readFileSync(file, 'utf8')) : find();
  const { program, keep, used } = load(built, what);
  await { quick, mcp }[what](program);
  if (mode === '--used')
    write(
      used()
        .filter((name) => name.startsWith('./'))
        .join('\n'),
    );
  else keep();
}

main(process.argv.slice(2)).finally(() => {
  process.chdir(tmpdir());
  rmSync(folder, { recursive: true, force: true });
});
