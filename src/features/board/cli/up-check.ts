import type { JsonObject } from '../../../kernel/json.ts';
import type { FileProblem } from '../../../storage/file-problem.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { type CommonOptions, conclude, type Result } from '../../../transports/cli/program/common.ts';
import type { AgentConfig, BoardConfig } from '../files/agent-config.ts';
import { boardInput } from '../runner/roster.ts';

/** What `cox up` would run, by the file alone: nothing is started, and no store is opened. */
export async function tellChecked(
  config: BoardConfig,
  warnings: readonly FileProblem[],
  options: CommonOptions,
  terminal: Terminal,
  result: Result,
): Promise<void> {
  const { agents: _, ...settings } = boardInput(config) as unknown as JsonObject;
  const answer = {
    success: true,
    file: config.file,
    agents: config.agents.map(describe),
    settings,
    warnings: warnings.map((warning) => ({ ...warning })),
  };
  if (options.json === true) return await conclude(terminal, answer, options, result);
  const lines = [
    `${config.file} is valid. cox up would run:`,
    ...config.agents.map(
      (agent) => `  ${agent.agent_id} (${agent.role}): ${programOf(agent)}; ${bidsOf(agent)}`,
    ),
    deadlineOf(config),
    ...warnings.map(({ line, field, reason }) => `Warning: ${config.file}:${line}: ${field}: ${reason}`),
  ];
  await terminal.out(`${lines.join('\n')}\n`);
}

function describe({
  agent_id,
  role,
  program,
  standing_bid,
  max_concurrent,
  workers,
}: AgentConfig): JsonObject {
  return {
    agent_id,
    role,
    command: program === undefined ? null : [...program.command],
    image: program?.image ?? null,
    runtime: program?.runtime ?? null,
    workspace: program?.workspace ?? null,
    standing_bid: standing_bid === undefined ? null : ({ ...standing_bid } as unknown as JsonObject),
    max_concurrent,
    workers,
  };
}

function programOf({ program, max_concurrent }: AgentConfig): string {
  if (program === undefined) return 'takes part by itself, over MCP or HTTP';
  const command = program.command.join(' ');
  const what = program.runtime === 'container' ? `${program.image} ${command}`.trim() : command;
  const where = { none: '', ro: ', in a read-only worktree', rw: ', in a worktree of its own' }[
    program.workspace
  ];
  const how = program.runtime === 'container' ? ' in a container' : '';
  return `${what}${how}${where}${max_concurrent > 1 ? `, up to ${max_concurrent} at once` : ''}`;
}

function bidsOf({ standing_bid, bid_script }: AgentConfig): string {
  if (bid_script !== undefined) return `bids by ${bid_script.join(' ')}`;
  if (standing_bid === undefined) return 'is asked for each bid';
  const { bid, target_types } = standing_bid;
  return target_types === undefined ? `bids ${bid}` : `bids ${bid} on ${target_types.join(', ')}`;
}

function deadlineOf({ settings }: BoardConfig): string {
  const seconds = settings.bid_deadline_ms / 1000;
  return seconds === 0
    ? 'The board waits for the bids of all of them; `cox board` tells for whom it waits.'
    : `An agent that has not bid after ${seconds} s counts as ignore.`;
}
