// Runs the bundled hook as clients do, in a scratch folder, and keeps what V8 compiled on the way.
const { mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const dist = process.argv[2];
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-hook-')));
const env = { COX_STORE: `sqlite:${join(folder, 'cox.db')}`, COX_STATE_DIR: join(folder, 'state') };

async function main() {
  const { program, scripts, END } = require(join(dist, 'hook.cjs'));
  const isQuick = END === '.quick.bin';
  const programs = { before: program('before-tool'), during: isQuick ? undefined : program() };
  const run = async (event, tool_name, tool_input, agent) => {
    if (isQuick && event !== 'before-tool') return;
    const payload = { session_id: agent, cwd: folder, tool_name, tool_input };
    const order = { client: 'claude-code', event, locks: 'auto' };
    const around = { env: { ...env, AGENT_ID: agent, SESSION_ID: agent }, cwd: folder };
    const { runHook } = event === 'before-tool' ? programs.before : programs.during;
    const { close } = await runHook(order, { ...around, read: async () => JSON.stringify(payload) });
    await close();
  };
  const edit = (event, file, agent) => run(event, 'Edit', { file_path: join(folder, file) }, agent);
  await run('session-start', '', {}, 'a');
  await edit('before-tool', 'a.ts', 'a');
  await edit('before-tool', 'a.ts', 'b');
  await edit('after-tool', 'a.ts', 'a');
  await run('before-tool', 'Bash', { command: 'sed -i s/a/b/ c.ts && echo x > d.ts' }, 'a');
  await run('turn-end', '', {}, 'a');
  for (const [name, script] of Object.entries(scripts)) {
    const file = join(dist, name + END);
    const aside = `${file}.${process.pid}.new`;
    writeFileSync(aside, script.createCachedData());
    renameSync(aside, file);
  }
}

main()
  .finally(() => rmSync(folder, { recursive: true, force: true }))
  .then(() => process.exit(0));
