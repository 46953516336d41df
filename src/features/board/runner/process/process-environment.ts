import type { Assignment } from '../execution-port.ts';
import { type Places, RUN_VARIABLE, type RunFiles } from './run-files.ts';

/**
 * An agent is a program of the user's that needs what the user's programs need: its path, its home with the client's own
 * login, proxies, certificates. So it gets our environment, and not a bare one as a verification does. Without what is ours:
 * - who we are, and every key and address of Coxswain's: an agent must not act as the orchestrator, nor as a person;
 * - what other orchestrators of this kind would tell it;
 * - the repository that a git hook around us may mean: it has a work tree of its own.
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

/** Of those who start an agent's programs, without what is only theirs. */
export function passedOn(env: NodeJS.ProcessEnv): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !OURS.test(name) && !GIT_PLACES.has(name)) passed[name] = value;
  return passed;
}

/** Who the agent is, in our names and in those that a program written for Sett or Holt looks for. */
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

/** The configuration may set anything but the marks by which its processes are found and its results are told. */
export function agentEnvironment(
  { agent, claim_id, phase, attempt, worker }: Assignment,
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
