import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Assignment } from '../execution-port.ts';
import { endContainer } from './container-clean-up.ts';
import { containerCommand, whyNoContainer } from './container-command.ts';
import { containerEnvironment } from './container-environment.ts';
import { workspaceMounts } from './git-mounts.ts';
import type { ContainerTool } from './tool.ts';

const ENV_FILE = 'container.env';
const EMPTY_FOLDER = 'empty';

export interface LaunchPlaces {
  readonly project: string;
  /** The folder of the runs' folders, as an absolute path; that of this run is there already, and nobody else may read it. */
  readonly runs: string;
  /** All that the agent is to find in its environment; it gets nothing of ours. */
  readonly variables: Readonly<Record<string, string>>;
  /** Where its program has a workspace. */
  readonly worktree?: string | undefined;
}

export type Launch =
  | { readonly ok: true; readonly command: readonly string[]; readonly env: Record<string, string> }
  | { readonly ok: false; readonly reason: string };

/** Makes an agent's command one that runs it in a container, to be started like any other. */
export async function prepareContainer(
  assignment: Assignment,
  tool: ContainerTool,
  places: LaunchPlaces,
): Promise<Launch> {
  const variables = containerEnvironment(places.variables);
  const problem = whyNoContainer(assignment, tool) ?? (typeof variables === 'string' ? variables : undefined);
  if (problem !== undefined || typeof variables === 'string') return { ok: false, reason: problem ?? '' };
  // Of a wrapper that was killed its container may be left; it has our name, and its results reach nobody.
  const left = await endContainer(tool, assignment.run_id);
  if (left !== undefined) return { ok: false, reason: left };
  const { passed, file } = variables;
  const folder = join(places.runs, assignment.run_id);
  const env_file = file === undefined ? undefined : join(folder, ENV_FILE);
  if (env_file !== undefined) writeFileSync(env_file, file ?? '', { mode: 0o600 });
  const command = containerCommand(assignment, tool, {
    ...places,
    ...mountsOf(assignment, places.worktree, join(folder, EMPTY_FOLDER)),
    env_names: Object.keys(passed),
    env_file,
    user: caller(),
  });
  return { ok: true, command, env: { ...set(tool.env), ...passed } };
}

/** Of a process's own environment: what is there. */
function set(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function mountsOf({ agent }: Assignment, worktree: string | undefined, empty: string) {
  const mode = agent.program?.workspace ?? 'none';
  if (mode === 'none') return { mounts: [] };
  if (worktree === undefined) throw new Error(`${agent.agent_id} has no worktree to work in`);
  mkdirSync(empty, { recursive: true });
  return workspaceMounts(worktree, mode, empty);
}

function caller() {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}
