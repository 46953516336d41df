import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { isUnprintable } from '../../../kernel/names.ts';
import type { FileProblem } from '../../../storage/file-problem.ts';
import { readPlain } from '../../../storage/plain-yaml.ts';
import { depthProblem } from '../../../storage/yaml-depth.ts';
import { normFeature } from '../edge.ts';
import type { Feature } from '../routing/feature.ts';
import { stepsOf, usualSteps } from '../routing/topology.ts';
import { timeBoxEnd } from './time-box.ts';

export type ParsedFeature =
  | { readonly ok: true; readonly feature: Feature }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

const name = z
  .string()
  .max(limits.feature_chars_max, `at most ${limits.feature_chars_max} characters`)
  .refine((given) => normFeature(given) !== '', 'a name')
  .refine((given) => !isUnprintable(given), 'printable characters only')
  .transform(normFeature);
const text = z.string().max(2000);
/** Other implementations have their own words for what is neither done nor to do. */
const status = z.string().max(100).nullish();
const asset = z.string().max(limits.edge_chars_max);

const schema = z.object({
  feature: name,
  title: text.nullish(),
  vector_type: status,
  status,
  priority: z.union([z.number().min(0).max(1_000_000), z.string().max(100)]).nullish(),
  time_box: z
    .object({
      enabled: z.boolean().nullish(),
      duration: z.union([z.string(), z.number()]).nullish(),
      started: z.union([z.string(), z.number()]).nullish(),
      started_at: z.union([z.string(), z.number()]).nullish(),
      ends: z.string().nullish(),
      expires_at: z.string().nullish(),
    })
    .nullish()
    .catch(undefined),
  trajectory: z.record(asset, z.union([z.string(), z.object({ status }), z.null()])).nullish(),
  modules: z.array(z.string().min(1).max(200)).max(limits.modules_per_feature_max).nullish(),
  dependencies: z
    .array(
      z.union([
        name.transform((feature) => ({ feature, asset: undefined, status: undefined })),
        z.object({ feature: name, asset: asset.nullish(), status }),
      ]),
    )
    .max(limits.task_dependencies_max)
    .nullish(),
});

type FeatureFile = z.output<typeof schema>;

const WANTED = new Set(Object.keys(schema.shape));

/**
 * One feature vector. Keys that routing does not use may be anything; an error in the others is reported with
 * its line.
 */
export async function parseFeature(given: string, place: FilePlace): Promise<ParsedFeature> {
  const read = schema.safeParse(readPlain(given, WANTED));
  if (read.success) return { ok: true, feature: featureOf(read.data, place) };
  const deep = depthProblem(given);
  if (deep !== undefined) return { ok: false, problems: [deep] };
  // The full YAML parser, which also gives the lines of errors.
  const { readYaml } = await import('../../../storage/yaml-file.ts');
  const { value, problems } = readYaml(given, schema);
  if (value === undefined || problems.length > 0) return { ok: false, problems };
  return { ok: true, feature: featureOf(value, place) };
}

export interface FilePlace {
  readonly file: string;
  readonly touched_ms: number;
}

const VECTOR_TYPES = ['feature', 'discovery', 'spike', 'poc', 'hotfix'] as const;
const STATUSES = ['pending', 'in_progress', 'converged', 'blocked', 'time_box_expired'] as const;
const SET_ASIDE = ['archived', 'dismissed'];
const STEP_STATUSES = ['pending', 'iterating', 'converged'] as const;
const PRIORITIES: Readonly<Record<string, number>> = {
  critical: 1,
  high: 3,
  medium: 5,
  normal: 5,
  low: 8,
};
const PRIORITY_DEFAULT = 5;
const RESOLVED = /^(?:resolved|converged)$/i;

function oneOf<T extends string>(words: readonly T[], given: string | null | undefined, other: T): T {
  return words.find((word) => word === given?.trim().toLowerCase()) ?? other;
}

function featureOf(read: FeatureFile, { file, touched_ms }: FilePlace): Feature {
  const { feature, title, time_box, modules, dependencies } = read;
  return {
    feature,
    title: title ?? undefined,
    vector_type: oneOf(VECTOR_TYPES, read.vector_type, 'feature'),
    status: statusOf(read.status),
    priority: priorityOf(read.priority),
    time_box_ends_ms: timeBoxEnd(time_box ?? {}),
    trajectory: trajectoryOf(read),
    // Not filled in, which does not mean that it touches nothing.
    modules: modules == null || modules.length === 0 ? undefined : [...new Set(modules)],
    dependencies: (dependencies ?? []).map((each) => ({
      feature: each.feature,
      asset: each.asset ?? undefined,
      resolved: RESOLVED.test(each.status?.trim() ?? ''),
    })),
    touched_ms,
    file,
  };
}

/** Any other word is one that another implementation has for work in progress. */
function statusOf(given: string | null | undefined): Feature['status'] {
  const word = given?.trim().toLowerCase() ?? 'pending';
  return SET_ASIDE.includes(word) ? 'set_aside' : oneOf(STATUSES, word, 'in_progress');
}

function priorityOf(given: FeatureFile['priority']): number {
  if (typeof given === 'number') return given;
  return PRIORITIES[given?.trim().toLowerCase() ?? ''] ?? PRIORITY_DEFAULT;
}

function trajectoryOf({ trajectory }: FeatureFile): Feature['trajectory'] {
  const entries = Object.entries(trajectory ?? {});
  const steps = stepsOf(entries.map(([key]) => key));
  const usual = usualSteps(steps);
  if (usual.length > 0) return usual.map((step) => ({ ...step, status: 'pending' }));
  const found = entries.flatMap(([, terms], index) => {
    const step = steps[index];
    const said = typeof terms === 'string' ? terms : (terms?.status ?? 'pending');
    return step === undefined ? [] : [{ ...step, status: oneOf(STEP_STATUSES, said, 'iterating') }];
  });
  return [...new Map(found.toReversed().map((step) => [step.edge, step])).values()].toReversed();
}
