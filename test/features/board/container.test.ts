import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  endContainer,
  sweepContainers,
} from '../../../src/features/board/runner/container/container-clean-up.ts';
import {
  containerCommand,
  whyNoContainer,
} from '../../../src/features/board/runner/container/container-command.ts';
import { containerEnvironment } from '../../../src/features/board/runner/container/container-environment.ts';
import {
  containerLabels,
  containerName,
} from '../../../src/features/board/runner/container/container-names.ts';
import { explainExit } from '../../../src/features/board/runner/container/exit.ts';
import { workspaceMounts } from '../../../src/features/board/runner/container/git-mounts.ts';
import { prepareContainer } from '../../../src/features/board/runner/container/launch.ts';
import { mountArgument } from '../../../src/features/board/runner/container/mounts.ts';
import { type ContainerTool, findContainerTool } from '../../../src/features/board/runner/container/tool.ts';
import { assigned } from './container-assignments.ts';
import { ContainerPlace } from './container-place.ts';
import { FakeTools } from './fake-container-tool.ts';

const podman: ContainerTool = {
  ...{ tool: 'podman', version: '5.4.0', rootless: true, remapped: false, selinux: false, limits: true },
  env: {},
};
const docker: ContainerTool = { ...podman, tool: 'docker', rootless: false };
const places = { project: 'shop', runs: '/runs', mounts: [], env_names: [], user: { uid: 1000, gid: 100 } };

/** What is said to the tool itself. */
function words(
  assignment = assigned(),
  tool = podman,
  more: Partial<Parameters<typeof containerCommand>[2]> = {},
): string[] {
  const command = containerCommand(assignment, tool, { ...places, ...more });
  return command.slice(command.indexOf('run'));
}

async function found(tools: FakeTools): Promise<ContainerTool> {
  const tool = await findContainerTool(tools.env);
  if ('missing' in tool) throw new Error(tool.missing);
  return tool;
}

test('[PHASE-7] the first tool that really answers is taken, and asked once', async (t) => {
  const tools = new FakeTools(t);
  const { env } = tools;
  const none = await findContainerTool({ ...env });
  assert.ok('missing' in none);
  assert.match(none.missing, /podman is not installed; docker is not installed\. Install podman/);
  tools.add('podman', { info: 'echo "Error: no storage" >&2; exit 125' });
  tools.add('docker', {
    info: `echo '{"ServerVersion":""}'; echo 'Cannot connect to the Docker daemon' >&2; exit 1`,
  });
  const dead = await findContainerTool(env);
  assert.ok('missing' in dead);
  assert.match(dead.missing, /podman: Error: no storage; docker: Cannot connect to the Docker daemon\. /);
  tools.add('docker');
  assert.deepEqual(await findContainerTool(env), { ...docker, version: '28.2.2', env });
  const asked = tools.calls('info').length;
  await findContainerTool(env);
  assert.equal(tools.calls('info').length, asked);
  tools.add('podman');
  assert.deepEqual(await found(tools).then(({ tool, rootless }) => [tool, rootless]), ['podman', true]);
  const chosen = await findContainerTool({ ...env, COX_CONTAINER_TOOL: 'docker' });
  assert.equal('tool' in chosen && chosen.tool, 'docker');
  const unknown = await findContainerTool({ ...env, COX_CONTAINER_TOOL: 'lxc' });
  assert.deepEqual(unknown, { missing: 'COX_CONTAINER_TOOL is neither podman nor docker.' });
});

test('[PHASE-7] what a tool says of itself is understood: rootless, remapped users, SELinux, limits', async (t) => {
  const tools = new FakeTools(t);
  const options = ['name=rootless', 'name=userns', 'name=selinux', 'name=seccomp,profile=x'];
  tools.add('docker', {
    info: `echo '${JSON.stringify({ ServerVersion: '1', SecurityOptions: options, CgroupDriver: 'none' })}'`,
  });
  const { rootless, remapped, selinux, limits } = await found(tools);
  assert.deepEqual(
    { rootless, remapped, selinux, limits },
    { rootless: true, remapped: true, selinux: true, limits: false },
  );
  const security = { rootless: true, selinuxEnabled: true };
  const info = { version: { Version: '4' }, host: { security, cgroupVersion: 'v1' } };
  tools.add('podman', { info: `echo '${JSON.stringify(info)}'` });
  const other = await found(tools);
  assert.deepEqual([other.rootless, other.selinux, other.limits], [true, true, false]);
});

test('[PHASE-7] a container is interactive, removed at its end, and has no more than it needs', () => {
  assert.deepEqual(words(), [
    ...['run', '--rm', '--interactive', `--name=${containerName('coder-claim-1-1', 'run-1')}`],
    ...containerLabels('run-1', 'shop', '/runs').map((label) => `--label=${label}`),
    ...['--init', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--log-driver=none'],
    ...['--pids-limit=1024', '--userns=keep-id', '--user=1000:100', '--timeout=65'],
    ...['--entrypoint=agent', 'example.org/agents/coder:1', '--fast'],
  ]);
});

test('[PHASE-7] processors and memory are limited where the agent says so; swap is no way out', () => {
  const limited = words(assigned({ cpus: 1.5, memory_bytes: 512 * 2 ** 20 }));
  for (const word of ['--cpus=1.5', '--memory=536870912b', '--memory-swap=536870912b'])
    assert.ok(limited.includes(word), word);
  const refused = whyNoContainer(assigned({ cpus: 1 }), { ...podman, limits: false });
  assert.match(refused ?? '', /^podman can't limit .* cgroups v2$/);
  assert.equal(whyNoContainer(assigned(), { ...podman, limits: false }), undefined);
});

test('[PHASE-7] what it writes is the caller’s, under each tool', () => {
  const user = (tool: ContainerTool, more = {}) =>
    words(assigned(), tool, more).filter((word) => /^--user/.test(word));
  assert.deepEqual(user(podman), ['--userns=keep-id', '--user=1000:100']);
  assert.deepEqual(user({ ...podman, rootless: false }), ['--user=1000:100']);
  assert.deepEqual(user(docker), ['--user=1000:100']);
  assert.deepEqual(user({ ...docker, rootless: true }), ['--user=0:0']);
  assert.deepEqual(user({ ...docker, remapped: true }), ['--userns=host', '--user=1000:100']);
  assert.deepEqual(user(podman, { user: undefined }), []);
  assert.ok(words(assigned(), { ...docker, selinux: true }).includes('--security-opt=label=disable'));
  assert.ok(!words(assigned(), docker).some((word) => word.startsWith('--timeout')));
});

test('[PHASE-7] any worker’s name becomes one that both tools accept, another one for each run', () => {
  const hostile = [
    '--privileged',
    '../../etc',
    'rolé x',
    '名前',
    '',
    '\x1b[31m\n',
    '-'.repeat(300),
    'a'.repeat(300),
  ];
  for (const worker of hostile) {
    const name = containerName(worker, 'run-1');
    assert.match(name, /^[a-zA-Z0-9][a-zA-Z0-9_.-]{1,62}$/, worker);
    assert.notEqual(name, containerName(worker, 'run-2'));
    assert.equal(name, containerName(worker, 'run-1'));
  }
  assert.match(containerName('coder-claim-1-2', 'run-1'), /^coder-claim-1-2-[0-9a-f]{12}$/);
  assert.deepEqual(containerLabels('run-1', 'my shop,x=y', '/runs').slice(0, 2), [
    'cox.run=run-1',
    'cox.board=my-shop-x-y',
  ]);
  assert.throws(() => containerLabels('run-*', 'shop', '/runs'), /not the id of a run/);
});

test('[PHASE-7] an image can’t be an option, and none is none', () => {
  for (const image of ['--privileged', '-v/:/host', 'a b', 'x\n', '$(id)'])
    assert.match(whyNoContainer(assigned({ image }), podman) ?? '', /is not the name of an image/);
  assert.equal(
    whyNoContainer(assigned({ image: undefined }), podman),
    'coder is to run as a container and has no image',
  );
  for (const image of ['coder', 'docker.io/library/coder:1.2', 'host:5000/a/b@sha256:0a1b'])
    assert.equal(whyNoContainer(assigned({ image }), podman), undefined);
});

test('[PHASE-7] the values of variables are on no command line; what the tool reads itself does not reach it', async (t) => {
  const tools = new FakeTools(t);
  tools.add('podman', { run: 'env' });
  const place = new ContainerPlace(t);
  const variables = {
    API_KEY: 'sk-1',
    GOOGLE_API_KEY: 'sk-2',
    HOME: '/agent/home',
    PATH: '/agent/bin',
    DOCKER_HOST: 'tcp://agent',
  };
  const { out } = await place.run(assigned(), await found(tools), { variables });
  const said = tools.calls('run').flat();
  for (const value of Object.values(variables)) assert.ok(!said.some((word) => word.includes(value)), value);
  assert.ok(
    said.includes('--env=API_KEY') && said.includes('--env=GOOGLE_API_KEY') && !said.includes('--env=HOME'),
  );
  assert.match(out, /^API_KEY=sk-1$/m);
  assert.match(out, /^HOME=\/caller$/m);
  assert.doesNotMatch(out, /DOCKER_HOST|agent\/bin/);
  const file = said.find((word) => word.startsWith('--env-file='))?.slice('--env-file='.length) ?? '';
  assert.equal(readFileSync(file, 'utf8'), 'HOME=/agent/home\nPATH=/agent/bin\nDOCKER_HOST=tcp://agent\n');
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('[PHASE-7] a variable that can’t be handed over as it is is refused, never handed over as another', () => {
  for (const name of ['AWS_*', 'A=B', '--privileged', '', 'A B', '1A'])
    assert.match(String(containerEnvironment({ [name]: 'x' })), /can't be given a variable called/);
  assert.match(String(containerEnvironment({ A: 'x\0y' })), /has a NUL/);
  assert.match(String(containerEnvironment({ HOME: '/a\nPATH=/b' })), /more than one line/);
  assert.deepEqual(containerEnvironment({ A: 'x\ny' }), { passed: { A: 'x\ny' }, file: undefined });
});

test('[PHASE-7] paths with spaces, commas, colons and quotes stay one path', () => {
  const argument = (source: string) => mountArgument({ source, target: '/workspace', writable: false });
  assert.equal(argument('/a:b'), '--mount=type=bind,source=/a:b,target=/workspace,readonly');
  assert.equal(
    argument('/a b,readonly=false'),
    '--mount=type=bind,"source=/a b,readonly=false",target=/workspace,readonly',
  );
  assert.equal(argument('/a"b'), '--mount=type=bind,"source=/a""b",target=/workspace,readonly');
  assert.equal(
    mountArgument({ source: '/a', target: '/workspace', writable: true }),
    '--mount=type=bind,source=/a,target=/workspace',
  );
});

test('[PHASE-7] a worktree is mounted with what its git needs, writable only where commits write', (t) => {
  const place = new ContainerPlace(t);
  const common = join(place.repository, '.git');
  mkdirSync(join(common, 'coxswain'));
  const show = (mode: 'ro' | 'rw') =>
    workspaceMounts(place.worktree, mode, '/empty').mounts.map(({ source, target, writable }) => {
      const short = (path: string) => path.replace(place.worktree, 'TREE').replace(common, 'GIT');
      return `${writable ? 'rw' : 'ro'} ${source === target ? '' : `${short(source)} at `}${short(target)}`;
    });
  const hidden = 'ro /empty at GIT/coxswain';
  assert.deepEqual(show('ro'), ['ro TREE at /workspace', 'ro GIT', hidden]);
  assert.deepEqual(show('rw'), [
    ...['rw TREE at /workspace', 'ro GIT', hidden, 'rw GIT/objects', 'rw GIT/refs', 'rw GIT/logs'],
    ...['rw GIT/worktrees/work, tree', 'ro GIT/worktrees/work, tree/commondir'].map((line) =>
      line.replace('work, tree', adminOf(place)),
    ),
    ...[`ro GIT/worktrees/${adminOf(place)}/gitdir`, 'ro TREE/.git at /workspace/.git'],
  ]);
});

function adminOf(place: ContainerPlace): string {
  return place.git('-C', place.worktree, 'rev-parse', '--git-dir').split('/').at(-1) ?? '';
}

test('[PHASE-7] a worktree that says where its git is by a relative path stays where it is', (t) => {
  const place = new ContainerPlace(t);
  assert.equal(workspaceMounts(place.worktree, 'ro', '/empty').workdir, '/workspace');
  const pointer = `gitdir: ../a "b", c: d/.git/worktrees/${adminOf(place)}\n`;
  writeFileSync(join(place.worktree, '.git'), pointer);
  assert.equal(workspaceMounts(place.worktree, 'ro', '/empty').workdir, place.worktree);
});

test('[PHASE-7] a repository’s own work tree is not handed to a container', (t) => {
  const place = new ContainerPlace(t);
  assert.throws(() => workspaceMounts(place.repository, 'rw', '/empty'), /is no linked git worktree/);
  const plain = workspaceMounts(place.runs, 'rw', '/empty');
  assert.deepEqual(plain.mounts, [{ source: place.runs, target: '/workspace', writable: true }]);
});

test('[PHASE-7] what is run is a command like any other: input, output, exit code', async (t) => {
  const tools = new FakeTools(t);
  tools.add('podman', { run: 'cat; echo done >&2; exit 7' });
  const ended = await new ContainerPlace(t).run(assigned(), await found(tools), { input: '{"a":1}' });
  assert.deepEqual(ended, { code: 7, out: '{"a":1}', err: 'done\n' });
});

test('[PHASE-7] what can’t be prepared says why, and starts nothing', async (t) => {
  const tools = new FakeTools(t);
  tools.add('podman', { ps: 'echo "Error: database is locked" >&2; exit 125' });
  const place = new ContainerPlace(t);
  const prepare = async (image: string, variables = {}) =>
    await prepareContainer(assigned({ image }), await found(tools), {
      project: 'shop',
      runs: place.runs,
      variables,
    });
  assert.deepEqual(await prepare('-x'), { ok: false, reason: '"-x" is not the name of an image' });
  assert.deepEqual(await prepare('x', { 'A*': '' }), {
    ok: false,
    reason: 'a container can\'t be given a variable called "A*"',
  });
  assert.deepEqual(await prepare('x', { HOME: '/x' }), {
    ok: false,
    reason: 'podman does not list its containers: Error: database is locked',
  });
  assert.ok(!existsSync(join(place.runs, 'run-1')));
});

test('[PHASE-7] a container that can’t be removed is reported, and a sweep goes on with the others', async (t) => {
  const tools = new FakeTools(t);
  const gone = join(tools.folder, 'gone');
  tools.add('podman', {
    ps: `case "$*" in *cox.run=stuck*) echo 1;; *cox.run=free*) [ -e '${gone}' ] || echo 2;; *) echo 1; echo 2;; esac`,
    container: 'for id; do :; done; if [ $id = 1 ]; then echo stuck; else echo free; fi',
    rm: `case "$*" in *1*) echo 'Error: device or resource busy' >&2; exit 2;; *) : >'${gone}';; esac`,
  });
  const tool = await found(tools);
  assert.match((await endContainer(tool, 'stuck')) ?? '', /did not remove the container of stuck: .*busy/);
  assert.deepEqual(await sweepContainers(tool, '/runs', () => false), ['free']);
});

test('[PHASE-7] a failure says whose it was', () => {
  const reason = (exit_code: number | null, stderr: string, memory_bytes?: number) =>
    explainExit(
      { ...{ reason: 'it failed', exit_code, stderr }, stdout: '', error: '' },
      podman,
      memory_bytes,
    ).reason;
  assert.equal(
    reason(125, 'Trying to pull x...\nError: no such image\n'),
    'podman could not run the container (exit code 125): Error: no such image',
  );
  assert.match(reason(126, 'Error: crun: permission denied'), /^podman can't execute the agent's command/);
  assert.match(reason(127, 'docker: executable file not found'), /did not find the agent's command/);
  assert.match(
    reason(1, 'ERROR (catatonit:2): failed to exec pid1: No such file'),
    /can't start the agent's command .*pid1/,
  );
  assert.equal(reason(127, 'sh: 1: claude: not found'), 'it failed');
  assert.equal(reason(1, 'Error: tests failed'), 'it failed');
  assert.equal(reason(null, 'Error: x'), 'it failed');
  assert.match(reason(137, '', 2 ** 28), /256 MB of memory/);
  assert.equal(reason(137, ''), 'it failed');
});
