import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { isS3, parseS3Template, S3_TEMPLATE } from '../../../kernel/s3-address.ts';
import { readDuration } from '../../trust/profiles/index.ts';

const DURATION_S_MAX = 30 * 86_400;
const FOLDER_CHARS_MAX = 200;

const text = z.string().min(1).max(2000);
const word = z.string().min(1).max(limits.agent_role_chars_max);
const edge = z.string().min(1).max(limits.edge_chars_max);
const words = z.array(text).max(limits.evaluators_max);

/** `1800`, `"1800"`, `30m`, `1h`. */
const seconds = z
  .union([z.number(), z.string()])
  .transform((given) =>
    typeof given === 'number' || /^\d{1,9}$/.test(given.trim()) ? Number(given) : readDuration(given),
  )
  .refine(
    (value) => value !== undefined && value >= 1 && value <= DURATION_S_MAX,
    `seconds or a text such as 30m or 1h, from 1s to ${DURATION_S_MAX / 86_400}d`,
  )
  .transform(Number);

/** A separate folder for each agent that can't lead out of its parent folder. */
const folder = text
  .max(FOLDER_CHARS_MAX)
  .refine(isInside, 'a relative path without .. in it')
  .transform(withoutSlash);

/** The agent's own place, on a disk or in a bucket. */
const agentPlace = text
  .refine(isAgentPlace, {
    error: ({ input }) =>
      isS3(String(input)) ? S3_TEMPLATE : 'a relative path with {agent_id} and without .. in it',
  })
  .transform(withoutSlash);

function isAgentPlace(path: string): boolean {
  if (isS3(path)) return parseS3Template(path) !== undefined;
  return path.length <= FOLDER_CHARS_MAX && isInside(path) && path.includes('{agent_id}');
}

function isInside(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them has a place in a path.
  return !/^(?:[\\/]|[A-Za-z][\w+.-]*:)|[\u0000-\u001f\\]/.test(path) && !path.split('/').includes('..');
}

function withoutSlash(path: string): string {
  return path.replace(/(?!^)\/+$/, '');
}

/**
 * Everything that the files of other implementations contain, and our additions: `agents`, `edges`, and three
 * keys of `work_isolation`. Unknown keys at the top level and in roles are kept, for a warning. Elsewhere a
 * mistyped key would silently change permissions, so there it is refused (`strict`).
 */
export function rolesSchema(strict: boolean) {
  const object = (strict ? z.strictObject : z.object) as typeof z.strictObject;
  return z.looseObject({
    version: z.union([z.string(), z.number()]).optional(),
    roles: z
      .record(
        word,
        z.looseObject({
          description: z.string().max(2000).optional(),
          converge_edges: z.union([z.array(edge).max(200), z.literal('all').transform(() => ['all'])]),
          human_review_bypass: z.boolean().optional(),
        }),
      )
      .optional(),
    agents: z.record(z.string(), word).optional(),
    edges: z
      .record(edge, object({ human_required: z.boolean().optional(), evaluators: words.optional() }))
      .optional(),
    authority: object({
      human_authority: z.unknown(),
      outside_authority_action: z.enum(['escalate', 'reject', 'warn']),
      spec_mutation_requires_human: z.boolean(),
    })
      .partial()
      .optional(),
    single_agent_defaults: object({ agent_id: word, agent_role: word }).partial().optional(),
    claim_protocol: object({
      stale_claim_timeout: seconds,
      stale_threshold_seconds: seconds,
      stale_claim_action: z.enum(['emit_signal', 'auto_release']),
      claim_ttl_seconds: seconds,
      inbox: z.unknown(),
      serialiser: z.unknown(),
    })
      .partial()
      .optional(),
    work_isolation: object({
      drafts_path_template: agentPlace,
      scratch_path_template: agentPlace,
      ephemeral: z.boolean(),
      promotion_requires: words,
      assets_path: folder,
      spec_globs: words,
      adr_globs: words,
    })
      .partial()
      .optional(),
    parallelism: object({
      routing_strategy: z.literal('inner_product'),
      zero_inner_product: z.string(),
      nonzero_inner_product: z
        .string()
        .regex(/^(warn\w*|forbid)$/, 'warn or forbid')
        .transform((given) => (given === 'forbid' ? ('forbid' as const) : ('warn' as const))),
      skip_claimed_features: z.boolean(),
    })
      .partial()
      .optional(),
  });
}

export type RolesFile = z.output<ReturnType<typeof rolesSchema>>;

/** The sections that are read; the rest is for other implementations. */
export const KNOWN_KEYS = new Set(Object.keys(rolesSchema(true).shape));
export const KNOWN_ROLE_KEYS = new Set(['description', 'converge_edges', 'human_review_bypass']);
