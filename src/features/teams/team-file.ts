import { z } from 'zod';
import type { Area } from '../../kernel/area.ts';
import { type FileProblem, readYaml } from '../../storage/yaml-file.ts';
import type { Team, TeamRules } from './team.ts';

export type ParsedTeam =
  | { readonly ok: true; readonly team: Team }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/** The path's normal form, or why it has none. */
export type AreaOf = (path: string) => Area | string;

const word = z.string().min(1).max(128);
const words = z.array(word).max(100);

const UNNAMED = 'team';

/** `strict` reports unknown keys; without it, the rest can be checked despite them. */
function fileSchema(strict: boolean) {
  const object = (strict ? z.strictObject : z.object) as typeof z.strictObject;
  return object({
    /** A name for people; the original's files have none. */
    team: word.optional(),
    agents: z
      .array(
        object({
          name: word,
          role: word,
          capabilities: words.max(20),
          description: z.string().min(1).max(2000),
        }),
      )
      .min(1)
      .max(200),
    rules: object({
      reviews: z.array(object({ of: words.min(1), by: words.min(1) })).max(100),
      owns: z.array(object({ agents: words.min(1), paths: words.min(1) })).max(100),
      at_once: z
        .array(
          object({ agent: word.optional(), role: word.optional(), tasks: z.int().min(1).max(1000) }).refine(
            ({ agent, role }) => (agent === undefined) !== (role === undefined),
            'either agent or role',
          ),
        )
        .max(100),
    })
      .partial()
      .optional(),
  });
}

const [file, looseFile] = [fileSchema(true), fileSchema(false)];

type TeamFile = z.output<typeof file>;

export function parseTeam(text: string, areaOf: AreaOf): ParsedTeam {
  const { value: read, problems: found, problem } = readYaml(text, file, looseFile);
  if (read === undefined) return { ok: false, problems: found };
  const problems = [...found, ...inconsistencies(read).map(([path, reason]) => problem(path, reason))];
  const rules = rulesOf(read, areaOf, (path, reason) => problems.push(problem(path, reason)));
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, team: { name: read.team ?? UNNAMED, agents: read.agents, rules } };
}

/** Contradictions between parts that are each valid on their own. */
function inconsistencies({ agents, rules }: TeamFile): [PropertyKey[], string][] {
  const found: [PropertyKey[], string][] = [];
  const names = agents.map(({ name }) => name);
  for (const [index, name] of names.entries())
    if (names.indexOf(name) !== index)
      found.push([['agents', index, 'name'], `${JSON.stringify(name)} is there twice`]);
  const known = (path: PropertyKey[], name: string) => {
    if (!names.includes(name)) found.push([path, `${JSON.stringify(name)} is not one of the agents`]);
  };
  for (const [index, { of, by }] of (rules?.reviews ?? []).entries()) {
    for (const [at, name] of of.entries()) known(['rules', 'reviews', index, 'of', at], name);
    for (const [at, name] of by.entries()) {
      known(['rules', 'reviews', index, 'by', at], name);
      if (of.includes(name))
        found.push([
          ['rules', 'reviews', index, 'by', at],
          `${JSON.stringify(name)} would review its own work`,
        ]);
    }
  }
  for (const [index, { agents: owners }] of (rules?.owns ?? []).entries())
    for (const [at, name] of owners.entries()) known(['rules', 'owns', index, 'agents', at], name);
  const roles = agents.map(({ role }) => role);
  for (const [index, { agent, role }] of (rules?.at_once ?? []).entries()) {
    if (agent !== undefined) known(['rules', 'at_once', index, 'agent'], agent);
    if (role !== undefined && !roles.includes(role))
      found.push([['rules', 'at_once', index, 'role'], `no agent has the role ${JSON.stringify(role)}`]);
  }
  return found;
}

function rulesOf(
  { rules }: TeamFile,
  areaOf: AreaOf,
  complain: (path: PropertyKey[], reason: string) => void,
): TeamRules {
  const owns = (rules?.owns ?? []).map(({ agents, paths }, index) => ({
    agents,
    areas: paths.flatMap((path, at) => {
      const area = areaOf(path);
      if (typeof area !== 'string') return [area];
      complain(['rules', 'owns', index, 'paths', at], area);
      return [];
    }),
  }));
  return { reviews: rules?.reviews ?? [], owns, at_once: rules?.at_once ?? [] };
}
