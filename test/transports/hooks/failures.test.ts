import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { HookEvent } from '../../../src/transports/hooks/hook-call.ts';
import { CLIENTS } from '../../../src/transports/shared/agent-clients.ts';
import { type FakeAgent, Stage } from './support.ts';

const LIFECYCLE: HookEvent[] = ['session-start', 'after-tool', 'turn-end', 'session-end'];

/** What can be wrong with a store, and the words by which its trouble is known. */
const TROUBLES: Record<string, (stage: Stage) => Record<string, string>> = {
  damaged: ({ store }) => {
    mkdirSync(dirname(store), { recursive: true });
    writeFileSync(store, 'this is no database, and has never been one\n'.repeat(100));
    return {};
  },
  'not to be reached': () => ({ COX_STORE: 'postgres://nobody@127.0.0.1:1/none' }),
  'in a place that is a file': ({ repo }) => {
    writeFileSync(join(repo, '.git', 'coxswain'), '');
    return {};
  },
  'of a repository that was moved': ({ repo }) => {
    rmSync(join(repo, '.git'), { recursive: true });
    writeFileSync(join(repo, '.git'), 'gitdir: ../moved/.git/worktrees/x\n');
    return {};
  },
  'of an unknown kind': () => ({ COX_STORE: 'carrier-pigeon:loft' }),
};

async function checkPolicies(agent: FakeAgent): Promise<void> {
  const required = await agent.edit('a.txt', { flags: ['--locks', 'require'] });
  assert.equal(required.code, 0);
  assert.match(
    required.denied ?? '',
    /^Coxswain could not check the locks \(.+\), and edits without a check are not/,
  );
  for (const policy of ['auto', 'warn']) {
    const { code, denied, notice = '', context } = await agent.edit('a.txt', { flags: ['--locks', policy] });
    assert.deepEqual([code, denied], [0, undefined]);
    assert.match(notice, /^Coxswain could not check the locks \(.+\): this goes ahead unguarded\.$/);
    assert.equal(context, agent.client === 'gemini-cli' ? undefined : notice);
  }
}

for (const [trouble, arrange] of Object.entries(TROUBLES)) {
  test(`[HOOK-2] a store that is ${trouble}: no event stops the agent, the lock check follows the policy`, async () => {
    await using stage = new Stage();
    const env = arrange(stage);
    const alice = stage.agent('alice', 'claude-code', { env });
    for (const event of LIFECYCLE) {
      const { code, out } = await alice.hook(event);
      assert.deepEqual([code, out], [0, ''], event);
    }
    await checkPolicies(alice);
    const lines = stage.hookLog().trimEnd().split('\n');
    assert.equal(lines.length, LIFECYCLE.length + 3);
    for (const [index, event] of LIFECYCLE.entries())
      assert.match(lines[index] ?? '', new RegExp(`^\\d{4}-\\S+Z claude-code ${event}: .`));
  });
}

for (const client of CLIENTS) {
  test(`[HOOK-2] ${client}: without a store each policy is answered in the client's own way`, async () => {
    await using stage = new Stage();
    TROUBLES.damaged?.(stage);
    await checkPolicies(stage.agent('alice', client));
  });
}

test('[HOOK-2] a store that another process keeps locked: answered in time, by the policy', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  await alice.start();
  const other = new DatabaseSync(stage.store);
  try {
    other.exec('BEGIN EXCLUSIVE');
    const started_ms = Date.now();
    const [required, auto, start] = await Promise.all([
      alice.edit('a.txt', { flags: ['--locks', 'require'] }),
      alice.edit('a.txt'),
      alice.hook('session-start'),
    ]);
    assert.ok(Date.now() - started_ms < 8000, 'clients give us more than that');
    assert.match(required.denied ?? '', /you do not hold a\.txt/, 'looking needs no writer');
    assert.match(auto.context ?? '', /goes ahead unguarded/);
    assert.deepEqual([start.code, start.out], [0, '']);
  } finally {
    other.exec('ROLLBACK');
    other.close();
  }
  assert.equal((await alice.edit('a.txt')).out, '', 'and afterwards as before');
});

test('[HOOK-2] the log is written where a person finds it, stays small, and takes no part of it down', async () => {
  await using stage = new Stage();
  const log = join(stage.repo, '.git', 'coxswain', 'hooks.log');
  const alice = stage.agent('alice', 'claude-code', { env: { AGENT_ID: 'person:alice' } });
  await alice.start();
  assert.equal(
    stage.hookLog(),
    readFileSync(join(stage.state, 'hooks.log'), 'utf8'),
    'no folder of a store yet',
  );
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, 'x'.repeat(300_000));
  await alice.start();
  assert.deepEqual(readdirSync(dirname(log)).sort(), ['hooks.log', 'hooks.log.old']);
  assert.match(readFileSync(log, 'utf8'), /^[^\n]*agent_id: expected another name[^\n]*\n$/);
  assert.equal(statSync(log).mode & 0o077, 0, 'nobody else reads it');
  rmSync(log);
  mkdirSync(log);
  assert.equal((await alice.start()).code, 0);
  assert.match(readFileSync(join(stage.state, 'hooks.log'), 'utf8'), /\n.*expected another name/);
});

test('[HOOK-2] with nowhere to write, the agent still goes on', async () => {
  await using stage = new Stage();
  const env = {
    COX_STATE_DIR: '/dev/null/nowhere',
    HOME: '/dev/null',
    COX_STORE: 'sqlite:/dev/null/x/cox.db',
  };
  const alice = stage.agent('alice', 'claude-code', { env });
  for (const event of LIFECYCLE) assert.deepEqual((await alice.hook(event)).code, 0, event);
  await checkPolicies(alice);
});

test('[HOOK-2] a folder that may not be written is no reason to stop, either', async () => {
  await using stage = new Stage();
  const folder = dirname(stage.store);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o555);
  try {
    const { code, denied } = await stage.agent('alice').edit('a.txt');
    assert.deepEqual([code, denied], [0, undefined]);
  } finally {
    chmodSync(folder, 0o755);
  }
});

test('[HOOK-2] settings that mean nothing are a failure like any other', async () => {
  await using stage = new Stage();
  const env = { COX_STALE_MINUTES: 'soon' };
  await checkPolicies(stage.agent('alice', 'claude-code', { env }));
  assert.match(stage.hookLog(), /COX_STALE_MINUTES: expected minutes/);
});

test('[HOOK-2] called wrongly it says how, and blocks nothing', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  for (const flags of [['--locks', 'maybe'], ['--what'], ['--store']]) {
    const { code, out, err } = await alice.edit('a.txt', { flags });
    assert.deepEqual([code, out], [1, ''], flags.join(' '));
    assert.match(err, /^cox hook: .+\n$/);
  }
});
