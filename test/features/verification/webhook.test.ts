import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sign } from '@octokit/webhooks-methods';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { type ApiDoor, ENV, startApi } from '../../transports/api.ts';

const SECRET = 'a-secret-of-the-tests-only';
const SHA = '6113728f27ae82c7b1a177c8d03f9e96e0adf246';

interface Examples {
  readonly name: string;
  readonly examples: readonly JsonObject[];
}

/** Real payloads, as GitHub's users have collected them. */
const collected = JSON.parse(
  readFileSync(fileURLToPath(import.meta.resolve('@octokit/webhooks-examples')), 'utf8'),
) as Examples[];
const examplesOf = (name: string) => collected.find((each) => each.name === name)?.examples ?? [];

let deliveries = 0;

async function deliver(
  door: ApiDoor,
  event: string,
  payload: JsonObject | string | Buffer,
  headers: Record<string, string> = {},
) {
  deliveries += 1;
  const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload);
  const signature = await sign(SECRET, body.toString());
  return await door.ask(
    'POST',
    '/webhook/github',
    {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': `delivery-${deliveries}`,
      'x-hub-signature-256': signature,
      ...headers,
    },
    body,
  );
}

const started = () => startApi({ env: { ...ENV, GITHUB_WEBHOOK_SECRET: SECRET } });

function push(
  files: Partial<Record<'added' | 'modified' | 'removed', string[]>>,
  more: JsonObject = {},
): JsonObject {
  const [example] = examplesOf('push').filter(({ ref }) => ref === 'refs/heads/master');
  const [commit] = (example?.commits ?? []) as JsonObject[];
  return {
    ...example,
    commits: [{ ...commit, added: [], removed: [], modified: [], ...files }],
    head_commit: null,
    ...more,
  };
}

const brief = (runs: unknown) => (runs as JsonObject[]).map(({ policy, status }) => `${policy} ${status}`);

test('[VER-7] a push, as GitHub sends it, becomes a changeset of whoever pushed and is routed by its files', async () => {
  await using door = await started();
  for (const example of examplesOf('push')) {
    const { status, body } = await deliver(door, 'push', example);
    assert.equal(status, 200);
    assert.equal(body.ignored !== undefined, example.ref !== 'refs/heads/master', JSON.stringify(body));
  }
  const files = { added: ['db/migrations/2.sql'], modified: ['README.md'], removed: ['src/auth/old.ts'] };
  const after = 'b'.repeat(40);
  const { body } = await deliver(door, 'push', push(files, { after }));
  assert.deepEqual(brief(body.runs), [
    'static-analysis queued',
    'unit-tests queued',
    'database-migrations queued',
    'security-sensitive waiting_for_person',
  ]);
  const { changesets } = await door.operator('list_changesets', { limit: 1 });
  const [made] = changesets as JsonObject[];
  assert.deepEqual([made?.agent_id, made?.branch, made?.commit_sha], ['github:Codertocat', 'master', after]);
  assert.partialDeepStrictEqual(made?.verification, { files_from: 'push' });
});

test('[VER-7] the same push delivered again, under any name, is the same changeset', async () => {
  await using door = await started();
  const payload = push({ modified: ['a.ts'] });
  const first = await deliver(door, 'push', payload, { 'x-github-delivery': 'one' });
  const again = await deliver(door, 'push', payload, { 'x-github-delivery': 'one' });
  const other = await deliver(door, 'push', payload);
  assert.deepEqual([again.body.changeset_id, other.body.queued], [first.body.changeset_id, 0]);
  assert.equal(((await door.operator('list_changesets', {})).changesets as unknown[]).length, 1);
  const changed = await deliver(door, 'push', push({ modified: ['b.ts'] }), { 'x-github-delivery': 'one' });
  assert.equal(changed.body.error, 'operation_id_reused');
});

test('[VER-7] files beyond what GitHub lists may be anything: every tier applies', async () => {
  await using door = await started();
  const many = Array.from({ length: 2049 }, (_, index) => `docs/${index}.md`);
  const { body } = await deliver(door, 'push', push({ added: many }));
  assert.deepEqual(
    (body.runs as JsonObject[]).map(({ tier }) => tier),
    [0, 1, 2, 3, 4],
  );
  const none = await deliver(door, 'push', push({}, { after: 'c'.repeat(40) }));
  assert.equal(
    (none.body.runs as JsonObject[]).length,
    5,
    'a branch of commits that are known lists no file',
  );
});

test('[VER-7] a forced push lists what came and not what went: every tier applies', async () => {
  await using door = await started();
  const { body } = await deliver(door, 'push', push({ modified: ['README.md'] }, { forced: true }));
  assert.ok(brief(body.runs).includes('security-sensitive waiting_for_person'), JSON.stringify(body));
});

test('[VER-7] without the secret nothing is believed: signature, type, size, form', async () => {
  await using door = await started();
  const payload = push({ modified: ['a.ts'] });
  const wrong = await sign('another secret', JSON.stringify(payload));
  for (const signature of [wrong, '', 'sha256=', 'sha1=abc', `sha256=${'0'.repeat(64)}`]) {
    const { status, text } = await deliver(door, 'push', payload, { 'x-hub-signature-256': signature });
    assert.equal(status, 401);
    assert.ok(!text.includes(SECRET) && !text.includes('Codertocat'));
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal((await deliver(door, 'push', payload, form)).status, 415);
  assert.equal((await deliver(door, 'push', `{"x":"${'y'.repeat(1_000_001)}"}`)).status, 413);
  assert.equal((await deliver(door, 'push', '[1]')).status, 422);
  assert.equal((await deliver(door, 'push', '{')).status, 422);
  assert.equal((await deliver(door, 'push', payload, { 'x-github-delivery': 'a b' })).status, 422);
  assert.deepEqual((await door.operator('list_changesets', {})).changesets, []);
  const ping = await deliver(door, 'ping', { zen: 'x' });
  assert.equal(ping.status, 200);
  await using unset = await startApi();
  const reply = await deliver(unset, 'push', payload);
  assert.equal(reply.status, 503);
  assert.match(String(reply.body.message), /GITHUB_WEBHOOK_SECRET/);
});

test('[VER-7] hostile names in a signed push are data: nobody is impersonated, nothing breaks', async () => {
  await using door = await started();
  const hostile = push(
    {
      added: ['a\u0000b', '\ud800', '../../etc/passwd', 'x'.repeat(9000)],
      modified: [7 as unknown as string],
    },
    { ref: 'refs/heads/agent/alice/\u001b[31m', sender: { login: 'person:bob\n' }, pusher: { name: 'x' } },
  );
  const { status, body } = await deliver(door, 'push', hostile);
  assert.deepEqual([status, body.success], [200, true]);
  const [made] = (await door.operator('list_changesets', {})).changesets as JsonObject[];
  assert.match(String(made?.agent_id), /^github:/);
  assert.ok(!String(made?.branch).includes('\u001b'));
});

test('[VER-4] the outcome of a workflow is kept for the run it was started for, or that its push had', async () => {
  await using door = await started();
  for (const example of examplesOf('workflow_run'))
    assert.equal((await deliver(door, 'workflow_run', example)).body.concluded, undefined);
  await deliver(door, 'push', push({ modified: ['a.ts'] }));
  const [example] = examplesOf('workflow_run').slice(1);
  const report = (run: JsonObject, more: JsonObject = {}) =>
    deliver(door, 'workflow_run', {
      ...example,
      action: 'completed',
      repository: { full_name: 'Codertocat/Hello-World', default_branch: 'main' },
      workflow: { path: '.github/workflows/cox-verify.yml' },
      workflow_run: {
        ...(example?.workflow_run as JsonObject),
        head_sha: SHA,
        event: 'push',
        conclusion: 'failure',
        head_repository: { full_name: 'Codertocat/Hello-World' },
        ...run,
      },
      ...more,
    });
  const unbelieved: [JsonObject, JsonObject?][] = [
    [{ event: 'pull_request', display_title: `cox ${SHA}#unit-tests` }],
    [{ head_repository: { full_name: 'somebody/fork' } }],
    [{}, { workflow: { path: '.github/workflows/other.yml' } }],
    [{}, { action: 'requested' }],
    [{ head_sha: 'c'.repeat(40) }],
  ];
  for (const [run, more] of unbelieved)
    assert.ok((await report(run, more)).body.ignored, JSON.stringify(run));
  const started_by_hand = { event: 'workflow_dispatch', display_title: `cox ${SHA}#unit-tests` };
  for (const head_branch of ['mine', null]) {
    const { body } = await report({ ...started_by_hand, head_branch, conclusion: 'success' });
    const [answer] = body.concluded as JsonObject[];
    assert.equal(answer?.success, false, 'a workflow as somebody’s own branch has it examines nothing');
  }
  const told = await report({ html_url: 'https://github.com/x/y/actions/runs/1' });
  assert.deepEqual(told.body.concluded, [{ run_id: `${SHA}#unit-tests`, status: 'failed', success: true }]);
  const status = await door.operator('verification_status', { commit_sha: SHA });
  const run = (status.runs as JsonObject[]).find(({ policy }) => policy === 'unit-tests');
  assert.deepEqual(
    [run?.status, run?.executor, run?.url],
    ['failed', 'github', 'https://github.com/x/y/actions/runs/1'],
  );
  const later = await report({ conclusion: 'success' });
  assert.equal((later.body.concluded as JsonObject[])[0]?.success, false, 'a result stays');
});

test('[VER-7] with GITHUB_REPOSITORY set, other repositories are not heard', async () => {
  await using door = await startApi({
    env: { ...ENV, GITHUB_WEBHOOK_SECRET: SECRET, GITHUB_REPOSITORY: 'other/repository' },
  });
  const { body } = await deliver(door, 'push', push({ modified: ['a.ts'] }));
  assert.equal(body.ignored, 'another repository');
});
