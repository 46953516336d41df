import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import type { Style } from '../../../transports/cli/output/paint.ts';
import { clip, plain } from '../../../transports/cli/output/text.ts';
import { shortId } from '../../../transports/cli/output/values.ts';
import { isApproval } from '../artefact.ts';

/** The parts of a board event that its sentence is built from. */
interface Told {
  readonly who: string;
  readonly id: string;
  readonly data: JsonObject;
  /** The title of the claim that the event is about. */
  readonly title: string;
  readonly titleOf: (claim_id: string) => string;
  readonly row: LogEntry;
}

type Tell = (told: Told) => string | undefined;

const SAID_CHARS = 200;
const QUIET: Tell = () => undefined;

const names = (value: Json | undefined) => (Array.isArray(value) ? value.map(plain).join(', ') : '');
const agent = ({ data }: Told) => plain(data.agent_id ?? '');
const said = (value: Json | undefined) =>
  typeof value === 'string' && value !== '' ? `: ${clip(plain(value), SAID_CHARS)}` : '';
/** Whether another event in the same commit says more. */
const alongside = ({ row, id }: Told, ...types: string[]) =>
  row.events.some((event) => types.includes(event.type) && (event.id === id || event.kind !== 'board_claim'));

/** What a claim is about, in words for people. */
export function claimTitle({
  artefact_type,
  artefact_id,
}: {
  artefact_type: string;
  artefact_id: string;
}): string {
  return `${plain(artefact_type)} ${shortId(plain(artefact_id))}`;
}

function published(told: Told): string {
  const { id, data, titleOf } = told;
  const { type, version, structural_type, produced_by_agent, payload, summary, claim_id, late } = data;
  const by = plain(produced_by_agent ?? '');
  const about = typeof claim_id === 'string' ? titleOf(claim_id) : '';
  const end = late === true ? ' (too late: it changes nothing)' : '';
  if (structural_type === 'Failure')
    return `${by === 'coxswain' ? 'the board' : by} reports a failure, ${plain(type ?? '')}${said(summary)}${end}`;
  if (structural_type === 'Review' && about !== '') {
    const words = String(payload ?? '');
    return isApproval(words)
      ? `${by} approves ${about}${end}`
      : `${by} sends ${about} back${said(words)}${end}`;
  }
  const name = `${plain(type ?? '')} ${shortId(id)}${Number(version) > 1 ? ` (version ${version})` : ''}`;
  if (about === '') return `${by} puts ${name} on the board${said(summary ?? payload)}`;
  return `${by} delivers ${name}${said(summary)}${end}`;
}

const PHASES_TOLD: Readonly<Record<string, (title: string, who: string) => string>> = {
  review: (title, who) => `${title} is reviewed by ${who}`,
  parallel: (title, who) => `${title} goes to ${who}, in parallel`,
  exclusive: (title, who) => `${title} goes to ${who} alone`,
};

function phaseStarted({ data, title }: Told): string {
  const who = Object.keys((data.granted ?? {}) as JsonObject)
    .map(plain)
    .join(', ');
  return PHASES_TOLD[String(data.phase)]?.(title, who) ?? `${title}: ${plain(data.phase ?? '')} by ${who}`;
}

function opened(told: Told): string | undefined {
  const { awaited } = (told.data.opened ?? {}) as JsonObject;
  if (names(awaited) !== '') return `${told.title} is open for bids of ${names(awaited)}`;
  return alongside(told, 'phase_started', 'claim_completed', 'work_assigned')
    ? undefined
    : `${told.title} is open, and nobody is on the board to bid`;
}

function terminated(told: Told): string | undefined {
  const { data, title } = told;
  if (data.reason !== 'review_rejected') return `${title} is given up${said(data.reason)}`;
  // An event in the same commit names the agent that gets it back, or the person who decides.
  return alongside(told, 'rework_started', 'approval_requested')
    ? undefined
    : `${title} is rejected, and nobody takes it back`;
}

function configured({ data }: Told): string {
  const agents = Array.isArray(data.agents) ? (data.agents as JsonObject[]) : [];
  return `the board is for ${agents.map(({ agent_id }) => plain(agent_id ?? '')).join(', ') || 'whoever joins it'}`;
}

/** Artefacts, bids and phases, in words for people. */
export const BOARD_TOLD: Readonly<Record<string, readonly [Tell, Style?]>> = {
  artefact_published: [published],
  board_configured: [configured],
  bidder_joined: [
    ({ data }) => `${plain(data.agent_id ?? '')} joins the board as ${plain(data.role ?? '')}`,
    'green',
  ],
  bidder_left: [(told) => `${agent(told)} leaves the board`, 'yellow'],
  claim_opened: [opened],
  bid_placed: [
    (told) => {
      const { bid, invalid } = (told.data.placed ?? {}) as JsonObject;
      const instead = invalid === undefined ? '' : ` (it said ${plain(invalid)})`;
      return `${agent(told)} bids ${plain(bid ?? '')} on ${told.title}${instead}`;
    },
  ],
  bids_closed: [({ data, title }) => `nothing from ${names(data.silent)}: no bid on ${title}`, 'yellow'],
  bidders_changed: [QUIET],
  phase_started: [phaseStarted, 'cyan'],
  work_assigned: [(told) => `${told.title} goes back to ${agent(told)}`, 'yellow'],
  grant_taken: [QUIET],
  grant_repeated: [
    (told) => `${agent(told)} is to try again at ${told.title}${said(told.data.reason)}`,
    'yellow',
  ],
  work_delivered: [QUIET],
  // When a rework completes, the new version already says so.
  claim_completed: [
    (told) => (alongside(told, 'thread_advanced') ? undefined : `${told.title} is done`),
    'green',
  ],
  claim_terminated: [terminated, 'red'],
  thread_advanced: [QUIET],
  rework_started: [QUIET],
  rework_granted: [({ data }) => `${plain(data.granted_by ?? '')} grants another round`, 'green'],
};
