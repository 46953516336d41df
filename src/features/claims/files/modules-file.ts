import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import type { FileProblem } from '../../../storage/file-problem.ts';
import { depthProblem } from '../../../storage/yaml-depth.ts';
import { readYaml } from '../../../storage/yaml-file.ts';
import type { ModuleGraph } from '../routing/feature.ts';

export interface ParsedModules {
  readonly modules: ModuleGraph;
  readonly problems: readonly FileProblem[];
}

const name = z.string().min(1).max(200);
const names = z.array(name).max(limits.modules_per_feature_max);
const terms = z.object({ depends_on: names.nullish() }).nullish();

const schema = z.object({
  modules: z
    .union([
      z.array(z.object({ name, depends_on: names.nullish() })).max(limits.modules_max),
      z.record(name, z.union([terms, names])),
    ])
    .nullish(),
});

/** `modules: {api: {depends_on: [db]}}`, `modules: {api: [db]}` or `modules: [{name: api, depends_on: [db]}]`. */
export function parseModules(text: string): ParsedModules {
  const deep = depthProblem(text);
  if (deep !== undefined) return { modules: {}, problems: [deep] };
  const { value, problems } = readYaml(text, schema);
  const { modules } = value ?? {};
  const entries = Array.isArray(modules)
    ? modules.map(({ name: module, depends_on }) => [module, depends_on ?? []] as const)
    : Object.entries(modules ?? {}).map(
        ([module, given]) => [module, Array.isArray(given) ? given : (given?.depends_on ?? [])] as const,
      );
  const graph = new Map<string, string[]>();
  // The same module twice: it builds on everything that either entry lists.
  for (const [module, depends_on] of entries)
    graph.set(module, [...(graph.get(module) ?? []), ...depends_on]);
  return { modules: Object.fromEntries(graph), problems };
}
