import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { agentSchema, ON_FAILURE, RUNTIME } from './agent-schema.ts';
import { flag, time_ms, whole } from './fields.ts';
import { type SchemaKit, schemaKit } from './schema-kit.ts';

export function boardSchema(strict: boolean) {
  const kit = schemaKit(strict);
  const { object, field, named } = kit;
  return object({
    version: field(z.string({ error: 'expected "1.0"' }).regex(/^1(?:\.0)?$/, 'expected "1.0"')),
    orchestrator: orchestratorSchema(kit),
    agents: field(named(agentSchema(kit))),
    services: field(z.unknown()),
  });
}

function orchestratorSchema({ field, section }: SchemaKit) {
  return section({
    max_review_iterations: field(whole(0, limits.board_review_iterations_max)),
    bid_deadline: field(time_ms(0)),
    timeouts: section({
      review: field(time_ms(1)),
      parallel: field(time_ms(1)),
      exclusive: field(time_ms(1)),
    }),
    on_failure: field(ON_FAILURE),
    max_attempts: field(whole(1, limits.board_attempts_max)),
    stuck_after: field(time_ms(1)),
    allow_duplicate_roles: field(flag),
    runtime: field(RUNTIME),
    image: field(z.unknown()),
    timestamp_drift_tolerance_ms: field(z.unknown()),
  });
}

export type BoardFile = z.output<ReturnType<typeof boardSchema>>;
export type AgentFields = NonNullable<BoardFile['agents']>[string];
