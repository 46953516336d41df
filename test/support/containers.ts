// Containers for real: the first settings under which the installed tool starts one, with an image made of this machine's own
// programs. COX_TEST_CONTAINERS=1 installs podman first, where we may.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ContainerTool, findContainerTool } from '../../src/features/board/runner/container/tool.ts';

const PACKAGES = ['podman', 'runc', 'catatonit', 'uidmap', 'slirp4netns'];
const PROGRAMS = [
  'sh',
  'cat',
  'env',
  'git',
  'head',
  'id',
  'ls',
  'mkdir',
  'mv',
  'rm',
  'sleep',
  'tail',
  'touch',
];
const INSTALL_MS_MAX = 400_000;
const CALL_MS_MAX = 60_000;

/** In a sandbox limits may not be raised, and crun knows no machine that has both kinds of cgroups. */
const SETTINGS = [
  undefined,
  '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n',
  '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nruntime = "runc"\n',
  '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\nnetns = "host"\n[engine]\nruntime = "runc"\n',
];

export interface ContainerMachine {
  readonly tool: ContainerTool;
  /** Has a shell, git and a few programs to look around with. */
  readonly image: string;
  close(): void;
}

/** Or why no container can be started here, in the tool's own words. */
export async function openContainerMachine(): Promise<ContainerMachine | { readonly why: string }> {
  const installed = process.env.COX_TEST_CONTAINERS === '1' ? install() : undefined;
  const folder = mkdtempSync(join(tmpdir(), 'cox-ctr-'));
  const image = `localhost/cox-test:${process.pid}`;
  let why = installed;
  for (const [number, settings] of SETTINGS.entries()) {
    const env = { ...process.env };
    if (settings !== undefined) {
      env.CONTAINERS_CONF = join(folder, `${number}.conf`);
      writeFileSync(env.CONTAINERS_CONF, settings);
    }
    const tool = await findContainerTool(env);
    if ('missing' in tool) {
      why ??= tool.missing;
      break;
    }
    const problem = (number === 0 ? makeImage(tool, image, folder) : undefined) ?? tryOut(tool, image);
    if (problem === undefined) return { tool, image, close: () => close(tool, image, folder) };
    why ??= `${tool.tool} can't start a container here: ${problem}`;
    // The other settings are podman's.
    if (tool.tool === 'docker') break;
  }
  rmSync(folder, { recursive: true, force: true });
  return { why: why ?? 'no reason was given' };
}

/** Why not; undefined: done, or there before. */
function install(): string | undefined {
  if (spawnSync('podman', ['--version']).status === 0) return undefined;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return 'podman is not installed, and only root can install it, with apt-get';
  const options = { encoding: 'utf8', timeout: INSTALL_MS_MAX } as const;
  const words = ['install', '-y', '--no-install-recommends', ...PACKAGES];
  if (spawnSync('apt-get', words, options).status === 0) return undefined;
  spawnSync('apt-get', ['update'], options);
  const { status, stderr } = spawnSync('apt-get', words, options);
  return status === 0 ? undefined : `podman can't be installed: ${stderr.trim()}`;
}

/** A root file system of programs from here and the libraries that each of them loads. */
function makeImage(tool: ContainerTool, image: string, folder: string): string | undefined {
  const root = join(folder, 'root');
  for (const program of PROGRAMS) {
    const path = spawnSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim();
    if (path === '') return `${program} is missing on this machine`;
    copyInto(root, path, join('/bin', program));
    for (const [library] of spawnSync('ldd', [path], { encoding: 'utf8' }).stdout.matchAll(/\/\S+/g))
      copyInto(root, library, library);
  }
  // git starts itself under its full name to look after the repository.
  copyInto(root, join(root, 'bin/git'), '/usr/lib/git-core/git');
  mkdirSync(join(root, 'tmp'), { mode: 0o777 });
  const archive = join(folder, 'root.tar');
  const packed = spawnSync('tar', ['-C', root, '-cf', archive, '.'], { encoding: 'utf8' });
  if (packed.status !== 0) return packed.stderr.trim();
  const imported = call(tool, ['import', archive, image]);
  return imported.status === 0 ? undefined : imported.stderr.trim();
}

function copyInto(root: string, from: string, to: string): void {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(realpathSync(from), target);
}

function tryOut(tool: ContainerTool, image: string): string | undefined {
  const words = ['run', '--rm', '--init', '--pids-limit=100', '--entrypoint=cat', image, '/dev/null'];
  const { status, stderr, error } = call(tool, words);
  return status === 0 ? undefined : error?.message || stderr.trim() || `ended with ${status}`;
}

function call({ tool, env }: ContainerTool, words: readonly string[]) {
  return spawnSync(tool, words, { env, encoding: 'utf8', timeout: CALL_MS_MAX });
}

function close(tool: ContainerTool, image: string, folder: string): void {
  call(tool, ['rmi', '-f', image]);
  rmSync(folder, { recursive: true, force: true });
}
