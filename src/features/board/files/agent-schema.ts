import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { isUnprintable } from '../../../kernel/names.ts';
import { BIDS } from '../board-settings.ts';
import { environment } from './agent-environment.ts';
import { bidScript, choice, command, cpus, memory_bytes, text, time_ms, whole } from './fields.ts';
import type { SchemaKit } from './schema-kit.ts';

export const ON_FAILURE = choice(['terminate', 'retry']);
export const RUNTIME = choice(['process', 'container']);

const concurrent_max = limits.board_concurrent_max;

/** One agent of the file: the fields of Sett and Holt, and our own. */
export function agentSchema(kit: SchemaKit) {
  const { object, field, section } = kit;
  const amounts = { cpus: field(cpus), memory: field(memory_bytes) };
  return object({
    ...executionFields(kit),
    role: field(name(limits.agent_role_chars_max)),
    runtime: field(RUNTIME),
    bidding_strategy: field(standingBid(kit)),
    bid_script: field(bidScript),
    resources: section({ ...amounts, limits: section(amounts), reservations: section(amounts) }),
    prompts: field(prompts),
    replicas: field(whole(1, concurrent_max)),
    max_concurrent: field(whole(1, concurrent_max)),
    mode: field(choice(['controller'])),
    worker: section({
      ...executionFields(kit),
      // In Sett, 0 means the default.
      max_concurrent: field(whole(0, concurrent_max)),
      keep_containers: field(z.unknown()),
    }),
    timeout: field(time_ms(1)),
    on_failure: field(ON_FAILURE),
    max_attempts: field(whole(1, limits.board_attempts_max)),
    files: field(list(z.string({ error: 'expected a path' }), limits.board_areas_per_agent_max, 'paths')),
    strategy: field(choice(['reuse', 'fresh_per_call'])),
    health_check: field(z.unknown()),
    build: field(z.unknown()),
    volumes: field(z.unknown()),
    synchronize: field(z.unknown()),
  });
}

/** The fields that a worker may set for itself. */
function executionFields({ strict, field, section }: SchemaKit) {
  return {
    image: field(text(500)),
    command: field(command),
    workspace: section({ mode: field(choice(['none', 'ro', 'rw'])) }),
    environment: field(environment(strict)),
  };
}

/** A single word in Sett, a map in Holt. */
function standingBid({ object, field }: SchemaKit) {
  const map = object({
    type: choice(BIDS),
    target_types: field(list(name(200), limits.board_target_types_max, 'types of artefacts')),
  });
  return z.preprocess((given) => (typeof given === 'string' ? { type: given } : given), map);
}

const PROMPT_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Its names become parts of variable names. */
const prompts = z
  .record(z.string(), text(20_000).nullable(), { error: 'expected a text for each name' })
  .superRefine((given, context) => {
    for (const key of Object.keys(given))
      if (!PROMPT_NAME.test(key))
        context.addIssue({
          code: 'custom',
          path: [key],
          message: 'expected a name of letters, digits, - and _',
        });
  })
  .transform((given) => Object.fromEntries(Object.entries(given).filter(isSaid)));

function isSaid(entry: [string, string | null]): entry is [string, string] {
  return entry[1] !== null && entry[1] !== '';
}

/** Shown to other agents, and part of the names of workers. */
function name(chars_max: number) {
  return z
    .string({ error: 'expected a name' })
    .max(chars_max, `expected at most ${chars_max} characters`)
    .refine((value) => value.trim() !== '' && !isUnprintable(value), 'expected printable characters');
}

function list<S extends z.ZodType>(each: S, items_max: number, items: string) {
  return z
    .array(each, { error: `expected a list of ${items}` })
    .max(items_max, `expected at most ${items_max} ${items}`);
}
