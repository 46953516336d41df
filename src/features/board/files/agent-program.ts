import { present } from '../../../kernel/present.ts';
import type { AgentProgram } from './agent-config.ts';
import { expand, resolveEnvironment, type Surroundings } from './agent-environment.ts';
import type { BoardFileFindings } from './board-file-findings.ts';
import type { AgentFields } from './board-schema.ts';

type Path = readonly PropertyKey[];

export interface ProgramContext {
  readonly runtime?: AgentProgram['runtime'] | undefined;
  /** Worktrees can be made. */
  readonly repository: boolean;
  readonly env: Surroundings;
  readonly findings: BoardFileFindings;
}

/** A leading dash would turn it into an option. */
const IMAGE = /^[A-Za-z0-9][\w./:@+-]*$/;

/**
 * The program that is run for an agent; the worker's takes precedence over the agent's own. Undefined: none,
 * the agent takes part by itself.
 */
export function programOf(agent: AgentFields, path: Path, context: ProgramContext): AgentProgram | undefined {
  const worker = agent.mode === 'controller' ? agent.worker : undefined;
  const pathOf = (key: 'image' | 'command' | 'workspace'): Path =>
    worker?.[key] === undefined ? [...path, key] : [...path, 'worker', key];
  const command = worker?.command ?? agent.command;
  const image = worker?.image ?? agent.image;
  const runtime = runtimeOf(agent, { command, image }, path, context);
  if (runtime === undefined) return undefined;
  const { env, findings } = context;
  if (runtime === 'process' && image !== undefined && (agent.runtime ?? context.runtime) === undefined)
    findings.warn(pathOf('image'), 'not used: the command runs as a process; see runtime: container');
  warnOfUnexpanded(command, pathOf('command'), findings);
  const { resources } = agent;
  return {
    command: command ?? [],
    runtime,
    ...(runtime === 'container' && image ? { image: imageOf(image, pathOf('image'), context) } : {}),
    workspace: workspaceOf(worker?.workspace?.mode ?? agent.workspace?.mode, pathOf('workspace'), context),
    environment: {
      ...resolveEnvironment(agent.environment ?? [], [...path, 'environment'], env, findings),
      ...resolveEnvironment(worker?.environment ?? [], [...path, 'worker', 'environment'], env, findings),
    },
    ...present({
      cpus: resources?.limits?.cpus ?? resources?.cpus,
      memory_bytes: resources?.limits?.memory ?? resources?.memory,
    }),
    prompts: agent.prompts ?? {},
  };
}

function runtimeOf(
  agent: AgentFields,
  { command, image }: Pick<AgentFields, 'command' | 'image'>,
  path: Path,
  { runtime: usual, findings }: ProgramContext,
): AgentProgram['runtime'] | undefined {
  // A missing field may be one that could not be read. Then nothing is concluded from it, and the rest is
  // still checked.
  if (['runtime', 'command', 'image', 'worker'].some((key) => findings.isBroken([...path, key])))
    return 'process';
  if ((agent.runtime ?? command ?? image) === undefined) return undefined;
  const runtime = agent.runtime ?? usual ?? (command === undefined ? 'container' : 'process');
  if (runtime === 'process' && command === undefined) findings.complain(path, 'a process needs a command');
  if (runtime === 'container' && image === undefined) findings.complain(path, 'a container needs an image');
  return runtime;
}

function imageOf(given: string, path: Path, { env, findings }: ProgramContext): string {
  const image = expand(given, path, env, findings);
  if (!findings.isBroken(path) && !IMAGE.test(image))
    findings.complain(path, 'expected the name of an image');
  return image;
}

/**
 * Sett and Holt mount the repository read-only if the file does not say otherwise, and so do we: an agent may
 * write only if the file says so. Outside of a repository there is nothing to check out.
 */
function workspaceOf(
  mode: AgentProgram['workspace'] | undefined,
  path: Path,
  { repository, findings }: ProgramContext,
): AgentProgram['workspace'] {
  if (!repository && mode !== undefined && mode !== 'none')
    findings.complain(path, `${mode} needs a git repository, and this folder is in none`);
  return mode ?? (repository ? 'ro' : 'none');
}

const SHELL = /(?:^|\/)(?:env|(?:ba|da|a|k|z|fi)?sh)$/;

/**
 * A value pasted into a shell script would be parsed as a part of it. The shell itself expands variables
 * correctly.
 */
function warnOfUnexpanded(command: readonly string[] = [], path: Path, findings: BoardFileFindings): void {
  if (SHELL.test(command[0] ?? '')) return;
  if (command.some((word) => /\$\{\w+\}/.test(word)))
    findings.warn(path, 'variables in a command are a shell’s to replace: [sh, -c, …]');
}
