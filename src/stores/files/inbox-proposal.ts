import { isEvaluatorName, isScore } from '../../kernel/evaluators.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { isUnprintable, nameProblem, reservedProblem } from '../../kernel/names.ts';
import type { AgentProposal } from '../../ledger/foreign.ts';
import { readForeign } from './foreign-lines.ts';
import { agentOf, belongsTo } from './inbox-names.ts';
import { type LeftCall, readLeftCall } from './left-call.ts';
import { parseObject, type Unreadable } from './parse-line.ts';

export type ProposalType = 'edge_claim' | 'edge_released' | 'edge_converged' | 'edge_heartbeat';

/** A program that may write into the agent's folder is taken for that agent. */
export interface Proposal extends AgentProposal {
  readonly event_type: ProposalType;
  /** The order among this agent's proposals. */
  readonly sequence?: number | undefined;
  /** The call that it stands for, if `cox` left it. */
  readonly left?: LeftCall | undefined;
}

/** Other implementations' words for the same thing. */
const TYPES: ReadonlyMap<string, ProposalType> = new Map([
  ['edge_claim', 'edge_claim'],
  ['edge_claimed', 'edge_claim'],
  ['edge_released', 'edge_released'],
  ['edge_converged', 'edge_converged'],
  ['edge_heartbeat', 'edge_heartbeat'],
  ['iteration_completed', 'edge_heartbeat'],
]);

/**
 * `folder` is the name of the agent's folder, which says who proposes. A proposal that names another agent is
 * rejected.
 */
export function proposalOf(text: string, folder: string): Proposal | Unreadable {
  const parsed = parseObject(text);
  if ('problem' in parsed) return parsed;
  const { record } = parsed;
  const said = readForeign(record);
  if (said === undefined) return { problem: 'it does not say what it proposes (event_type)' };
  const agent_id = said.agent_named ? said.agent_id : agentOf(folder);
  if (!belongsTo(folder, agent_id)) return { problem: 'it speaks for another agent than its folder’s' };
  const unfit = nameProblem(agent_id) ?? reservedProblem('agent_id', agent_id);
  if (unfit !== undefined) return { problem: `its agent can't have that name: expected ${unfit}` };
  const sequence = record.sequence ?? said.data.sequence;
  if (!isCount(sequence)) return { problem: 'its sequence is not a whole number' };
  const left = isObject(record.cox) ? readLeftCall(record.cox) : undefined;
  if (isObject(record.cox) && left === undefined) return { problem: 'its cox is no call that was left here' };
  const event_type = TYPES.get(said.event_type);
  if (event_type === undefined) return { problem: `it proposes nothing that is decided here; ${KNOWN}` };
  const { feature, edge, agent_role } = said;
  const terms: JsonObject = { ...said.data, feature, edge, agent_role };
  const wrong = FIELDS.find(({ name, fits }) => !fits(terms[name]));
  if (wrong !== undefined) return { problem: `its ${wrong.name} is not ${wrong.expected}` };
  // Other fields are ignored: other programs may mean anything by them.
  const known = Object.fromEntries(FIELDS.map(({ name }) => [name, terms[name] ?? undefined]));
  return {
    ...known,
    agent_id,
    event_type,
    sequence: sequence ?? undefined,
    evaluators: evaluatorsOf(terms.evaluators),
    ...(left === undefined ? {} : { left }),
  } as Proposal;
}

const KNOWN = `known are ${[...TYPES.keys()].join(', ')}`;

interface Field {
  readonly name: string;
  readonly expected: string;
  fits(value: Json | undefined): boolean;
}

const FIELDS: readonly Field[] = [
  textField('feature', limits.feature_chars_max, true),
  textField('edge', limits.edge_chars_max, true),
  textField('agent_role', limits.agent_role_chars_max),
  freeField('reason'),
  freeField('note'),
  textField('convergence_type', limits.agent_role_chars_max),
  { name: 'iteration', expected: 'a whole number', fits: isCount },
  { name: 'fencing_token', expected: 'a whole number', fits: isCount },
  {
    name: 'unnamed',
    expected: 'true or false',
    fits: (value) => isNone(value) || typeof value === 'boolean',
  },
  {
    name: 'evaluators',
    expected: `"passed/total" or up to ${limits.evaluators_max} of {name, passed}`,
    fits: (value) => isNone(value) || evaluatorsOf(value) !== undefined,
  },
];

function textField(name: string, chars_max: number, required = false): Field {
  const from = required ? 1 : 0;
  return {
    name,
    expected: `a text of ${from} to ${chars_max} printable characters`,
    fits: (value) =>
      isNone(value)
        ? !required
        : typeof value === 'string' &&
          value.trim().length >= from &&
          value.length <= chars_max &&
          !isUnprintable(value),
  };
}

function freeField(name: string): Field {
  return {
    name,
    expected: `a text of up to ${limits.reason_chars_max} characters`,
    fits: (value) => isNone(value) || (typeof value === 'string' && value.length <= limits.reason_chars_max),
  };
}

/** Includes null: some writers write every field. */
const isNone = (value: unknown) => value === undefined || value === null;

function isCount(value: unknown): value is number | undefined {
  return isNone(value) || (Number.isSafeInteger(value) && (value as number) >= 0);
}

function evaluatorsOf(value: Json | undefined): Proposal['evaluators'] {
  if (typeof value === 'string') return isScore(value) ? value : undefined;
  if (Array.isArray(value)) {
    const results = value.flatMap((one) =>
      isObject(one) && isEvaluatorName(one.name) && typeof one.passed === 'boolean'
        ? [{ name: one.name, passed: one.passed }]
        : [],
    );
    return results.length === value.length && value.length <= limits.evaluators_max ? results : undefined;
  }
  if (!isObject(value)) return undefined;
  return evaluatorsOf(`${value.passed}/${value.total}`);
}
