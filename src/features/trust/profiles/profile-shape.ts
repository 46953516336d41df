import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { isUnprintable } from '../../../kernel/names.ts';
import type { TrustLevel } from '../../../runtime/access.ts';
import { CATEGORIES } from '../finding.ts';
import { GUARDRAILS, type ResourceLimits } from '../profile.ts';
import { FILES_LIMIT_MAX } from '../usage.ts';
import { readDuration, UNLIMITED } from './duration.ts';

const DAYS_30_SECONDS = 30 * 86_400;

export const profileName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'a name of letters, digits, dots and dashes');

const word = z
  .string()
  .max(64, 'at most 64 characters')
  .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'a permission or the name of an operation, such as write or git_push');

const agentType = z
  .string()
  .min(1)
  .max(limits.agent_id_chars_max)
  .refine((text) => !isUnprintable(text), 'printable characters only');

const words = z.array(word).max(limits.profile_words_max);

const domain = z
  .string()
  .max(253, 'at most 253 characters')
  .regex(/^[\x21-\x7e]+$/, 'a domain such as docs.python.org');

function count(max: number) {
  return z.union([z.int().min(0).max(max), z.literal(UNLIMITED)], {
    error: `a whole number up to ${max}, or ${UNLIMITED}`,
  });
}

const time = z.union(
  [
    z.int().min(1).max(DAYS_30_SECONDS),
    z.literal(UNLIMITED),
    z.string().refine((text) => {
      const seconds = readDuration(text);
      return seconds !== undefined && seconds >= 1 && seconds <= DAYS_30_SECONDS;
    }),
  ],
  { error: `a time such as 30m, 2h or 8h, seconds, or ${UNLIMITED}` },
);

/** The seed's names; `object` is strict, except where the rest of a file with unknown fields is checked. */
export function resourceLimits(object: typeof z.strictObject = z.strictObject) {
  return object({
    max_file_modifications: count(FILES_LIMIT_MAX).optional(),
    max_file_reads: count(1_000_000).optional(),
    max_execution_time: time.optional(),
    max_api_calls_per_hour: count(1_000_000).optional(),
    max_spawned_agents: count(1000).optional(),
  });
}

/** Everything in a profile except its name, all optional. */
export function profileFields() {
  return {
    trust_level: z.int().min(0).max(4).describe('0 read-only … 4 changes profiles and policies.').optional(),
    agent_types: z.array(agentType).max(20).optional(),
    connection: z.enum(['any', 'mcp', 'http_api', 'agentcore_gateway']).optional(),
    network_policy: profileName.optional(),
    network_default: z.enum(['allow', 'deny']).optional(),
    required_domains: z.array(domain).max(limits.profile_words_max).optional(),
    allowed_operations: words.optional(),
    blocked_operations: words.optional(),
    guardrails: z.array(z.enum(GUARDRAILS)).max(GUARDRAILS.length).optional(),
    elevated_operations: words
      .describe(
        `Guarded operations that go ahead at trust 3, or categories: ${CATEGORIES.slice(0, 3).join(', ')} …`,
      )
      .optional(),
  };
}

type GivenLimits = z.output<ReturnType<typeof resourceLimits>>;

/** Times in seconds; what is unlimited has no limit. */
export function limitsFrom(given: GivenLimits): ResourceLimits {
  const { max_execution_time, ...counts } = given;
  const limited = Object.entries(counts).filter(([, value]) => value !== undefined && value !== UNLIMITED);
  const seconds =
    typeof max_execution_time === 'string' ? readDuration(max_execution_time) : max_execution_time;
  return {
    ...(Object.fromEntries(limited) as ResourceLimits),
    ...(seconds === undefined ? {} : { max_execution_seconds: seconds }),
  };
}

export function trustFrom(level: number | undefined): TrustLevel | undefined {
  return level as TrustLevel | undefined;
}
