import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import {
  fields,
  inputSchema,
  name,
  path,
  prose,
  someProse,
  someText,
  text,
} from '../../runtime/input-schema.ts';
import { STRUCTURAL_TYPES } from './artefact.ts';
import { BIDS } from './board-settings.ts';

const BID_CHARS_MAX = 64;

const artefactId = (what: string) => z.guid('an id as list_artefacts shows it').describe(what);
const claim_id = z.guid('a claim id as board_status shows it').describe('The claim on the board.');
const type = name('What kind of thing it is, such as CodeCommit.', limits.artefact_type_chars_max);
const payload = text(
  limits.artefact_payload_bytes_max,
  'Its contents. Large things belong in a commit or a file.',
).refine(
  (value) => Buffer.byteLength(value) <= limits.artefact_payload_bytes_max,
  `at most ${limits.artefact_payload_bytes_max} bytes`,
);
const summary = prose(limits.reason_chars_max, 'In a few words, for lists.');
const structural_type = z.enum(STRUCTURAL_TYPES);
const files = z
  .array(path('A file, a folder or a pattern'))
  .max(limits.paths_per_call)
  .describe('Files you mean to touch; your co-workers are told.');
const pattern = (what: string) => name(what, limits.artefact_type_chars_max).optional();
const seconds = (what: string) =>
  z
    .number()
    .positive()
    .max(7 * 24 * 3600)
    .describe(what);

export const publishArtefact = inputSchema(
  z.strictObject({
    type,
    payload,
    summary: summary.optional(),
    structural_type: structural_type
      .default('Standard')
      .describe('Review, Failure and Terminal open no claim.'),
    source_artefacts: z
      .array(artefactId('What it was made from'))
      .max(limits.artefact_sources_max)
      .default([])
      .describe('What it was made from.'),
    logical_id: artefactId('Of the thing that this is a new version of.').optional(),
    operation_id: fields.operation_id,
  }),
);

export const getArtefact = inputSchema(
  z.strictObject({
    artefact_id: artefactId('Which one; a logical_id is an id, too: that of the first version.'),
    latest: z.boolean().default(false).describe('The newest version of the same thing instead.'),
  }),
);

export const listArtefacts = inputSchema(
  z.strictObject({
    type: pattern('A pattern of types, such as Code*.'),
    role: pattern('A pattern of the roles that made them.'),
    agent: pattern('A pattern of the agents that made them.'),
    structural_type: structural_type.optional(),
    logical_id: artefactId('All versions of one thing, the first one first.').optional(),
    claim_id: claim_id.describe('What was made for this claim.').optional(),
    limit: z.int().min(1).max(limits.artefacts_listed_max).default(20).describe('How many.'),
    cursor: someText(200, 'next_cursor of the page before.').optional(),
  }),
);

export const artefactLineage = inputSchema(z.strictObject({ artefact_id: artefactId('Whose story.') }));

export const placeBid = inputSchema(
  z.strictObject({
    claim_id,
    // Not an enumeration: an agent that answers anything else has said that it is not interested.
    bid: someText(BID_CHARS_MAX, `One of ${BIDS.join(', ')}; any other word counts as ignore.`),
    files: files.optional(),
    operation_id: fields.operation_id,
  }),
);

export const myGrants = inputSchema(
  z.strictObject({
    wait_seconds: z
      .number()
      .min(0)
      .max(limits.wait_seconds_max)
      .describe('Wait so long for something to do or to bid on.')
      .optional(),
  }),
);

export const takeGrant = inputSchema(
  z.strictObject({
    claim_id,
    host: name('The machine it runs on.').optional(),
    pid: z.int().positive().describe('The process that runs it.').optional(),
    queued: z
      .boolean()
      .default(false)
      .describe('It waits for its turn: its time has not begun, and others may begin with it.'),
    preparing: z
      .boolean()
      .default(false)
      .describe('It is yours, but its time has not begun: its files are not free.'),
    instead_of: name('The session that had it and is known to be dead.').optional(),
    operation_id: fields.operation_id,
  }),
);

export const returnGrant = inputSchema(z.strictObject({ claim_id, operation_id: fields.operation_id }));

export const deliverArtefact = inputSchema(
  z.strictObject({
    claim_id,
    type,
    payload: payload.describe('Its contents. A review approves with exactly {} or []; all else is feedback.'),
    summary: summary.optional(),
    structural_type: structural_type
      .optional()
      .describe('Default: Standard, and Review in a review. Failure: you could not do it.'),
    attempt: z.int().positive().max(1_000_000).describe('Which attempt it is the result of.').optional(),
    operation_id: fields.operation_id,
  }),
);

export const boardStatus = inputSchema(
  z.strictObject({
    claim_id: claim_id.describe('Only this one.').optional(),
    ended: z.boolean().default(false).describe('Also the newest of those that have ended.'),
    limit: z.int().min(1).max(limits.board_claims_listed_max).default(50).describe('How many of each.'),
  }),
);

const bidding = z.enum(BIDS);
const target_types = z
  .array(name('A pattern of types', limits.artefact_type_chars_max))
  .max(50)
  .describe('Only on artefacts of these types; ignore on others.');
const member = {
  role: name('The role in which you take part.', limits.agent_role_chars_max),
  bidding: bidding.describe('What you always bid; default: you are asked.').optional(),
  target_types: target_types.optional(),
  timeout_seconds: seconds('For each of your parts, instead of the phase’s.').optional(),
  files: files.optional(),
};

export const joinBoard = inputSchema(z.strictObject({ ...member, operation_id: fields.operation_id }));

export const leaveBoard = inputSchema(
  z.strictObject({
    agent_id: name('Who; default: yourself.').optional(),
    operation_id: fields.operation_id,
  }),
);

const on_failure = z.enum(['terminate', 'retry']).describe('What a failed part does to its claim.');
const max_attempts = z.int().min(1).max(limits.task_attempts_max);

export const configureBoard = inputSchema(
  z.strictObject({
    bid_deadline_seconds: z
      .number()
      .min(0)
      .max(24 * 3600)
      .default(0)
      .describe('After it a silent agent’s bid is ignore; 0: every bid is waited for.'),
    review_seconds: seconds('Time for a review.').default(300),
    parallel_seconds: seconds('Time for a parallel part.').default(600),
    exclusive_seconds: seconds('Time for the exclusive part.').default(1800),
    max_review_iterations: z.int().min(0).max(1000).default(3).describe('Rounds of rework; 0: no limit.'),
    on_failure: on_failure.default('terminate'),
    max_attempts: max_attempts.default(3),
    stuck_minutes: z
      .number()
      .positive()
      .max(7 * 24 * 60)
      .default(30),
    allow_duplicate_roles: z.boolean().default(false),
    agents: z
      .array(
        z.strictObject({
          agent_id: name('The name of the agent.'),
          ...member,
          on_failure: on_failure.optional(),
          max_attempts: max_attempts.optional(),
        }),
      )
      .max(limits.board_agents_max)
      .default([])
      .describe('The agents of the configuration.'),
    operation_id: fields.operation_id,
  }),
);

export const terminateClaim = inputSchema(
  z.strictObject({
    claim_id,
    reason: someProse(limits.reason_chars_max, 'Why; it stands in the log.'),
    operation_id: fields.operation_id,
  }),
);
