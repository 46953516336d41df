import type { Clock } from '../../kernel/clock.ts';
import { normaliseArea } from '../../kernel/path.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { joinPath, type Workspace } from '../../kernel/workspace.ts';
import { glance, KeptFiles } from '../../storage/cached-files.ts';
import { type FileProblem, firstProblem } from '../../storage/file-problem.ts';
import type { FileText } from '../../storage/read-bounded.ts';
import type { Team } from './team.ts';

/**
 * The workspace's `teams.yaml` (or `COX_TEAMS`), read again when it has changed. A file with mistakes does
 * not mean a team without rules: whatever depends on the rules is refused until the file is repaired or
 * removed.
 */
export class TeamReader {
  readonly path: string;
  readonly team: () => Promise<Team | Refusal | undefined>;
  readonly #workspace: Workspace;

  constructor(workspace: Workspace, clock: Clock, env: NodeJS.ProcessEnv = process.env) {
    this.path = env.COX_TEAMS || joinPath(workspace.root, 'teams.yaml');
    this.#workspace = workspace;
    const files = new KeptFiles((_path, text) => this.#parse(text));
    this.team = glance(clock, () => files.first([this.path]));
  }

  async #parse(file: FileText): Promise<Team | Refusal> {
    if (!file.ok) return this.#invalid([{ line: 1, field: 'file', reason: file.reason }]);
    // The parser is loaded only where there is a team.
    const { parseTeam } = await import('./team-file.ts');
    const parsed = parseTeam(file.text, (path) => {
      const area = normaliseArea(path, this.#workspace);
      return area.ok ? area.area : area.message;
    });
    return parsed.ok ? parsed.team : this.#invalid(parsed.problems);
  }

  #invalid(problems: readonly FileProblem[]): Refusal {
    return refuse('team_invalid', firstProblem(this.path, problems), {
      errors: problems.map((problem) => ({ ...problem })),
    });
  }
}
