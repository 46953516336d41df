import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { readOnlyViewSupport } from '../../../src/child-process/view-support.ts';
import { open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';
import { until } from '../../support/until.ts';
import { type Bench, bench } from './support.ts';

const { isThere } = await readOnlyViewSupport();
const wherePossible = {
  skip: process.platform !== 'linux' || !isThere ? 'the kernel can’t protect files here' : false,
};

interface Said {
  readonly out: string;
  readonly err: string;
  readonly code: number | null;
}

function prefixOf(place: Bench): string {
  const settings = JSON.parse(place.read('.claude/settings.local.json')) as { env?: Record<string, string> };
  return settings.env?.CLAUDE_CODE_SHELL_PREFIX ?? '';
}

function bashEnvOf(place: Bench): string {
  return /^BASH_ENV = "(.*)"$/m.exec(place.read('.codex/config.toml'))?.[1] ?? '';
}

/** The client: the process that stands in the repository and starts the shells. */
const CLIENT = `const { spawnSync } = require('node:child_process');
const { status } = spawnSync(process.argv[1], process.argv.slice(2), { stdio: 'inherit' });
process.exit(status)`;

function inClient(place: Bench, words: readonly string[], more: Record<string, string>, input = ''): Said {
  const env = { ...place.env, SHELL: '/bin/bash', ...more };
  return said(
    spawnSync(process.execPath, ['-e', CLIENT, ...words], { cwd: place.repo, env, input, encoding: 'utf8' }),
  );
}

/** As Claude Code starts a shell command. */
function asClaude(place: Bench, command: string, more: Record<string, string> = {}, input = ''): Said {
  return inClient(
    place,
    [prefixOf(place), command],
    { AI_AGENT: 'claude-code_2-1-325_agent', ...more },
    input,
  );
}

/** As Codex starts a shell command. */
function asCodex(place: Bench, command: string, words: readonly string[] = [], flags = '-c'): Said {
  // With a socket as its input, which Node gives it, bash takes itself for a shell of rsh and reads another file.
  const shell = [
    'sh',
    '-c',
    'exec "$@" </dev/null',
    'sh',
    'env',
    `BASH_ENV=${bashEnvOf(place)}`,
    '/bin/bash',
  ];
  return inClient(place, [...shell, flags, command, ...words], {});
}

function said({ stdout, stderr, status }: { stdout: string; stderr: string; status: number | null }): Said {
  return { out: stdout, err: stderr, code: status };
}

const heldBy = (place: Bench, file_path: string) => bobAsks(place, 'acquire_lock', file_path);
const released = (place: Bench, file_path: string) => bobAsks(place, 'release_lock', file_path);

async function bobAsks(place: Bench, name: string, file_path: string): Promise<void> {
  const coxswain = await open({ cwd: place.repo, env: {} });
  try {
    const operation = operationsByName.get(name);
    assert.ok(operation);
    const bob = coxswain.connect({ agent_id: 'bob', agent_type: 'test', session_id: 'bob' });
    assert.equal((await bob.perform(operation, { file_path })).success, true);
  } finally {
    await coxswain.close();
  }
}

function contents(place: Bench): Record<string, string> {
  const names = ['held.txt', 'free.txt'];
  return Object.fromEntries(names.map((name) => [name, readFileSync(place.at(name), 'utf8')]));
}

async function setUp(client: string): Promise<Bench> {
  const place = bench();
  for (const name of ['held.txt', 'free.txt']) place.write(name, 'first\n');
  assert.equal((await place.cox(['init', '--yes', '--client', client])).code, 0);
  await heldBy(place, 'held.txt');
  return place;
}

test(
  '[LOCK-12] what another agent holds is read-only in every worktree, for one that works in another',
  wherePossible,
  async () => {
    using place = await setUp('claude-code');
    const git = (...words: string[]) => {
      const { status, stderr } = spawnSync('git', words, { cwd: place.repo, encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    };
    git('add', '.');
    git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-qm', 'files');
    git('worktree', 'add', '-q', '../tree');
    git('worktree', 'add', '-q', '../gone');
    rmSync(place.at('../gone'), { recursive: true });
    const { out } = asClaude(
      place,
      'echo mine > ../tree/held.txt; echo $?; echo mine > ../tree/free.txt; echo $?',
    );
    assert.match(out, /^[12]\n0\n$/);
    assert.equal(readFileSync(place.at('../tree/held.txt'), 'utf8'), 'first\n');
  },
);

const WRITES = 'echo mine > free.txt; echo mine > held.txt; echo wrote $?';

for (const [client, run] of [
  ['claude-code', asClaude],
  ['codex', asCodex],
] as const) {
  test(
    `[LOCK-12] ${client}: a shell command can’t write what another agent holds`,
    wherePossible,
    async () => {
      using place = await setUp(client);
      const { out, err } = run(place, WRITES);
      assert.match(out, /wrote [12]\n/);
      assert.match(err, /Read-only file system/);
      assert.deepEqual(contents(place), { 'held.txt': 'first\n', 'free.txt': 'mine\n' });
    },
  );

  test(
    `[HOOK-4] ${client}: a shell command runs as it is when our programs are gone or the kernel doesn’t help`,
    wherePossible,
    async () => {
      using place = await setUp(client);
      const launcher = client === 'codex' ? bashEnvOf(place) : prefixOf(place);
      const text = readFileSync(launcher, 'utf8');
      place.write('../bin/unshare', '#!/bin/sh\nexit 1\n', 0o755);
      const unprotected = run(place, 'echo mine > held.txt; echo wrote $?; exit 3');
      assert.deepEqual(unprotected, { out: 'wrote 0\n', err: '', code: 3 });
      rmSync(place.at('../bin/unshare'));
      place.write('held.txt', 'first\n');
      const path = /[^']*hook\.cjs/.exec(text)?.[0] ?? '';
      assert.ok(existsSync(path), text);
      const elsewhere = text.replace(path, `${path}.gone`);
      assert.notEqual(elsewhere, text);
      spawnSync('sh', ['-c', 'cat > "$0"', launcher], { input: elsewhere });
      assert.equal(run(place, WRITES).out, 'wrote 0\n');
    },
  );
}

test(
  '[LOCK-12] what becomes held or free while a client’s shell command runs is seen by it',
  wherePossible,
  async () => {
    using place = await setUp('claude-code');
    const script = `: > .git/started; until [ -e .git/go ]; do sleep 0.02; done
    for n in 1 2 3 4 5 6 7 8 9; do echo mine > held.txt && break; sleep 0.1; done; echo mine > free.txt`;
    const env = { ...place.env, SHELL: '/bin/bash', AI_AGENT: 'claude-code_agent' };
    const words = ['-e', CLIENT, prefixOf(place), script];
    const client = spawn(process.execPath, words, { cwd: place.repo, env, stdio: 'ignore' });
    try {
      const ended = once(client, 'close');
      await until(async () => existsSync(place.at('.git/started')));
      await released(place, 'held.txt');
      await heldBy(place, 'free.txt');
      // Seen from outside: the mounts of the command's own namespace.
      const mounts = () => String(spawnSync('sh', ['-c', 'cat /proc/[0-9]*/mountinfo 2>/dev/null']).stdout);
      await until(
        async () => mounts().includes(place.at('free.txt')) && !mounts().includes(place.at('held.txt')),
      );
      place.write('.git/go', '');
      assert.equal((await ended)[0], 1, 'its last write is refused');
      assert.deepEqual(contents(place), { 'held.txt': 'mine\n', 'free.txt': 'first\n' });
    } finally {
      client.kill('SIGKILL');
    }
    // What attended it is gone soon after.
    await until(async () => !attendants().includes(place.home));
  },
);

/** The environment of the processes that attend protected commands. */
function attendants(): string {
  const found = spawnSync('sh', ['-c', 'grep -lsa shell-view /proc/[0-9]*/cmdline'], { encoding: 'utf8' });
  const paths = found.stdout.split('\n').filter((path) => path !== '');
  return paths.map((path) => spawnSync('cat', [path.replace('cmdline', 'environ')]).stdout).join('');
}

test(
  '[HOOK-4] claude-code: arguments, input, output and exit code are as without us',
  wherePossible,
  async () => {
    using place = await setUp('claude-code');
    const command = `cat; echo "a  b" 'c' $HOME "$#" "$0" >&2; kill -l 9; exit 7`;
    const bare = spawnSync('/bin/bash', ['-c', command], {
      ...{ cwd: place.repo, env: { ...place.env, SHELL: '/bin/bash' }, input: 'typed\n', encoding: 'utf8' },
    });
    assert.deepEqual(asClaude(place, command, {}, 'typed\n'), said(bare));
  },
);

test(
  '[HOOK-4] claude-code: a hook and a server of the person’s own run as before, in their own shell',
  wherePossible,
  async () => {
    using place = await setUp('claude-code');
    const outside = spawnSync('readlink', ['/proc/self/ns/mnt'], { encoding: 'utf8' }).stdout;
    const harness = { AI_AGENT: 'claude-code_2-1-325_harness', CLAUDE_PROJECT_DIR: place.repo };
    assert.equal(asClaude(place, 'readlink /proc/self/ns/mnt', harness).out, outside);
    const hook = { ...harness, CLAUDE_CODE_CHILD_SESSION: '1' };
    assert.equal(asClaude(place, 'true && echo both', hook).out, 'both\n');
    const server = spawn(prefixOf(place), ["'sleep' '60'"], {
      env: { ...place.env, ...harness },
      stdio: 'ignore',
    });
    try {
      await until(async () => readFileSync(`/proc/${server.pid}/comm`, 'utf8') === 'sleep\n');
    } finally {
      server.kill('SIGKILL');
    }
    // Older versions don't say so, but set the folder for hooks and servers only.
    const older = { AI_AGENT: '', CLAUDE_PROJECT_DIR: place.repo };
    assert.equal(asClaude(place, 'readlink /proc/self/ns/mnt', older).out, outside);
    assert.notEqual(asClaude(place, 'readlink /proc/self/ns/mnt', { AI_AGENT: '' }).out, outside);
  },
);

test(
  '[HOOK-4] codex: bash has its words, is a login shell where it was one, and reads our file once',
  wherePossible,
  async () => {
    using place = await setUp('codex');
    const { out } = asCodex(place, 'echo "$0|$*|$#|$BASH_ENV"; bash -c "echo \\$BASH_ENV"', [
      'zero',
      'a b',
      'c',
    ]);
    assert.equal(out, 'zero|a b c|2|\n\n');
    assert.match(asCodex(place, 'shopt login_shell', [], '-lc').out, /login_shell\s+on/);
    assert.match(asCodex(place, 'shopt login_shell').out, /login_shell\s+off/);
  },
);

test(
  '[HOOK-3] what a person has set for the shells of a client stays, and cox init says so',
  wherePossible,
  async () => {
    for (const path of ['.claude/settings.json', '.claude/settings.local.json', '~/.claude/settings.json']) {
      using place = bench();
      place.write(path, '{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/opt/audit.sh"}}');
      const { out } = await place.cox(['init', '--yes']);
      assert.match(out, /Claude Code's shell commands are not protected by the kernel: .*\/opt\/audit\.sh/);
      assert.match(place.read(path), /"CLAUDE_CODE_SHELL_PREFIX":\s*"\/opt\/audit\.sh"/);
      if (path !== '.claude/settings.local.json')
        assert.doesNotMatch(place.read('.claude/settings.local.json'), /SHELL_PREFIX/);
    }
    for (const [path, text] of [
      ['~/.codex/config.toml', '[shell_environment_policy]\nset = { BASH_ENV = "/opt/env.sh" }\n'],
      ['.codex/config.toml', '[shell_environment_policy]\nset = { COLOR = "1" }\n'],
      ['.codex/config.toml', '[shell_environment_policy.set]\nCOLOR = "1"\n'],
    ] as const) {
      using place = bench();
      place.write(path, text);
      const { out } = await place.cox(['init', '--yes']);
      assert.match(out, /Codex's shell commands are not protected by the kernel: .*that stays/);
      assert.ok(place.read(path).includes(text));
      assert.equal(bashEnvOf(place), '');
    }
  },
);

test('[HOOK-4] a person can switch it off in the environment of the client', wherePossible, async () => {
  using place = await setUp('claude-code');
  assert.equal(asClaude(place, WRITES, { COX_PROTECT_SHELLS: 'off' }).out, 'wrote 0\n');
});

test(
  '[HOOK-3] with --locks warn no shell command is protected, also after it was',
  wherePossible,
  async () => {
    using place = await setUp('claude-code');
    assert.match(asClaude(place, WRITES).out, /wrote [12]/);
    await place.cox(['init', '--yes', '--client', 'claude-code', '--locks', 'warn']);
    assert.equal(asClaude(place, WRITES).out, 'wrote 0\n');
    using fresh = bench();
    await fresh.cox(['init', '--yes', '--locks', 'warn']);
    assert.equal(prefixOf(fresh), '');
    assert.equal(bashEnvOf(fresh), '');
  },
);

test(
  '[HOOK-3] undo leaves the launcher while a client runs that starts all its commands with it',
  wherePossible,
  async () => {
    using place = bench();
    await place.cox(['init', '--yes', '--client', 'claude-code']);
    const launcher = prefixOf(place);
    const running: ChildProcess = spawn('sleep', ['60'], { env: { CLAUDE_CODE_SHELL_PREFIX: launcher } });
    try {
      await until(async () => readFileSync(`/proc/${running.pid}/environ`, 'utf8').includes(launcher));
      const { out } = await place.cox(['init', '--undo']);
      assert.match(out, /claude-code-[0-9a-f]{12}\.sh stays: a client that runs/);
      assert.ok(existsSync(launcher));
    } finally {
      running.kill('SIGKILL');
    }
    await place.cox(['init', '--yes', '--client', 'claude-code']);
    await until(async () => !(await stillRuns(running)));
    const before = prefixOf(place);
    await place.cox(['init', '--undo']);
    assert.equal(existsSync(before), false);
  },
);

async function stillRuns({ exitCode, signalCode }: ChildProcess): Promise<boolean> {
  return exitCode === null && signalCode === null;
}

test(
  '[HOOK-3] doctor starts a shell command as each client would, and says whether it is protected',
  wherePossible,
  async () => {
    using place = bench();
    const told = async () => {
      const { out } = await place.cox(['doctor', '--json']);
      const { checks } = JSON.parse(out) as { checks: { check: string; status: string; message: string }[] };
      const found = checks.filter(({ check }) => check.endsWith(' shells'));
      return Object.fromEntries(found.map(({ check, status }) => [check.split(' ')[0], status]));
    };
    await place.cox(['init', '--yes']);
    const [launcher, bashEnv] = [prefixOf(place), bashEnvOf(place)];
    assert.deepEqual(await told(), { 'claude-code': 'ok', codex: 'ok', 'gemini-cli': 'idle' });
    rmSync(launcher);
    spawnSync('sh', ['-c', 'echo "exit 1 # shell-view" > "$0"', bashEnv]);
    assert.deepEqual(await told(), { 'claude-code': 'wrong', codex: 'wrong', 'gemini-cli': 'idle' });
  },
);

test('[HOOK-3] a launcher is among the files that steer the checks', wherePossible, async () => {
  using place = bench();
  await place.cox(['init', '--yes', '--client', 'claude-code']);
  const { out } = await place.cox(['guard', 'check', '--json', `rm ${prefixOf(place)}`]);
  assert.equal((JSON.parse(out) as JsonObject).operation, 'change_control_file', out);
});
