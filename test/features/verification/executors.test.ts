import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { e2b } from '../../../src/features/verification/runner/e2b.ts';
import { servedExecutors } from '../../../src/features/verification/runner/executors.ts';
import { github } from '../../../src/features/verification/runner/github.ts';
import { repositoryIn } from '../../../src/features/verification/runner/github-repository.ts';
import { inline } from '../../../src/features/verification/runner/inline.ts';
import { ntm } from '../../../src/features/verification/runner/ntm.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { until } from '../../support/until.ts';
import { isAlive, never, policy, repository } from './support.ts';

const TOKEN = `ghp_${'t0'.repeat(18)}`;

/** As much of GitHub as is asked. */
async function fakeGitHub(runs: JsonObject[] = [], status = 204) {
  const asked: { method: string; url: string; body: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      asked.push({ method, url, body, authorization: headers.authorization });
      if (url.endsWith('/dispatches')) {
        response.writeHead(status);
        return response.end(status === 204 ? undefined : '{"message":"Bad credentials"}');
      }
      return response.end(
        JSON.stringify(url.includes('/runs') ? { workflow_runs: runs } : { default_branch: 'trunk' }),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    env: { GITHUB_TOKEN: TOKEN, GITHUB_REPOSITORY: 'o/r', GITHUB_API_URL: `http://127.0.0.1:${port}` },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test('[VER-4] a workflow is dispatched with the run and the commit, and waits for its outcome', async () => {
  await using place = await repository();
  await using api = await fakeGitHub();
  const commit = place.commit({ 'a.txt': '' });
  await place.policies(policy(undefined, { tier: 1, workflow: 'ci.yml' }, 'github'));
  const routed = await place.route(commit, ['a.txt']);
  const done = await place.runner([github], { env: api.env }).runNext(never);
  assert.deepEqual([done?.success, done?.status], [true, 'running']);
  const sent = api.asked.find(({ method }) => method === 'POST');
  assert.equal(sent?.url, '/repos/o/r/actions/workflows/ci.yml/dispatches');
  assert.deepEqual(JSON.parse(sent?.body ?? ''), {
    ref: 'trunk',
    inputs: { cox_run: `${commit}#checks`, commit },
  });
  assert.equal(sent?.authorization, `Bearer ${TOKEN}`);
  assert.equal(
    await place.runner([github], { env: api.env }).runNext(never),
    undefined,
    'nobody dispatches it again',
  );
  const status = await place.ask('verification_status', { changeset_id: routed.changeset_id });
  assert.equal(status.status, 'running');
  const log = await place.ask('query_audit', { limit: 100 });
  assert.ok(!JSON.stringify(log).includes(TOKEN), 'the token is in no log');
});

test('[VER-4] what a dead runner had dispatched is found, not started a second time', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': '' });
  await place.policies(policy(undefined, { tier: 1, workflow: 'ci.yml' }, 'github'));
  await place.route(commit, ['a.txt']);
  const run = { display_title: `cox ${commit}#checks`, status: 'completed', conclusion: 'failure' };
  const elsewhere = { ...run, head_branch: 'mine', conclusion: 'success' };
  await using api = await fakeGitHub([
    { display_title: 'other' },
    elsewhere,
    { ...run, head_branch: 'trunk' },
  ]);
  const done = await place.runner([github], { env: api.env }).runNext(never);
  assert.equal(done?.status, 'failed', 'what the workflow said on another branch does not count');
  assert.ok(api.asked.every(({ method }) => method === 'GET'));
});

test('[VER-4] what GitHub refuses is an error that says so; without a token another executor stands in', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': '' });
  await place.policies(policy('echo stood in', { workflow: 'ci.yml', fallback: 'inline' }, 'github'));
  await place.route(commit, ['a.txt']);
  await using api = await fakeGitHub([], 401);
  const refused = await place.runner([github], { env: api.env }).runNext(never);
  assert.deepEqual([refused?.status, refused?.error_message], ['error', 'GitHub: 401 Bad credentials']);
  await place.route(commit, ['a.txt']);
  const done = await place.runner([github, inline]).runNext(never);
  assert.deepEqual([done?.status, done?.executor, done?.output], ['passed', 'inline', 'stood in\n']);
});

test('a repository is known by its remote', () => {
  for (const remote of [
    'https://github.com/o/r.git',
    'https://u:p@github.com/o/r',
    'git@github.com:o/r.git',
    'ssh://git@github.com/o/r',
  ])
    assert.equal(repositoryIn(remote), 'o/r', remote);
  for (const remote of [
    'https://example.org/o/r',
    'https://github.com/o/r/../x',
    '/tmp/o/r',
    'https://evil.org/github.com/o/r',
  ])
    assert.equal(repositoryIn(remote), undefined, remote);
});

const sessions = () =>
  spawnSync('tmux', ['-L', 'coxswain', 'list-sessions', '-F', '#{session_name}'], { encoding: 'utf8' })
    .stdout;

test('[VER-5] the local runner: a tmux session a run, its result, nothing left', async () => {
  await using place = await repository();
  assert.equal(await ntm.missing(process.env), undefined, 'tmux is on the machines that run these tests');
  const commit = place.commit({ 'a.txt': 'it’s here' });
  const seen = join(place.folder, '.git', 'sessions');
  await place.policies(
    policy(
      `tmux -L coxswain list-sessions > '${seen}'; cat a.txt; echo "q'uote" >&2; env | grep -c SECRET_OF_RUNNER; exit 3`,
      {},
      'ntm',
    ),
  );
  await place.route(commit, ['a.txt']);
  const done = await place.runner([ntm], { env: { SECRET_OF_RUNNER: 'x' } }).runNext(never);
  assert.deepEqual([done?.status, done?.exit_code, done?.executor], ['failed', 3, 'ntm']);
  assert.equal(done?.output, "it’s hereq'uote\n0\n");
  assert.match(readFileSync(seen, 'utf8'), /^cox-[0-9a-f]{12}:/m);
  const [name = ''] = readFileSync(seen, 'utf8').split(':');
  assert.ok(!sessions().includes(name));
  assert.equal(place.git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length, 1);
});

test('[VER-5] the local runner past its time: the session and everything in it is ended', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': '' });
  const pid = join(place.folder, '.git', 'pid');
  await place.policies(
    policy(`sh -c 'echo $$ > "${pid}"; exec sleep 300' & sleep 300`, { timeout_seconds: 1 }, 'ntm'),
  );
  await place.route(commit, ['a.txt']);
  const done = await place.runner([ntm]).runNext(never);
  assert.equal(done?.status, 'timed_out');
  assert.ok(existsSync(pid));
  await until(async () => !isAlive(Number(readFileSync(pid, 'utf8'))));
});

test('[VER-5] without tmux the local runner says so, and the policy’s stand-in does it', async () => {
  await using place = await repository();
  assert.match(String(await ntm.missing({ PATH: place.folder })), /tmux/);
  const commit = place.commit({ 'a.txt': '' });
  await place.policies(policy('true', {}, 'ntm'));
  const { runs } = await place.route(commit, ['a.txt']);
  const runner = place.runner([ntm], { env: { PATH: place.folder } });
  assert.equal(await runner.runNext(never), undefined);
  const ids = new Set((runs as JsonObject[]).map(({ run_id }) => run_id as string));
  assert.deepEqual(await runner.leftOver(ids), ['checks waits: ntm needs tmux, which is not installed.']);
});

test('[VER-5] an E2B sandbox gets the files of the commit and the command, and is ended in any case', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': 'in the sandbox' });
  const archive = join(place.folder, '.git', 'sent.tar.gz');
  const log: string[] = [];
  const sandbox = {
    files: {
      async write(path: string, data: ArrayBuffer) {
        writeFileSync(archive, new Uint8Array(data));
        log.push(`write ${path}`);
      },
    },
    commands: {
      async run(command: string, { cwd, envs }: { cwd?: string; envs?: Record<string, string> }) {
        log.push(
          `run ${command.slice(0, 20)} ${cwd ?? ''} ${envs?.COX_COMMIT === commit} ${envs?.NAMED ?? ''}`,
        );
        // As the package does it: another code than 0 is thrown.
        if (command === 'exit 4')
          throw Object.assign(new Error('exit status 4'), { exitCode: 4, stdout: 'out', stderr: 'err' });
        return { exitCode: 0, stdout: '', stderr: '' };
      },
    },
    kill: async () => void log.push('kill'),
  };
  const executor = e2b(async () => ({
    Sandbox: {
      async create({ apiKey }) {
        log.push(`create ${apiKey}`);
        return sandbox;
      },
    },
  }));
  await place.policies(policy('exit 4', { required_environment: ['NAMED'] }, 'e2b'));
  await place.route(commit, ['a.txt']);
  const env = { E2B_API_KEY: 'key', NAMED: 'value', OTHER: 'not this' };
  const done = await place.runner([executor], { env }).runNext(never);
  assert.deepEqual([done?.status, done?.exit_code, done?.output], ['failed', 4, 'out\nerr']);
  assert.deepEqual(log, [
    'create key',
    'write /tmp/cox-tree.tar.gz',
    'run mkdir -p /tmp/cox-tr  false ',
    'run exit 4 /tmp/cox-tree true value',
    'kill',
  ]);
  const listed = spawnSync('tar', ['-tzf', archive], { encoding: 'utf8' }).stdout;
  assert.match(listed, /^\.\/a\.txt$/m);
  assert.doesNotMatch(listed, /\.git/);
});

test('[VER-5] without the package or its key E2B says what to do', async () => {
  assert.equal(await e2b().missing({}), 'E2B_API_KEY');
  assert.match(String(await e2b().missing({ E2B_API_KEY: 'k' })), /npm install e2b/);
});

test('a server runs nobody’s code unless it is told to', () => {
  const names = (env: NodeJS.ProcessEnv) => {
    const found = servedExecutors(env);
    return 'success' in found ? found.field : found.map(({ name }) => name);
  };
  assert.deepEqual(names({}), ['github']);
  assert.deepEqual(names({ COX_VERIFY: 'off' }), []);
  assert.deepEqual(names({ COX_VERIFY: 'inline, ntm' }), ['inline', 'ntm']);
  assert.equal(names({ COX_VERIFY: 'docker' }), 'COX_VERIFY');
});
