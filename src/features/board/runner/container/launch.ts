import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GrantAssignment } from '../execution-port.ts';
import { endContainer } from './container-clean-up.ts';
import { containerCommand, whyNoContainer } from './container-command.ts';
import { containerEnvironment } from './container-environment.ts';
import { workspaceMounts } from './git-mounts.ts';
import type { ContainerTool } from './tool.ts';

const ENV_FILE = 'container.env';
const EMPTY_FOLDER = 'empty';

export interface LaunchPlaces {
  readonly project: string;
  /**
   * The folder of all run folders, as an absolute path. This run's folder is there already, and only its
   * owner may read it.
   */
  readonly runs: string;
  /** The agent's complete environment; it gets nothing of ours. */
  readonly variables: Readonly<Record<string, string>>;
  /** Set if the program has a workspace. */
  readonly worktree?: string | undefined;
}

export type Launch =
  | { readonly ok: true; readonly command: readonly string[]; readonly env: Record<string, string> }
  | { readonly ok: false; readonly reason: string };

/** Turns an agent's command into one that runs it in a container and can be started like any other. */
export async function prepareContainer(
  assignment: GrantAssignment,
  tool: ContainerTool,
  places: LaunchPlaces,
): Promise<Launch> {
  const variables = containerEnvironment(places.variables);
  const problem = whyNoContainer(assignment, tool) ?? (typeof variables === 'string' ? variables : undefined);
  if (problem !== undefined || typeof variables === 'string') return { ok: false, reason: problem ?? '' };
  // A wrapper that was killed may have left its container. It has our name, and no process collects its results.
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

/** The variables of a process's environment that are set. */
function set(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function mountsOf({ agent }: GrantAssignment, worktree: string | undefined, empty: string) {
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
