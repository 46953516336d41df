import type { Json, JsonObject } from '../../../kernel/json.ts';
import {
  type Cell,
  commandLines,
  layOut,
  oneLine,
  type View,
} from '../../../transports/cli/output/layout.ts';
import type { Style } from '../../../transports/cli/output/paint.ts';
import { age, counted, plain, relative, span } from '../../../transports/cli/output/text.ts';
import { shortId } from '../../../transports/cli/output/values.ts';

/** How many lines each part may take. If something does not fit, its number is shown. */
export interface BoardRoom {
  readonly needs: number;
  readonly agents: number;
  readonly claims: number;
  /** Show the bids: of each agent, and under each claim. */
  readonly bids: boolean;
  readonly ended: number;
  readonly artefacts: number;
}

const ROOMY: BoardRoom = { needs: 8, agents: 40, claims: 20, bids: true, ended: 6, artefacts: 8 };

/** Claims with their phases and bids, which agent works on what, what was made, and what needs a person. */
export function boardLines(seen: JsonObject, view: View, room: BoardRoom = ROOMY): string[] {
  const [agents, claims, ended, artefacts] = ['agents', 'claims', 'ended', 'artefacts'].map((name) =>
    rows(seen[name]),
  ) as [JsonObject[], JsonObject[], JsonObject[], JsonObject[]];
  const open = `${claims.length}${seen.claims_truncated === true ? ' or more' : ''} open`;
  return [
    ...heading(seen, view),
    ...needs(rows(seen.needs_you), view, room.needs),
    ...part('Agents', agents.length === 0 ? 'nobody is on the board: start `cox up`' : '', view),
    ...agentLines(agents, view, room),
    ...part('Claims', claims.length === 0 ? 'none is open' : open, view),
    ...claimLines(claims, view, room),
    ...(ended.length > 0 && room.ended > 0 ? part('Ended', '', view) : []),
    ...endedLines(ended.slice(0, room.ended), view),
    ...(artefacts.length > 0 && room.artefacts > 0
      ? part('Artefacts', 'cox unearth ID tells the story', view)
      : []),
    ...artefactLines(artefacts.slice(0, room.artefacts), view),
  ];
}

function heading(seen: JsonObject, view: View): string[] {
  const title = { text: 'The board', style: 'bold' as const };
  return [
    oneLine([title, ` · project ${plain(seen.project ?? '')}`], view),
    oneLine([{ text: plain(seen.store ?? ''), style: 'dim' }], view),
  ];
}

function part(title: string, beside: string, view: View): string[] {
  const note = beside === '' ? '' : `  ${beside}`;
  return [
    '',
    oneLine(
      [
        { text: title, style: 'bold' },
        { text: note, style: 'dim' },
      ],
      view,
    ),
  ];
}

function rows(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}

function names(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(plain) : [];
}

function dim(text: string): Cell {
  return { text, style: 'dim' };
}

function more(all: number, most: number, view: View, what: string): string[] {
  return all <= most ? [] : [oneLine([dim(`and ${all - most} more ${what}`)], view, 2)];
}

function needs(items: readonly JsonObject[], view: View, most: number): string[] {
  if (items.length === 0) return [];
  const lines = items
    .slice(0, most)
    .flatMap((item) => [
      oneLine([{ text: '! ', style: 'red' }, needWords(item, view)], view, 2),
      ...commandLines(plain(item.command ?? ''), view, 4),
    ]);
  return [...part('Needs you', '', view), ...lines, ...more(items.length, most, view, 'things')];
}

function needWords(item: JsonObject, view: View): string {
  if (item.what === 'decision') return plain(item.subject ?? '');
  const [bids, work] = [names(item.awaits_bids_of), names(item.awaits_work_of)];
  const why =
    bids.length > 0
      ? `no bid of ${bids.join(', ')}`
      : work.length > 0
        ? `nothing from ${work.join(', ')}`
        : 'nobody is on the board';
  return `${thing(item)} is open for ${age(item.since_at, view.now_ms)}: ${why}`;
}

/** The type of the artefact, and enough of its id to identify it. */
function thing({ artefact_type, artefact_id }: JsonObject): string {
  return `${plain(artefact_type ?? '')} ${shortId(plain(artefact_id ?? ''))}`;
}

function agentLines(agents: readonly JsonObject[], view: View, room: BoardRoom): string[] {
  const busy = (agent: JsonObject) => rows(agent.grants).length + Number(agent.bids_awaited);
  const sorted = agents.toSorted((a, b) => Number(busy(b) > 0) - Number(busy(a) > 0));
  const table = sorted
    .slice(0, room.agents)
    .map((agent): Cell[] => [
      plain(agent.agent_id ?? ''),
      plain(agent.role ?? '') === plain(agent.agent_id ?? '') ? '' : plain(agent.role ?? ''),
      doing(agent, view),
      room.bids ? dim(biddingWords(agent)) : '',
    ]);
  const columns = [{ min: 6, max: 24 }, { min: 4, max: 16 }, { min: 20 }, { min: 8 }];
  return [...layOut(table, columns, view), ...more(agents.length, room.agents, view, 'agents')];
}

function biddingWords({ bidding, target_types }: JsonObject): string {
  if (bidding === 'asked') return 'is asked';
  const types = names(target_types);
  return types.length === 0 ? plain(bidding ?? '') : `${plain(bidding ?? '')} on ${types.join(', ')}`;
}

function doing(agent: JsonObject, view: View): Cell {
  const [first, ...others] = rows(agent.grants).toSorted(
    (a, b) => Number(b.standing === 'working') - Number(a.standing === 'working'),
  );
  const bids = Number(agent.bids_awaited);
  if (first === undefined)
    return bids > 0 ? { text: `${counted(bids, 'bid')} awaited`, style: 'yellow' } : dim('idle');
  const rest = others.length === 0 ? '' : `, ${others.length} more`;
  if (first.standing !== 'working')
    return { text: `${thing(first)} ${WAITING[String(first.standing)]}${rest}`, style: 'yellow' };
  return { text: `works on ${thing(first)} for ${age(first.started_at, view.now_ms)}${rest}`, style: 'cyan' };
}

const WAITING: Readonly<Record<string, string>> = {
  queued: 'waits for its turn',
  preparing: 'waits for its files',
  waiting: 'waits to be begun',
};

function claimLines(claims: readonly JsonObject[], view: View, room: BoardRoom): string[] {
  const shown = claims.slice(0, room.claims);
  const table = layOut(
    shown.map((claim): Cell[] => [
      shortId(plain(claim.artefact_id ?? '')),
      plain(claim.artefact_type ?? ''),
      { text: phaseOf(claim), style: 'cyan' },
      {
        text: span(Number(claim.pending_seconds) * 1000),
        style: claim.pending_for_long === true ? 'red' : 'dim',
      },
      awaitedOf(claim, view),
    ]),
    [{}, { min: 6, max: 24 }, {}, { side: 'left' }, { min: 16 }],
    view,
  );
  const lines = table.flatMap((line, index) => [
    line,
    ...(room.bids ? bidLine(shown[index] ?? {}, view) : []),
  ]);
  return [...lines, ...more(claims.length, room.claims, view, 'claims')];
}

function stateOf({ phase_state }: JsonObject): JsonObject {
  return (phase_state ?? {}) as JsonObject;
}

function phaseOf(claim: JsonObject): string {
  return claim.status === 'pending_assignment' ? 'rework' : plain(stateOf(claim).phase ?? '');
}

function awaitedOf(claim: JsonObject, view: View): Cell {
  const { phase, awaiting, due, grants } = stateOf(claim);
  const left = (until: Json | undefined) => `, ${relative(until, view.now_ms)?.replace(/^in /, '')} left`;
  if (phase === 'bidding') {
    if (names(awaiting).length === 0) return { text: plain(claim.waits_for ?? ''), style: 'yellow' };
    return { text: `bids of ${names(awaiting).join(', ')}${due === null ? '' : left(due)}`, style: 'yellow' };
  }
  return rows(grants)
    .map((grant) => {
      const who = plain(grant.agent_id ?? '');
      const attempt = Number(grant.attempt) > 1 ? ` (attempt ${grant.attempt})` : '';
      if (grant.standing === 'delivered') return `${who} has delivered`;
      if (grant.standing !== 'working') return `${who} ${WAITING[String(grant.standing)]}${attempt}`;
      return `${who} works for ${age(grant.started_at, view.now_ms)}${attempt}${left(grant.deadline)}`;
    })
    .join('; ');
}

function bidLine(claim: JsonObject, view: View): string[] {
  const placed = Object.entries((claim.bids ?? {}) as Record<string, JsonObject>).map(
    ([agent, { bid, by }]) => `${plain(agent)} ${plain(bid ?? '')}${by === 'deadline' ? ' (silent)' : ''}`,
  );
  const missing =
    phaseOf(claim) === 'bidding' ? names(stateOf(claim).awaiting).map((agent) => `${agent} ?`) : [];
  const all = [...placed, ...missing];
  return all.length === 0 ? [] : [oneLine([dim(`bids: ${all.join(', ')}`)], view, 11)];
}

const ENDS: Readonly<Record<string, readonly [string, Style]>> = {
  complete: ['done', 'green'],
  reworked: ['reworked', 'green'],
  review_rejected: ['sent back', 'yellow'],
  timeout: ['timed out', 'red'],
  agent_failed: ['failed', 'red'],
};

function endOf({ status, termination_reason, additional_context_ids }: JsonObject): string {
  if (status !== 'complete') return String(termination_reason);
  return names(additional_context_ids).length > 0 ? 'reworked' : 'complete';
}

function endedLines(ended: readonly JsonObject[], view: View): string[] {
  const table = ended.map((claim): Cell[] => {
    const key = endOf(claim);
    const [text, style] = (Object.hasOwn(ENDS, key) ? ENDS[key] : undefined) ?? ['terminated', 'red'];
    return [
      shortId(plain(claim.artefact_id ?? '')),
      plain(claim.artefact_type ?? ''),
      { text, style },
      dim(relative(claim.ended_at, view.now_ms) ?? ''),
      Object.hasOwn(ENDS, key) ? workers(claim) : plain(claim.termination_reason ?? ''),
    ];
  });
  return layOut(table, [{}, { min: 6, max: 24 }, {}, { side: 'left' }, { min: 16 }], view);
}

function workers(claim: JsonObject): string {
  const exclusive =
    claim.granted_exclusive_agent === null ? [] : [plain(claim.granted_exclusive_agent ?? '')];
  const parts: [string, string[]][] = [
    ['review', names(claim.granted_review_agents)],
    ['parallel', names(claim.granted_parallel_agents)],
    ['exclusive', exclusive],
  ];
  const words = parts.filter(([, who]) => who.length > 0).map(([phase, who]) => `${phase} ${who.join(', ')}`);
  return words.length === 0 ? 'nobody wanted it' : words.join('; ');
}

const TYPE_STYLES: Readonly<Record<string, Style>> = { Failure: 'red', Review: 'cyan', Terminal: 'green' };

export function artefactLines(artefacts: readonly JsonObject[], view: View): string[] {
  const table = artefacts.map(
    ({ id, type, version, structural_type, produced_by_agent, created_at, summary, late }): Cell[] => [
      shortId(plain(id ?? '')),
      {
        text: `${plain(type ?? '')}${Number(version) > 1 ? ` v${version}` : ''}`,
        style: TYPE_STYLES[String(structural_type)],
      },
      plain(produced_by_agent ?? ''),
      dim(relative(created_at, view.now_ms) ?? ''),
      `${late === true ? '(late) ' : ''}${plain(summary ?? '')}`,
    ],
  );
  return layOut(table, [{}, { min: 6, max: 28 }, { min: 6, max: 20 }, { side: 'left' }, { min: 12 }], view);
}
