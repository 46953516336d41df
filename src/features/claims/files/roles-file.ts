import { nameProblem } from '../../../kernel/names.ts';
import { present } from '../../../kernel/present.ts';
import type { FileProblem } from '../../../storage/file-problem.ts';
import { depthProblem } from '../../../storage/yaml-depth.ts';
import { readYaml } from '../../../storage/yaml-file.ts';
import { type ClaimRules, DEFAULT_RULES, type EdgeTerms } from '../claim-rules.ts';
import { normEdge } from '../edge.ts';
import { edgeToAsset } from '../routing/topology.ts';
import { KNOWN_KEYS, KNOWN_ROLE_KEYS, type RolesFile, rolesSchema } from './roles-schema.ts';

export type ParsedRoles =
  | { readonly ok: true; readonly rules: ClaimRules; readonly warnings: readonly FileProblem[] }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

const [file, looseFile] = [rolesSchema(true), rolesSchema(false)];

type Complain = (path: PropertyKey[], reason: string) => void;

/**
 * `agent_roles.yml`: what it decides, or every mistake in it. Keys that other implementations add are no
 * mistake.
 */
export function parseRoles(text: string, name: string): ParsedRoles {
  const deep = depthProblem(text);
  if (deep !== undefined) return { ok: false, problems: [deep] };
  const { value: read, problems: found, problem } = readYaml(text, file, looseFile);
  if (read === undefined) return { ok: false, problems: found };
  const problems = [...found];
  const complain: Complain = (path, reason) => problems.push(problem(path, reason));
  const rules = rulesOf(read, name, complain);
  if (problems.length > 0) return { ok: false, problems: problems.sort((a, b) => a.line - b.line) };
  return {
    ok: true,
    rules,
    warnings: unknownKeys(read).map((path) => problem(path, 'unknown field, ignored')),
  };
}

function unknownKeys(read: RolesFile): PropertyKey[][] {
  const top = Object.keys(read).filter((key) => !KNOWN_KEYS.has(key));
  const inRoles = Object.entries(read.roles ?? {}).flatMap(([role, terms]) =>
    Object.keys(terms)
      .filter((key) => !KNOWN_ROLE_KEYS.has(key))
      .map((key) => ['roles', role, key]),
  );
  return [...top.map((key) => [key]), ...inRoles];
}

function rulesOf(read: RolesFile, name: string, complain: Complain): ClaimRules {
  const { authority, single_agent_defaults, work_isolation, parallelism } = read;
  const { ephemeral: _, ...isolation } = present(work_isolation);
  const { nonzero_inner_product, skip_claimed_features } = present(parallelism);
  const { human_authority: __, ...powers } = present(authority);
  return {
    ...DEFAULT_RULES,
    file: name,
    roles: rolesOf(read, complain),
    agents: agentsOf(read, complain),
    ...powers,
    ...timesOf(read, complain),
    single: { ...DEFAULT_RULES.single, ...present(single_agent_defaults) },
    edges: edgesOf(read, complain),
    isolation: { ...DEFAULT_RULES.isolation, ...isolation },
    routing: { ...DEFAULT_RULES.routing, ...present({ nonzero_inner_product, skip_claimed_features }) },
  };
}

/** Without a list of roles the default list applies; with one, only the roles in it. */
function rolesOf(read: RolesFile, complain: Complain): ClaimRules['roles'] {
  if (read.roles === undefined) return DEFAULT_RULES.roles;
  return Object.fromEntries(
    Object.entries(read.roles).map(([role, { description, converge_edges, human_review_bypass }]) => {
      const edges = converge_edges.flatMap((given, index) => {
        const edge = normEdge(given);
        if (edge === '') complain(['roles', role, 'converge_edges', index], 'not the name of an edge');
        return [edge, edgeToAsset(edge) ?? edge];
      });
      return [
        role,
        { ...present({ description, human_review_bypass }), converge_edges: [...new Set(edges)] },
      ];
    }),
  );
}

function agentsOf({ agents = {}, roles }: RolesFile, complain: Complain): ClaimRules['agents'] {
  for (const [agent_id, role] of Object.entries(agents)) {
    const problem = nameProblem(agent_id);
    if (problem !== undefined) complain(['agents', agent_id], `not a name: expected ${problem}`);
    if (!Object.hasOwn(roles ?? DEFAULT_RULES.roles, role))
      complain(['agents', agent_id], `no role is called ${JSON.stringify(role)}`);
  }
  return Object.fromEntries(Object.entries(agents));
}

function edgesOf({ edges = {} }: RolesFile, complain: Complain): ClaimRules['edges'] {
  const terms = new Map<string, EdgeTerms>();
  const written = new Map<string, string>();
  for (const [given, each] of Object.entries(edges)) {
    const edge = edgeToAsset(given) ?? normEdge(given);
    const before = written.get(edge);
    if (edge === '') complain(['edges', given], 'not the name of an edge');
    if (before !== undefined) complain(['edges', given], `the same edge as ${JSON.stringify(before)}`);
    written.set(edge, given);
    terms.set(edge, present(each));
  }
  return Object.fromEntries(terms);
}

function timesOf(
  { claim_protocol }: RolesFile,
  complain: Complain,
): Partial<Pick<ClaimRules, 'stale_ms' | 'stale_action' | 'ttl_ms'>> {
  const { stale_claim_timeout, stale_threshold_seconds, stale_claim_action, claim_ttl_seconds } =
    claim_protocol ?? {};
  const stale_s = stale_claim_timeout ?? stale_threshold_seconds;
  if (stale_threshold_seconds !== undefined && stale_s !== stale_threshold_seconds)
    complain(['claim_protocol', 'stale_threshold_seconds'], 'says something else than stale_claim_timeout');
  return present({
    stale_ms: stale_s === undefined ? undefined : stale_s * 1000,
    stale_action: stale_claim_action,
    ttl_ms: claim_ttl_seconds === undefined ? undefined : claim_ttl_seconds * 1000,
  });
}
