import { limits } from '../../../kernel/limits.ts';
import { present } from '../../../kernel/present.ts';
import { depthProblem } from '../../../storage/yaml-depth.ts';
import { type FileProblem, readYaml, UNKNOWN_FIELD } from '../../../storage/yaml-file.ts';
import type { AreaOf } from '../../teams/index.ts';
import { type Bidder, type BoardSettings, DEFAULT_SETTINGS } from '../board-settings.ts';
import type { AgentConfig, BoardConfig } from './agent-config.ts';
import type { Surroundings } from './agent-environment.ts';
import { agentOf } from './agent-file.ts';
import { BoardFileFindings, byLine } from './board-file-findings.ts';
import { type BoardFile, boardSchema } from './board-schema.ts';
import { warnOfUnused } from './unused.ts';

export type ParsedBoard =
  | { readonly ok: true; readonly config: BoardConfig; readonly warnings: readonly FileProblem[] }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

export interface BoardOptions {
  /** The source of variables that are passed on, and of `${NAME}`. */
  readonly env: Surroundings;
  readonly areaOf: AreaOf;
  /** The folder is in a git repository, so that agents can have worktrees. */
  readonly repository: boolean;
}

const [file, looseFile] = [boardSchema(true), boardSchema(false)];

/** `cox.yml`, `sett.yml` or `holt.yml`: its contents, or every mistake in it. An unknown key is not a mistake. */
export function parseBoard(text: string, name: string, folder: string, options: BoardOptions): ParsedBoard {
  const deep = depthProblem(text);
  if (deep !== undefined) return { ok: false, problems: [deep] };
  const { value, problems, problem } = readYaml(text, file, looseFile, { texts: true, key_lines: true });
  const isUnknown = ({ reason }: FileProblem) => reason === UNKNOWN_FIELD;
  const unknown = problems.filter((found) => isUnknown(found) && !isExtension(found));
  const findings = new BoardFileFindings(
    problems.filter((found) => !isUnknown(found)),
    unknown.map((found) => ({ ...found, reason: `${UNKNOWN_FIELD}, ignored` })),
    problem,
  );
  const config = value && { file: name, folder, ...boardOf(value, options, findings) };
  if (config === undefined || findings.problems.length > 0)
    return { ok: false, problems: byLine(findings.problems) };
  return { ok: true, config, warnings: byLine(findings.warnings) };
}

/** `x-common:` at the top level, a place for parts that are used by reference. */
function isExtension({ field }: FileProblem): boolean {
  return /^x-[^.]*$/.test(field);
}

function boardOf(
  read: BoardFile,
  options: BoardOptions,
  findings: BoardFileFindings,
): Pick<BoardConfig, 'settings' | 'agents'> {
  const context = { ...options, runtime: read.orchestrator?.runtime, findings };
  const settings = settingsOf(read.orchestrator);
  const agents = Object.entries(read.agents ?? {}).map(([name, agent]) => agentOf(name, agent, context));
  checkNumber(agents, findings);
  if (!settings.allow_duplicate_roles && !findings.isBroken(['orchestrator', 'allow_duplicate_roles']))
    checkRoles(agents, findings);
  warnOfUnused(read, findings);
  return { settings, agents };
}

function settingsOf(given: BoardFile['orchestrator']): BoardSettings {
  const { max_review_iterations, on_failure, max_attempts, allow_duplicate_roles } = given ?? {};
  return {
    ...DEFAULT_SETTINGS,
    ...present({ max_review_iterations, on_failure, max_attempts, allow_duplicate_roles }),
    ...present({ bid_deadline_ms: given?.bid_deadline, stuck_ms: given?.stuck_after }),
    timeouts_ms: { ...DEFAULT_SETTINGS.timeouts_ms, ...present(given?.timeouts) },
  };
}

function checkNumber(agents: readonly AgentConfig[], findings: BoardFileFindings): void {
  const { board_agents_max, board_roster_bytes_max } = limits;
  if (agents.length === 0 && !findings.isBroken(['agents']))
    findings.complain(['agents'], 'expected at least one agent');
  if (agents.length > board_agents_max)
    findings.complain(['agents'], `expected at most ${board_agents_max} agents`);
  if (Buffer.byteLength(JSON.stringify(agents.map(rosterEntry))) > board_roster_bytes_max)
    findings.complain(['agents'], 'names, types and files of all agents together are too long');
}

function rosterEntry({ agent_id, role, standing_bid, files }: AgentConfig): Bidder {
  return { agent_id, role, standing_bid, files };
}

/** [BID-3] Sett's wording, which names both agents. An agent with several replicas is still one agent. */
function checkRoles(agents: readonly AgentConfig[], findings: BoardFileFindings): void {
  const first = new Map<string, string>();
  for (const { agent_id, role } of agents) {
    const path = ['agents', agent_id, 'role'];
    const other = first.get(role);
    // If the role could not be read, the default that replaces it must not be compared.
    if (findings.isBroken(path)) continue;
    if (other === undefined) first.set(role, agent_id);
    else
      findings.complain(
        path,
        `duplicate agent role '${role}' found (agents '${other}' and '${agent_id}'): all agents must have unique roles in Phase 3`,
      );
  }
}
