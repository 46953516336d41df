import { join } from 'node:path';
import type { AgentProgram } from '../../files/agent-config.ts';
import type { GrantAssignment } from '../execution-port.ts';
import { containerLabels, containerName } from './container-names.ts';
import { type Mount, mountArgument } from './mounts.ts';
import type { ContainerTool } from './tool.ts';

/** Enough for a build on all cores, but too few for a fork bomb to do harm. */
const PIDS_MAX = 1024;
/** The process that watches the run ends it in time and reports that. This limit is for runs without a watcher. */
const LATER_MS = 5_000;

export interface ContainerPlaces {
  readonly project: string;
  /** The folder of all run folders, as an absolute path. */
  readonly runs: string;
  readonly mounts: readonly Mount[];
  /** Undefined: the image's own. */
  readonly workdir?: string | undefined;
  /** Names of the variables that are passed on. */
  readonly env_names: readonly string[];
  readonly env_file?: string | undefined;
  /** Undefined: the machine has no numeric user ids, so files have no numeric owner. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Killing the tool's client leaves its container running. So a shell runs in front of it and ends both when
 * it is asked to end. A command started in the background would get an empty standard input, therefore
 * descriptor 3. It runs in the run's folder, since podman's monitor writes a file called `oom` to its working
 * directory when a container has used up its memory.
 */
const GUARD = [
  'tool=$1 name=$2; cd "$3" || exit 125; shift 3; exec 3<&0',
  'end() { "$tool" kill "$name"; "$tool" rm -f "$name"; }',
  "trap 'end >/dev/null 2>&1; exit 143' HUP INT TERM",
  '"$tool" "$@" <&3 & wait $!',
].join('\n');

/** An ordinary command: reads the input, prints the result, and ends with the agent's exit code. */
export function containerCommand(
  assignment: GrantAssignment,
  tool: ContainerTool,
  places: ContainerPlaces,
): readonly string[] {
  const { worker, run_id } = assignment;
  const before = [tool.tool, containerName(worker, run_id), join(places.runs, run_id)];
  return ['/bin/sh', '-c', GUARD, 'cox-container', ...before, ...runArguments(assignment, tool, places)];
}

function runArguments(assignment: GrantAssignment, tool: ContainerTool, places: ContainerPlaces): string[] {
  const { run_id, worker, limit_ms } = assignment;
  const program = programOf(assignment);
  const [entry, ...rest] = program.command;
  const words = ['run', '--rm', '--interactive', `--name=${containerName(worker, run_id)}`];
  for (const label of containerLabels(run_id, places.project, places.runs)) words.push(`--label=${label}`);
  words.push(...isolation(tool), ...userArguments(tool, places.user), ...limitArguments(program));
  if (tool.tool === 'podman') words.push(`--timeout=${Math.ceil((limit_ms + LATER_MS) / 1000)}`);
  words.push(...places.mounts.map(mountArgument));
  if (places.workdir !== undefined) words.push(`--workdir=${places.workdir}`);
  if (places.env_file !== undefined) words.push(`--env-file=${places.env_file}`);
  words.push(...places.env_names.map((name) => `--env=${name}`));
  // An image's own entry point may be anything; the agent's configuration says what to run.
  if (entry !== undefined) words.push(`--entrypoint=${entry}`);
  return [...words, program.image ?? '', ...rest];
}

function isolation({ selinux, limits }: ContainerTool): string[] {
  return [
    // Reaps processes that the agent leaves behind, and forwards signals to an agent that does not handle them.
    '--init',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    // A worktree has the SELinux labels of its caller's files. Relabelling would change a repository that
    // other processes use.
    ...(selinux ? ['--security-opt=label=disable'] : []),
    // The output is in the run's folder. The tool would keep a second copy of it, for instance in the
    // system's journal.
    '--log-driver=none',
    ...(limits ? [`--pids-limit=${PIDS_MAX}`] : []),
  ];
}

/** Makes the files that it writes into the worktree belong to the caller. */
function userArguments(tool: ContainerTool, user: ContainerPlaces['user']): string[] {
  if (user === undefined) return [];
  if (tool.rootless && tool.tool === 'docker') return ['--user=0:0'];
  const same = `--user=${user.uid}:${user.gid}`;
  if (tool.rootless) return ['--userns=keep-id', same];
  return tool.remapped ? ['--userns=host', same] : [same];
}

function limitArguments({ cpus, memory_bytes }: AgentProgram): string[] {
  const words = cpus === undefined ? [] : [`--cpus=${Number(cpus.toFixed(3))}`];
  // Without the second option, the same amount again may be swapped out.
  if (memory_bytes !== undefined)
    words.push(`--memory=${Math.round(memory_bytes)}b`, `--memory-swap=${Math.round(memory_bytes)}b`);
  return words;
}

/** Why the command can't be built; undefined: it can. */
export function whyNoContainer(assignment: GrantAssignment, tool: ContainerTool): string | undefined {
  const { agent_id, program } = assignment.agent;
  const image = program?.image ?? '';
  if (image === '') return `${agent_id} is to run as a container and has no image`;
  // Anything else could be read as an option of the tool.
  if (!/^[A-Za-z0-9][\w.:/@-]*$/.test(image)) return `${JSON.stringify(image)} is not the name of an image`;
  if (!tool.limits && (program?.cpus !== undefined || program?.memory_bytes !== undefined))
    return `${tool.tool} can't limit a container's processors and memory here: without root that needs cgroups v2`;
  return undefined;
}

function programOf({ agent }: GrantAssignment): AgentProgram {
  if (agent.program === undefined) throw new Error(`${agent.agent_id} has no program`);
  return agent.program;
}
