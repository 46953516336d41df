import { present } from '../../../kernel/present.ts';
import type { AgentProgram } from './agent-config.ts';
import { expand, resolveEnvironment, type Surroundings } from './agent-environment.ts';
import type { Findings } from './board-file-findings.ts';
import type { AgentFields } from './board-schema.ts';

type Path = readonly PropertyKey[];

export interface ProgramContext {
  readonly runtime?: AgentProgram['runtime'] | undefined;
  /** Worktrees can be made. */
  readonly repository: boolean;
  readonly env: Surroundings;
  readonly findings: Findings;
}

/** A dash at the start would make an option of it. */
const IMAGE = /^[A-Za-z0-9][\w./:@+-]*$/;

/** What is run for an agent, its worker's before its own; undefined: nothing, it takes part by itself. */
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
  // What is missing may be what could not be read: then nothing is concluded, and the rest is looked at.
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
 * Sett and Holt mount the repository read-only where the file says nothing, and so do we: an agent that may write is one
 * somebody has said so of. Outside of a repository there is nothing to check out.
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

/** A value pasted into a script for a shell would be read as a part of it; the shell itself does it right. */
function warnOfUnexpanded(command: readonly string[] = [], path: Path, findings: Findings): void {
  if (SHELL.test(command[0] ?? '')) return;
  if (command.some((word) => /\$\{\w+\}/.test(word)))
    findings.warn(path, 'variables in a command are a shell’s to replace: [sh, -c, …]');
}
