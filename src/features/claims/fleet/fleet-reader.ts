import { join, relative, resolve, sep } from 'node:path';
import type { Clock } from '../../../kernel/clock.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import type { Workspace } from '../../../kernel/workspace.ts';
import { glance, KeptFiles } from '../../../storage/cached-files.ts';
import { firstProblem } from '../../../storage/file-problem.ts';
import type { FileText } from '../../../storage/read-bounded.ts';
import { type ClaimRules, DEFAULT_RULES } from '../claim-rules.ts';
import type { ParsedModules } from '../files/modules-file.ts';
import type { ParsedRoles } from '../files/roles-file.ts';
import type { FeatureFolder } from './feature-folder.ts';
import type { Fleet, FleetPlan } from './fleet.ts';

const ROLES = 'agent_roles.yml';

interface ReadRoles {
  readonly file: string;
  readonly parsed: ParsedRoles;
}

/**
 * The fleet's folder on disk: `COX_WORKSPACE`, or `.ai-workspace` in the repository's main work tree. All
 * worktrees share it, as they share the store: if a worktree could bring its own rules, its agent could give
 * itself a role.
 */
export class FleetReader implements Fleet {
  readonly folder: string;
  readonly assets: string | undefined;
  readonly plan: () => Promise<FleetPlan>;
  readonly #top: string;
  readonly #roles: () => Promise<ReadRoles | undefined>;
  readonly #ttl_ms: number | undefined;

  /** `ttl_ms`: the hard end of a claim where the file sets none. */
  constructor(workspace: Workspace, clock: Clock, env: NodeJS.ProcessEnv = process.env, ttl_ms?: number) {
    this.#ttl_ms = ttl_ms;
    this.#top = workspace.main ?? workspace.root;
    this.folder = resolve(this.#top, env.COX_WORKSPACE || '.ai-workspace');
    this.assets = env.COX_ASSETS || undefined;
    const places = [this.folder, join(this.folder, 'config'), join(this.folder, 'context'), this.#top];
    const paths = places.map((place) => join(place, ROLES));
    const files = new KeptFiles((path, text) => this.#parseRoles(path, text));
    this.#roles = glance(clock, () => files.first(paths));
    this.plan = glance(clock, this.#planReader());
  }

  async rules(): Promise<ClaimRules | Refusal> {
    const read = await this.#roles();
    if (read === undefined) return this.#withEnd(DEFAULT_RULES);
    const { file, parsed } = read;
    if (parsed.ok) return this.#withEnd(parsed.rules);
    const errors = parsed.problems.map((problem) => ({ ...problem }));
    return refuse('roles_invalid', firstProblem(file, parsed.problems), { file, errors });
  }

  #withEnd(rules: ClaimRules): ClaimRules {
    return this.#ttl_ms === undefined ? rules : { ttl_ms: this.#ttl_ms, ...rules };
  }

  async #parseRoles(path: string, text: FileText): Promise<ReadRoles> {
    const file = this.#nameOf(path);
    if (!text.ok)
      return { file, parsed: { ok: false, problems: [{ line: 1, field: 'file', reason: text.reason }] } };
    // The parser is loaded only where such a file exists.
    const { parseRoles } = await import('../files/roles-file.ts');
    return { file, parsed: parseRoles(text.text, file) };
  }

  #planReader(): () => Promise<FleetPlan> {
    const files = new KeptFiles<ParsedModules>(async (_path, text) => {
      if (!text.ok) return { modules: {}, problems: [{ line: 1, field: 'file', reason: text.reason }] };
      return (await import('../files/modules-file.ts')).parseModules(text.text);
    });
    let features: Promise<FeatureFolder> | undefined;
    return async () => {
      features ??= import('./feature-folder.ts').then(({ FeatureFolder }) => new FeatureFolder(this.folder));
      const read = await (await features).read();
      const { modules = {}, problems: wrong = [] } =
        (await files.first([join(this.folder, 'modules.yml')])) ?? {};
      const roles = await this.#roles();
      const warnings = roles?.parsed.ok === true ? roles.parsed.warnings : [];
      return {
        // Without the graph it is unknown what else a feature's modules reach.
        features:
          wrong.length === 0 ? read.features : read.features.map((each) => ({ ...each, modules: undefined })),
        modules,
        problems: [
          ...warnings.map((problem) => ({ file: roles?.file ?? ROLES, ...problem })),
          ...wrong.map((problem) => ({ file: 'modules.yml', ...problem })),
          ...read.problems.map((problem) => ({ ...problem })),
        ],
      };
    };
  }

  /** Relative to the repository if it is inside. */
  #nameOf(path: string): string {
    const way = relative(this.#top, path);
    const isInside = way !== '..' && !way.startsWith(`..${sep}`);
    return isInside ? way.replaceAll(sep, '/') : path;
  }
}
