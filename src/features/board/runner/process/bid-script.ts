import type { ChildProcess } from 'node:child_process';
import { isAbsolute, resolve } from 'node:path';
import { signalGroup } from '../../../../child-process/group.ts';
import { endMarked } from '../../../../child-process/marked.ts';
import { supervise } from '../../../../child-process/supervise.ts';
import { nameMatches } from '../../../../kernel/glob.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { limits } from '../../../../kernel/limits.ts';
import { newSecretName } from '../../../../kernel/secret.ts';
import { BIDS, type Bid } from '../../board-settings.ts';
import type { AgentConfig } from '../../files/agent-config.ts';
import { agentNames, passedOn } from './process-environment.ts';
import { type Places, RUN_VARIABLE } from './run-files.ts';

export interface BidFound {
  readonly bid: Bid;
  readonly why: string;
}

export const BY_SCRIPT = 'its bid script said so';

/**
 * The bid that an agent's script prints for an artefact. If the output is of no use, the bid from the agent's
 * configuration.
 */
export async function runBidScript(
  agent: AgentConfig,
  artefact: JsonObject,
  places: Pick<Places, 'folder' | 'env'>,
): Promise<BidFound> {
  if (agent.bid_script === undefined) return fallBack(agent, artefact, 'it has no bid script');
  const said = await ask(agent, agent.bid_script, artefact, places);
  if ('problem' in said) return fallBack(agent, artefact, said.problem);
  const bid = BIDS.find((known) => known === said.word);
  if (bid !== undefined) return { bid, why: BY_SCRIPT };
  return fallBack(agent, artefact, `its bid script said ${JSON.stringify(said.word.slice(0, 40))}`);
}

function fallBack({ standing_bid }: AgentConfig, { type }: JsonObject, problem: string): BidFound {
  if (standing_bid === undefined) return { bid: 'ignore', why: `${problem}, and it has no bidding strategy` };
  const { bid, target_types } = standing_bid;
  const fits = target_types?.some((pattern) => nameMatches(pattern, String(type))) ?? true;
  if (fits) return { bid, why: `${problem}; by its bidding strategy` };
  return { bid: 'ignore', why: `${problem}; its bidding strategy is for other types` };
}

async function ask(
  agent: AgentConfig,
  [program = '', ...words]: readonly string[],
  artefact: JsonObject,
  { folder, env }: Pick<Places, 'folder' | 'env'>,
): Promise<{ word: string } | { problem: string }> {
  const mark = { variable: RUN_VARIABLE, value: `bid-${newSecretName()}` };
  const command = [
    program.includes('/') && !isAbsolute(program) ? resolve(folder, program) : program,
    ...words,
  ];
  const child = supervise(command, {
    cwd: folder,
    env: {
      ...passedOn(env),
      ...agentNames(agent),
      ...agent.program?.environment,
      [mark.variable]: mark.value,
    },
    limit_seconds: limits.bid_script_ms_max / 1000,
    stdin: 'pipe',
  });
  // A script that decides without reading closes its input.
  child.stdin?.on('error', () => {});
  child.stdin?.end(JSON.stringify(artefact));
  const end = () => {
    signalGroup(child.pid, 'SIGKILL');
    endMarked(mark);
  };
  // Processes that it left behind would hold its output open.
  child.once('exit', end);
  try {
    return await answerOf(child);
  } finally {
    end();
    for (const stream of [child.stdin, child.stdout, child.stderr, child.stdio[3]]) stream?.destroy();
  }
}

function answerOf(child: ChildProcess): Promise<{ word: string } | { problem: string }> {
  const printed: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => resolve({ problem: `its bid script took more than ${limits.bid_script_ms_max / 1000} s` }),
      limits.bid_script_ms_max,
    );
    const settle = (answer: { word: string } | { problem: string }) => {
      clearTimeout(timer);
      resolve(answer);
    };
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limits.bid_output_bytes_max) settle({ problem: 'its bid script printed too much' });
    };
    child.stdout?.on('data', (chunk: Buffer) => {
      printed.push(chunk);
      count(chunk);
    });
    child.stderr?.on('data', count);
    child.on('error', (error) =>
      settle({ problem: `its bid script could not be started: ${error.message}` }),
    );
    child.on('close', (code, signal) => {
      const word = Buffer.concat(printed).toString().trim();
      settle(code === 0 ? { word } : { problem: `its bid script ended with ${code ?? signal}` });
    });
  });
}
