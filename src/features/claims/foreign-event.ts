import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { isUnprintable, nameProblem, reservedProblem } from '../../kernel/names.ts';
import type { EntityKey, EventBody } from '../../ledger/entity.ts';
import { FOREIGN_TYPE, type ForeignRecord } from '../../ledger/foreign.ts';
import { isOver, type Lease } from '../../ledger/lease.ts';
import { normEdge } from './edge.ts';
import { type ClaimState, claimEvent, claimKey, heldLease, NEVER_MS, takenReason } from './edge-claim.ts';

const TEXT_CHARS_MAX = 500;

type Mapping = (said: Said, before: ClaimState | undefined) => [type: string, data: JsonObject] | undefined;

interface Said extends ForeignRecord {
  readonly feature: string;
  readonly edge: string;
  /** Undefined: no valid agent name was given. */
  readonly role: string | undefined;
}

/**
 * The claim that a line is about. Undefined: it is about none, or uses a name that we would give no agent.
 */
export function foreignKey({ event_type, feature, edge, agent_id }: ForeignRecord): EntityKey | undefined {
  if (!MAPPINGS.has(event_type) || feature === undefined || edge === undefined) return undefined;
  if (feature.length > limits.feature_chars_max || edge.length > limits.edge_chars_max) return undefined;
  if (isUnprintable(feature) || isUnprintable(edge) || !isAgent(agent_id)) return undefined;
  const key = claimKey(feature, edge);
  // Composed forms may be longer than the original text; one unit takes three bytes at most.
  if (key.id.length * 3 > limits.entity_id_bytes_max) return undefined;
  return key.id.startsWith('#') || key.id.endsWith('#') ? undefined : key;
}

/**
 * The foreign line as an event of ours, which the claim's state is built from: foreign agents hold what they
 * started until it ends, however little they said. Undefined where it changes no claim. Only fields we know
 * are copied: anything else in such a line may be long, deep, or meant for a terminal.
 */
export function toClaimEvent(foreign: ForeignRecord, before: ClaimState | undefined): EventBody | undefined {
  const mapping = MAPPINGS.get(foreign.event_type);
  const { feature, edge, agent_role } = foreign;
  if (mapping === undefined || feature === undefined || edge === undefined) return undefined;
  if (foreignKey(foreign) === undefined) return undefined;
  const role = isRole(agent_role) ? agent_role : undefined;
  const event = mapping({ ...foreign, feature, edge, role }, before);
  // Stored under the spelling of its first event, so that a reader that compares letter by letter still finds
  // its end.
  return event && claimEvent({ feature, edge: before?.edge ?? edge }, ...event);
}

function isAgent(agent_id: string): boolean {
  return nameProblem(agent_id) === undefined && reservedProblem('agent_id', agent_id) === undefined;
}

function isRole(agent_role: unknown): boolean {
  return nameProblem(agent_role) === undefined && String(agent_role).length <= limits.agent_role_chars_max;
}

/**
 * A line that any program can write takes no claim from its holder, whatever granted it. An unnamed holder
 * may be any agent, and most likely is the one that is named next.
 */
const started: Mapping = (said, before) => {
  const { agent_id, agent_named, at_ms } = said;
  const isOpen = before?.asked === true || (before?.unnamed === true && agent_named);
  const held = isOpen ? undefined : heldLease(before);
  if (held !== undefined && held.agent_id !== agent_id && !isOverBy(held, at_ms))
    return ['claim_rejected', { agent_id, reason: takenReason(held), held_by: held.agent_id }];
  return granted(said, before);
};

/**
 * By the time in the line itself, because nothing else in a log tells how late it was: the line before may be
 * hours old. A lease without end is never over, not even at the last possible moment.
 */
function isOverBy(lease: Lease, at_ms: number): boolean {
  return lease.expires_at_ms < NEVER_MS && isOver(lease, at_ms);
}

function granted(
  { agent_id, agent_named, at_ms, role, instance_id, data }: Said,
  before: ClaimState | undefined,
  asked?: true,
): [type: string, data: JsonObject] {
  const lease: Lease = {
    agent_id,
    agent_type: FOREIGN_TYPE,
    session_id: nameProblem(instance_id) === undefined && instance_id !== undefined ? instance_id : agent_id,
    // Holds even where two clocks disagree: a later grant has the greater token.
    token: Math.max(at_ms, (before?.lease?.token ?? 0) + 1),
    granted_at_ms: at_ms,
    expires_at_ms: NEVER_MS,
  };
  // A holder that is already known by name does not become unnamed.
  const isKnown = agent_named || (before?.lease?.agent_id === agent_id && before.unnamed !== true);
  const unnamed = isKnown ? undefined : true;
  const source = text(data.source);
  return [
    'edge_started',
    { granted_to: agent_id, asked, unnamed, agent_role: role, source, lease: { ...lease } },
  ];
}

/**
 * Asked for and not yet confirmed: the future holder is safe only if no other agent is granted the edge in
 * the meantime.
 */
const claimed: Mapping = (said, before) =>
  before?.lease === undefined ? granted(said, before, true) : undefined;

const rejected: Mapping = ({ agent_id, data }, before) => {
  const held_by = text(data.held_by ?? data.holding_agent);
  const reason = text(data.reason);
  // It had only asked.
  if (before?.asked === true && before.lease?.agent_id === agent_id && held_by !== agent_id)
    return ['edge_released', { agent_id, reason, released_by: held_by, cause: 'holder' }];
  return ['claim_rejected', { agent_id, reason, held_by }];
};

/** Only the holder's own work is a sign of life. Unnamed work counts for the agent that holds the edge. */
const worked: Mapping = ({ agent_id, agent_named, event_type, data }, before) => {
  const holder = before?.lease?.agent_id;
  if (holder === undefined || (agent_named && agent_id !== holder)) return undefined;
  const iteration = count(data.iteration);
  return event_type === 'iteration_completed'
    ? ['iteration_completed', { agent_id: holder, iteration }]
    : ['claim_renewed', { agent_id: holder }];
};

const converged: Mapping = ({ agent_id, agent_named, role, data }, before) => [
  'edge_converged',
  {
    agent_id: agent_named ? agent_id : (before?.lease?.agent_id ?? agent_id),
    agent_role: role ?? before?.agent_role,
    iteration: count(data.iteration),
    evaluators: passed(data.evaluators),
    convergence_type: text(data.convergence_type),
  },
];

const released: Mapping = ({ agent_id, agent_named, data }, before) => {
  const by = agent_named ? agent_id : (before?.lease?.agent_id ?? agent_id);
  return [
    'edge_released',
    { agent_id: by, reason: text(data.reason) ?? '', released_by: by, cause: 'holder' },
  ];
};

const expired: Mapping = ({ agent_id, data }, before) => [
  'claim_expired',
  {
    held_by: before?.lease?.agent_id ?? agent_id,
    seconds_idle: count(data.seconds_idle),
    source: text(data.source),
  },
];

/** Asks no person here: the escalation did not go to our queue. */
const escalated: Mapping = ({ role, edge, data }) => [
  'convergence_escalated',
  {
    agent_role: role ?? text(data.agent_role) ?? '',
    reason: text(data.reason) ?? '',
    action: text(data.action) ?? '',
    norm_edge: normEdge(edge),
  },
];

/**
 * No reviews: what waits for a person here is decided where we know that it is a person, and a line that any
 * program can write does not prove that.
 */
const MAPPINGS: ReadonlyMap<string, Mapping> = new Map([
  ['edge_started', started],
  ['edge_claimed', claimed],
  ['claim_rejected', rejected],
  ['iteration_started', worked],
  ['iteration_completed', worked],
  ['iteration_failed', worked],
  ['edge_heartbeat', worked],
  ['claim_renewed', worked],
  ['edge_converged', converged],
  ['convergence_achieved', converged],
  ['edge_released', released],
  ['claim_expired', expired],
  ['convergence_escalated', escalated],
]);

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, TEXT_CHARS_MAX).toWellFormed() : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** "6/6", or an object with the two numbers. */
function passed(value: unknown): string | undefined {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return undefined;
  const { passed, total } = value as { passed?: unknown; total?: unknown };
  return count(passed) === undefined || count(total) === undefined ? undefined : `${passed}/${total}`;
}
