// `npm run example`: the review loop of cox.yml in a scratch repository, live, and then once more from the log.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const here = import.meta.dirname;
const bin = join(here, '../../bin/cox');
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'cox-example-')));
const folder = join(scratch, 'repository');

/** Neither your store nor your identity: all of it is in the scratch folder. */
const foreign = /^(COX_|COORDINATION_API_|AGENT_|SESSION_ID$|POSTGRES_DSN$|DB_BACKEND$|GIT_|NODE_TEST)/;
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name))),
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  COX_STATE_DIR: join(scratch, 'state'),
  GIT_AUTHOR_NAME: 'example',
  GIT_AUTHOR_EMAIL: 'example@example.org',
  GIT_COMMITTER_NAME: 'example',
  GIT_COMMITTER_EMAIL: 'example@example.org',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

function git(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', words, { cwd: folder, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${words.join(' ')}: ${stderr}`);
  return stdout.trim();
}

/** As you would type it. Its output is passed on line by line, and also answered. */
async function cox(...words: string[]): Promise<string> {
  const isData = words.includes('--json');
  if (!isData)
    console.log(`\n$ cox ${words.map((word) => (word.includes(' ') ? `"${word}"` : word)).join(' ')}`);
  const colour = process.stdout.isTTY && !isData ? ['--color'] : [];
  const child = spawn(process.execPath, [bin, ...words, ...colour], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    if (!isData) process.stdout.write(text);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`cox ${words[0]} ended with ${code}`);
  return out;
}

async function artefacts(): Promise<{ id: string; type: string; version: number; payload: string }[]> {
  const { artefacts: all } = JSON.parse(await cox('artefact', 'list', '--json'));
  return all;
}

// Ctrl-C reaches whatever runs; we stay until it has ended, and clear up.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
try {
  cpSync(here, folder, { recursive: true, filter: (path) => !path.endsWith('.ts') });
  git('init', '--quiet', '--initial-branch', 'main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Three agents and a board');

  await cox('forage', 'a page about oars');
  await cox('up', '--until-idle');

  const made = await artefacts();
  const draft = made.find(({ type, version }) => type === 'Draft' && version === 2);
  const commit = made.find(({ type }) => type === 'CodeCommit');
  if (draft === undefined || commit === undefined) throw new Error('the story went another way');
  await cox('unearth', draft.id);
  const { artefact } = JSON.parse(await cox('artefact', 'get', commit.id, '--json'));
  console.log(
    `\n$ git show ${artefact.payload.slice(0, 12)}:oars.md\n${git('show', `${artefact.payload}:oars.md`)}`,
  );

  await cox('replay');
  const { equal, rows, events } = JSON.parse(await cox('replay', '--json'));
  console.log(
    `\nThe log, ${rows} rows with ${events} events, replays to the same end: ${equal ? 'yes' : 'NO'}.`,
  );
  if (!equal) process.exitCode = 1;
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}
