import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from './kernel/clock.ts';
import { normaliseArea } from './kernel/path.ts';
import { type Refusal, refuse } from './kernel/refusal.ts';
import type { Workspace } from './kernel/workspace.ts';
import type { Team } from './policy/team.ts';
import type { FileProblem } from './policy/yaml-file.ts';

const FILE_BYTES_MAX = 256 * 1024;
const LOOK_MS = 1000;

interface Read {
  readonly mtime_ms: number;
  readonly size: number;
  readonly team: Team | Refusal;
}

/**
 * The workspace's `teams.yaml` (or `COX_TEAMS`), read again when it has changed. A file with mistakes in it is no team
 * without rules: whatever depends on the rules is refused until it is mended or taken away.
 */
export class TeamReader {
  readonly path: string;
  readonly #workspace: Workspace;
  readonly #clock: Clock;
  #looked_ms = Number.NEGATIVE_INFINITY;
  #read: Read | undefined;

  constructor(workspace: Workspace, clock: Clock, env: NodeJS.ProcessEnv = process.env) {
    this.path = env.COX_TEAMS || join(workspace.root, 'teams.yaml');
    this.#workspace = workspace;
    this.#clock = clock;
  }

  async team(): Promise<Team | Refusal | undefined> {
    const now_ms = this.#clock.elapsed_ms();
    if (now_ms - this.#looked_ms < LOOK_MS) return this.#read?.team;
    this.#looked_ms = now_ms;
    const stat = statSync(this.path, { throwIfNoEntry: false });
    if (stat === undefined) {
      this.#read = undefined;
      return undefined;
    }
    const { mtimeMs: mtime_ms, size } = stat;
    if (this.#read?.mtime_ms !== mtime_ms || this.#read.size !== size)
      this.#read = { mtime_ms, size, team: await this.#parse(size) };
    return this.#read.team;
  }

  async #parse(size: number): Promise<Team | Refusal> {
    if (size > FILE_BYTES_MAX) return this.#invalid([tooLarge]);
    // Only who has a team pays for the parser.
    const { parseTeam } = await import('./policy/team-file.ts');
    const parsed = parseTeam(readFileSync(this.path, 'utf8'), (path) => {
      const area = normaliseArea(path, this.#workspace);
      return area.ok ? area.area : area.message;
    });
    return parsed.ok ? parsed.team : this.#invalid(parsed.problems);
  }

  #invalid(problems: readonly FileProblem[]): Refusal {
    const [first] = problems;
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
    const message = `${this.path}:${first?.line}: ${first?.field}: ${first?.reason}${more}`;
    return refuse('team_invalid', message, { errors: problems.map((problem) => ({ ...problem })) });
  }
}

const tooLarge = { line: 1, field: 'file', reason: `larger than ${FILE_BYTES_MAX} bytes` };
