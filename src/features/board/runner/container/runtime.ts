import type { Runtime } from '../process/process-execution.ts';
import type { Places } from '../process/run-files.ts';
import { endContainer } from './container-clean-up.ts';
import { explainExit } from './exit.ts';
import { prepareContainer } from './launch.ts';
import type { ContainerTool } from './tool.ts';

/**
 * Runs like any other command, with podman's or docker's client as its process. Nothing of the container
 * outlives it.
 */
export function asContainer(tool: ContainerTool, project: string, { runs }: Pick<Places, 'runs'>): Runtime {
  return {
    async launch({ assignment, workspace, env }) {
      const places = { project, runs, variables: env, worktree: workspace?.tree };
      const launch = await prepareContainer(assignment, tool, places);
      if (!launch.ok) throw new Error(launch.reason);
      return launch;
    },
    async end({ name }) {
      // If it can't be ended now because its daemon is gone, the next sweep does it.
      await endContainer(tool, name);
    },
    explain: (failure, { agent }) => explainExit(failure, tool, agent.program?.memory_bytes),
  };
}
