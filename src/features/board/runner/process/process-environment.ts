import type { GrantAssignment } from '../execution-port.ts';
import { type Places, RUN_VARIABLE, type RunFiles } from './run-files.ts';

/**
 * An agent is a program of the user's and needs what the user's programs need: a path, a home with the
 * client's own login, proxies, certificates. So it gets our environment, unlike a verification, which gets a
 * bare one. Removed from it are:
 * - our identity, and every key and address of Coxswain: an agent must not act as the orchestrator, nor as a
 *   person;
 * - the variables by which other orchestrators of this kind talk to an agent;
 * - the repository that a surrounding git hook may point to: the agent has its own work tree.
 */
const OURS =
  /^(?:COX_|COORDINATION_API_|SETT_|HOLT_|GIT_CONFIG_(?:KEY|VALUE)_)|^(?:AGENT_ID|AGENT_TYPE|AGENT_ROLE|AGENT_CAPABILITIES|SESSION_ID|GITHUB_WEBHOOK_SECRET)$/;

const GIT_PLACES = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_CONFIG_COUNT',
  'GIT_CONFIG_PARAMETERS',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
]);

/** The environment of the process that starts an agent's programs, without its private variables. */
export function passedOn(env: NodeJS.ProcessEnv): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !OURS.test(name) && !GIT_PLACES.has(name)) passed[name] = value;
  return passed;
}

/** The agent's identity, under our names and under those that a program written for Sett or Holt looks for. */
export function agentNames({ agent_id, role }: { agent_id: string; role: string }): Record<string, string> {
  return {
    AGENT_ID: agent_id,
    AGENT_ROLE: role,
    SETT_AGENT_NAME: agent_id,
    SETT_AGENT_ROLE: role,
    HOLT_AGENT_NAME: agent_id,
    HOLT_AGENT_ROLE: role,
  };
}

/**
 * The configuration may set anything but the variables by which the run's processes are found and its results
 * are reported.
 */
export function agentEnvironment(
  { agent, claim_id, phase, attempt, worker }: GrantAssignment,
  run: RunFiles,
  { env, folder }: Pick<Places, 'env' | 'folder'>,
): Record<string, string> {
  const prompts = Object.entries(agent.program?.prompts ?? {}).flatMap(([name, text]) => {
    const word = name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
    return ['COX', 'SETT', 'HOLT'].map((prefix) => [`${prefix}_PROMPT_${word}`, text] as const);
  });
  return {
    ...passedOn(env),
    ...Object.fromEntries(prompts),
    ...agentNames(agent),
    ...agent.program?.environment,
    COX_BOARD_FOLDER: folder,
    COX_CLAIM_ID: claim_id,
    COX_PHASE: phase,
    COX_ATTEMPT: String(attempt),
    COX_WORKER: worker,
    [RUN_VARIABLE]: run.name,
  };
}
