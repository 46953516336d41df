import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import type { AgentProgram } from '../../../src/features/board/files/agent-config.ts';
import {
  endContainer,
  sweepContainers,
} from '../../../src/features/board/runner/container/container-clean-up.ts';
import { explainExit } from '../../../src/features/board/runner/container/exit.ts';
import { asContainer } from '../../../src/features/board/runner/container/runtime.ts';
import { callTool } from '../../../src/features/board/runner/container/tool.ts';
import type { GrantAssignment } from '../../../src/features/board/runner/execution-port.ts';
import { startExecution } from '../../../src/features/board/runner/process/process-execution.ts';
import { type ContainerMachine, openContainerMachine } from '../../support/containers.ts';
import { until } from '../../support/until.ts';
import { assigned } from './container-assignments.ts';
import { ContainerPlace, type Ended } from './container-place.ts';

const machine = await openContainerMachine();

if ('why' in machine) {
  test('no container can be started here, and it is known why', (t) => {
    assert.ok(machine.why.length > 10);
    t.diagnostic(`The tests with real containers did not run: ${machine.why}`);
  });
} else {
  after(() => machine.close());
  const real = (name: string, body: (t: TestContext, machine: ContainerMachine) => Promise<void>) =>
    test(name, (t) => body(t, machine));
  tests(real);
}

let count = 0;

function shell(
  machine: ContainerMachine,
  script: string,
  program: Partial<AgentProgram> = {},
): GrantAssignment {
  count += 1;
  return assigned(
    { image: machine.image, command: ['sh', '-c', script], ...program },
    { run_id: `test-${process.pid}-${count}` },
  );
}

async function containersOf({ tool }: ContainerMachine, run_id: string): Promise<string[]> {
  const { out } = await callTool(tool, ['ps', '-a', '-q', `--filter=label=cox.run=${run_id}`]);
  return out.split('\n').filter((line) => line !== '');
}

const failed = ({ code, out, err }: Ended) => ({
  ...{ reason: `ended with ${code}`, exit_code: code, stdout: out, stderr: err, error: '' },
});

type Real = (
  name: string,
  body: (t: TestContext, machine: ContainerMachine) => Promise<void>,
) => Promise<void>;

function tests(real: Real): void {
  real(
    '[PHASE-7] a container reads the whole input, prints the whole result, ends with the code of its agent',
    async (t, machine) => {
      const place = new ContainerPlace(t);
      const input = JSON.stringify({ text: 'é'.repeat(1_500_000) });
      const whole = await place.run(shell(machine, 'cat'), machine.tool, { input });
      assert.deepEqual([whole.code, whole.out === input], [0, true], whole.err);
      const ended = await place.run(shell(machine, 'echo why >&2; exit 42'), machine.tool);
      assert.deepEqual(ended, { code: 42, out: '', err: 'why\n' });
    },
  );

  real(
    '[PHASE-7] its environment is what it was given: nothing of ours, and PATH and HOME its own',
    async (t, machine) => {
      const place = new ContainerPlace(t);
      const tool = { ...machine.tool, env: { ...machine.tool.env, NOT_FOR_AGENTS: 'secret' } };
      const variables = {
        ...{ API_KEY: 'sk "x" $y #z', TEXT: 'one\ntwo', EMPTY: '' },
        ...{ HOME: '/tmp/it\'s "home" #1 ', PATH: '/bin:/opt/agent' },
      };
      const { code, out, err } = await place.run(shell(machine, 'env -0'), tool, { variables });
      assert.equal(code, 0, err);
      const seen = Object.fromEntries(out.split('\0').map((line) => line.split(/=(.*)/s).slice(0, 2)));
      for (const [name, value] of Object.entries(variables)) assert.equal(seen[name], value, name);
      assert.equal(seen.NOT_FOR_AGENTS, undefined);
    },
  );

  real(
    '[PHASE-7] a secret is on no command line of the machine while the container runs',
    async (t, machine) => {
      const place = new ContainerPlace(t);
      const variables = { API_KEY: 'sk-only-in-environments' };
      const assignment = shell(machine, 'echo up >/workspace/up; sleep 60', { workspace: 'rw' });
      const { ended } = await place.start(assignment, machine.tool, { variables });
      await until(async () => existsSync(join(place.worktree, 'up')));
      const lines = readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map((pid) => commandLine(pid));
      assert.ok(lines.some((line) => line.includes('--env=API_KEY')));
      assert.deepEqual(
        lines.filter((line) => line.includes('sk-only-in')),
        [],
      );
      assert.equal(await endContainer(machine.tool, assignment.run_id), undefined);
      await ended;
    },
  );

  real(
    '[PHASE-7] it has neither capabilities nor new privileges, its processors and memory are limited',
    async (t, machine) => {
      const place = new ContainerPlace(t);
      const script = 'while read -r line; do echo "$line"; done </proc/self/status';
      const { out } = await place.run(shell(machine, script), machine.tool);
      assert.match(out, /^CapEff:\s+0+$/m);
      assert.match(out, /^CapBnd:\s+0+$/m);
      assert.match(out, /^NoNewPrivs:\s+1$/m);
      const limits = { cpus: 0.5, memory_bytes: 64 * 2 ** 20 };
      if (!machine.tool.limits) {
        t.diagnostic('no limits without root and cgroups v2: asked for, they are refused');
        return await assert.rejects(place.run(shell(machine, 'true', limits), machine.tool), /can't limit/);
      }
      // A line without an end is kept in memory until it ends.
      const greedy = shell(machine, 'head -c 300000000 /dev/zero | tail -n 1 >/dev/null; exit $?', limits);
      const ended = await place.run(greedy, machine.tool);
      assert.equal(ended.code, 137, ended.err);
      assert.match(explainExit(failed(ended), machine.tool, limits.memory_bytes).reason, /64 MB of memory/);
      const slow = shell(machine, 'echo up >/workspace/up; sleep 60', { ...limits, workspace: 'rw' });
      const started = await place.start(slow, machine.tool);
      await until(async () => existsSync(join(place.worktree, 'up')));
      const format = '{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.PidsLimit}}';
      const [id = ''] = await containersOf(machine, slow.run_id);
      const inspected = await callTool(machine.tool, ['container', 'inspect', `--format=${format}`, id]);
      assert.equal(inspected.out.trim(), `500000000 ${limits.memory_bytes} 1024`);
      await endContainer(machine.tool, slow.run_id);
      await started.ended;
    },
  );

  real(
    '[PHASE-7] a read-only workspace is read-only, its repository too; git reads both',
    async (t, machine) => {
      const place = new ContainerPlace(t);
      mkdirSync(join(place.repository, '.git', 'coxswain'));
      writeFileSync(join(place.repository, '.git', 'coxswain', 'log'), 'who did what');
      const common = JSON.stringify(join(place.repository, '.git')).slice(1, -1);
      const script = `
      git log --format=%s; git status --short; cat file
      for path in new file .git "${common}/refs/heads/new" "${common}/objects/new"; do touch "$path" && echo wrote "$path"; done
      ls "${common}/coxswain"; exit 0`;
      const { code, out, err } = await place.run(shell(machine, script, { workspace: 'ro' }), machine.tool);
      assert.deepEqual([code, out], [0, 'first\nfirst\n'], err);
      assert.equal(place.git('-C', place.worktree, 'status', '--short'), '');
    },
  );

  real(
    '[PHASE-7] what it commits in a writable workspace is there outside, and is the caller’s',
    async (t, machine) => {
      const place = new ContainerPlace(t);
      const script = `set -e
      echo second >file; git add file; git commit -qm second
      git checkout -q -b side; echo third >more; git add more; git commit -qm third
      git checkout -q --detach HEAD~1; git merge -q side; git commit -q --amend -m fourth
      git log --format=%s`;
      const { code, out, err } = await place.run(shell(machine, script, { workspace: 'rw' }), machine.tool);
      assert.deepEqual([code, out], [0, 'fourth\nsecond\nfirst\n'], err);
      assert.equal(place.git('-C', place.worktree, 'log', '--format=%s'), 'fourth\nsecond\nfirst');
      assert.equal(place.git('log', '--format=%s', 'side', '-1'), 'third');
      assert.equal(place.git('status', '--short'), '');
      const { uid, gid } = statSync(join(place.worktree, 'more'));
      assert.deepEqual([uid, gid], [process.getuid?.(), process.getgid?.()]);
    },
  );

  real(
    '[PHASE-7] from a writable workspace nothing is changed that git outside would run',
    async (t, machine) => {
      const place = new ContainerPlace(t);
      const other = join(place.folder, 'other');
      place.git('config', 'extensions.worktreeConfig', 'true');
      place.git('worktree', 'add', '-q', '--detach', other);
      const common = join(place.repository, '.git').replaceAll('"', '\\"');
      const own = '$(git rev-parse --git-dir)';
      const script = `
      attempt() { "$@" 2>/dev/null && echo "DID $*"; }
      write() { attempt sh -c 'echo evil >>"$0"' "$1"; }
      write "${common}/config"; write "${common}/hooks/pre-commit"; write "${common}/HEAD"; write "${common}/config.worktree"
      write "${own}/commondir"; write "${own}/gitdir"; write "${own}/config.worktree"; write .git
      attempt mv "${own}" "${own}2"; attempt mv "${common}/worktrees" "${common}/w2"; attempt mv "${common}/hooks" "${common}/h2"
      attempt mv .git .git2; attempt rm -f .git; attempt rm -f "${own}/commondir"; attempt mv "${own}/commondir" "${own}/c2"
      attempt git config core.fsmonitor evil; attempt git config --worktree core.fsmonitor evil
      git worktree prune --expire=now; echo end`;
      const before = readFileSync(join(place.repository, '.git', 'config'), 'utf8');
      const { out, err } = await place.run(shell(machine, script, { workspace: 'rw' }), machine.tool);
      assert.equal(out, 'end\n', err);
      assert.equal(readFileSync(join(place.repository, '.git', 'config'), 'utf8'), before);
      assert.equal(place.git('worktree', 'list').split('\n').length, 3);
      assert.equal(place.git('-C', other, 'log', '--format=%s'), 'first');
    },
  );

  real(
    '[PHASE-7] the client killed, the container goes on until it is ended by the id of its run',
    async (t, machine) => {
      const place = new ContainerPlace(t);
      const assignment = shell(machine, 'trap "" TERM; echo up >up; sleep 300', { workspace: 'rw' });
      const { child, ended } = await place.start(assignment, machine.tool);
      await until(async () => existsSync(join(place.worktree, 'up')));
      process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
      await ended;
      assert.equal((await containersOf(machine, assignment.run_id)).length, 1);
      assert.equal(await endContainer(machine.tool, assignment.run_id), undefined);
      assert.deepEqual(await containersOf(machine, assignment.run_id), []);
      assert.equal(await endContainer(machine.tool, assignment.run_id), undefined);
    },
  );

  real(
    '[PHASE-7] the wrapper asked to end takes the container with it, whatever the agent makes of signals',
    async (t, machine) => {
      const place = new ContainerPlace(t);
      const assignment = shell(machine, 'trap "" TERM; echo up >up; sleep 300', { workspace: 'rw' });
      const { child, ended } = await place.start(assignment, machine.tool);
      await until(async () => existsSync(join(place.worktree, 'up')));
      const exited = once(child, 'exit');
      process.kill(-(child.pid ?? Number.NaN), 'SIGTERM');
      assert.deepEqual(await exited, [143, null]);
      assert.deepEqual(await containersOf(machine, assignment.run_id), []);
      await ended;
    },
  );

  real(
    '[PHASE-5] [PHASE-7] an execution in a container delivers; a cancelled one leaves none behind',
    async (t, machine) => {
      const place = new ContainerPlace(t);
      const places = { runs: place.runs, folder: place.runs, env: process.env };
      const runtime = asContainer(machine.tool, 'test', places);
      const answer = '{"artefact_type":"A","artefact_payload":"{}","summary":"s"}';
      const done = await startExecution(shell(machine, `cat >/dev/null; echo '${answer}'`), places, runtime)
        .delivered;
      assert.deepEqual(done, { ok: true, artefact_type: 'A', artefact_payload: '{}', summary: 's' });
      const stubborn = shell(machine, 'trap "" TERM; sleep 300');
      const execution = startExecution(stubborn, places, runtime);
      await until(async () => (await containersOf(machine, stubborn.run_id)).length === 1);
      execution.cancel('no longer wanted');
      const ended = await execution.delivered;
      assert.equal(ended.ok ? '' : ended.failure.reason, 'no longer wanted');
      assert.deepEqual(await containersOf(machine, stubborn.run_id), []);
    },
  );

  real(
    '[PHASE-7] what nobody waits for is swept; what somebody waits for, and what is another one’s, is not',
    async (t, machine) => {
      const [place, elsewhere] = [new ContainerPlace(t), new ContainerPlace(t)];
      const assignments = [1, 2, 3].map(() => shell(machine, 'echo up >up; sleep 300', { workspace: 'rw' }));
      const [wanted, forgotten, foreign] = assignments as [GrantAssignment, GrantAssignment, GrantAssignment];
      const ends: Promise<Ended>[] = [];
      for (const [assignment, where] of [
        [wanted, place],
        [forgotten, place],
        [foreign, elsewhere],
      ] as const)
        ends.push((await where.start(assignment, machine.tool)).ended);
      for (const { run_id } of assignments)
        await until(async () => (await containersOf(machine, run_id)).length === 1);
      const unsure = sweepContainers(machine.tool, place.runs, () => Promise.reject(new Error('store gone')));
      await assert.rejects(unsure, /store gone/);
      const swept = await sweepContainers(machine.tool, place.runs, (run_id) => run_id === wanted.run_id);
      assert.deepEqual(swept, [forgotten.run_id]);
      assert.deepEqual(await containersOf(machine, forgotten.run_id), []);
      for (const { run_id } of [wanted, foreign]) {
        assert.equal((await containersOf(machine, run_id)).length, 1);
        await endContainer(machine.tool, run_id);
      }
      await Promise.all(ends);
    },
  );

  real('[PHASE-7] a run that is started anew replaces what is left of it', async (t, machine) => {
    const place = new ContainerPlace(t);
    const assignment = shell(machine, 'echo up >up; sleep 300', { workspace: 'rw' });
    const lost = await place.start(assignment, machine.tool);
    await until(async () => existsSync(join(place.worktree, 'up')));
    process.kill(-(lost.child.pid ?? Number.NaN), 'SIGKILL');
    const anew = { ...shell(machine, 'echo anew'), run_id: assignment.run_id };
    assert.equal((await place.run(anew, machine.tool)).out, 'anew\n');
    await lost.ended;
  });

  real('[PHASE-7] its time over, it ends by itself, with nobody there to end it', async (t, machine) => {
    if (machine.tool.tool === 'docker') return t.diagnostic('docker has no time limit; the wrapper has');
    const place = new ContainerPlace(t);
    const assignment = { ...shell(machine, 'echo up >up; sleep 300', { workspace: 'rw' }), limit_ms: 1 };
    const { child, ended } = await place.start(assignment, machine.tool);
    await until(async () => existsSync(join(place.worktree, 'up')));
    process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
    await ended;
    await until(async () => (await containersOf(machine, assignment.run_id)).length === 0);
  });

  real('[PHASE-7] it is said when it was the tool that failed, and not the agent', async (t, machine) => {
    const place = new ContainerPlace(t);
    const reason = async (program: Partial<AgentProgram>) => {
      const ended = await place.run(shell(machine, 'true', program), machine.tool);
      return explainExit(failed(ended), machine.tool).reason;
    };
    const { tool } = machine.tool;
    assert.match(
      await reason({ image: 'localhost/cox-test-missing:1' }),
      new RegExp(`^${tool} could not run the container \\(exit code 125\\): .*cox-test-missing`),
    );
    for (const command of [['no-such-agent'], ['/tmp']])
      assert.match(await reason({ command }), /the agent's command in the image \(exit code \d+\): ./);
    assert.equal(await reason({ command: ['sh', '-c', 'no-such-program'] }), 'ended with 127');
  });
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
