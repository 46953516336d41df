import { basename } from 'node:path';
import { systemClock } from '../../kernel/clock.ts';
import { createIds, systemRandom } from '../../kernel/ids.ts';
import { nameProblem, reservedProblem } from '../../kernel/names.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { Actor } from '../../ledger/log.ts';
import type { Terminal } from '../cli/output/terminal.ts';
import { plain } from '../cli/output/text.ts';
import { claimedIdentity, placeOf } from '../cli/program/common.ts';
import { COX, type GitOptions } from '../git/cli/git-install-command.ts';
import { checkName, environmentCapabilities } from '../shared/identity.ts';
import { hooksForOne } from './hooks-folder.ts';
import { type Protect, runAgent } from './run-agent.ts';
import { closeInheritedFolders } from './run-child.ts';

export interface RunOptions extends GitOptions {
  readonly name?: string;
  readonly protect?: Protect;
}

/** Answers the exit code, or why nothing was run. */
export async function runCommand(
  command: readonly string[],
  options: RunOptions,
  terminal: Terminal,
): Promise<number | Refusal> {
  if (options.protect !== 'off') closeInheritedFolders();
  const name = options.name === undefined ? nameOf(command) : checkName('name', options.name);
  if (typeof name !== 'string') return name;
  const actor = actorFor(name, options, terminal.env);
  if ('success' in actor) return actor;
  const chosen = placeOf(options, terminal);
  if (!chosen.ok) return chosen.refusal;
  const { place } = chosen;
  const { locks: policy = 'auto' } = options;
  const { project } = options;
  // The command finds the store by its environment, where no list of processes shows it.
  const program = { node: process.execPath, cox: COX, locks: policy };
  const hooks = await hooksForOne(terminal.env, program);
  const added = {
    ...hooks.env,
    AGENT_ID: actor.agent_id,
    AGENT_TYPE: actor.agent_type,
    SESSION_ID: actor.session_id,
    ...(place.store === undefined ? {} : { COX_STORE: place.store }),
    ...(project === undefined ? {} : { COX_PROJECT: project }),
  };
  const say = (text: string) => {
    const lines = text.split('\n').map((line, index) => `${index === 0 ? 'coxswain: ' : '  '}${plain(line)}`);
    // The command may have put the terminal into a mode in which a line break does not go back to the left.
    const end = terminal.seen?.err === true ? '\r\n' : '\n';
    void terminal.err(lines.map((line) => line + end).join('')).catch(() => {});
  };
  const capabilities = environmentCapabilities(terminal.env);
  try {
    return await runAgent({
      command,
      name,
      actor,
      capabilities,
      policy,
      place,
      env: terminal.env,
      added,
      protect: options.protect ?? 'auto',
      say,
    });
  } finally {
    await hooks.remove();
  }
}

function nameOf([file = '']: readonly string[]): string {
  const name = basename(file).replace(/\.(?:exe|cmd|bat|py|js|mjs|sh)$/, '');
  const unsound =
    nameProblem(name) ?? reservedProblem('agent_id', name) ?? reservedProblem('agent_type', name);
  return unsound === undefined && name.length <= 64 ? name : 'command';
}

/** An agent of its own each time, or the one that is named; but always a session of its own, which ends with the command. */
function actorFor(name: string, options: RunOptions, env: NodeJS.ProcessEnv): Actor | Refusal {
  const claimed = claimedIdentity(options, { ...env, SESSION_ID: undefined });
  if (!claimed.ok) return claimed.refusal;
  const fresh = createIds(systemClock, systemRandom).uuid().replaceAll('-', '').slice(-12);
  const { agent_id = `${name}-${fresh.slice(0, 6)}`, agent_type = name } = claimed.identity;
  return { agent_id, agent_type, session_id: claimed.identity.session_id ?? `run-${fresh}` };
}
