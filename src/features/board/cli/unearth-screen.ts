import type { Json, JsonObject } from '../../../kernel/json.ts';
import { localTime } from '../../../kernel/moment.ts';
import { type Cell, layOut, oneLine, type View } from '../../../transports/cli/output/layout.ts';
import type { Style } from '../../../transports/cli/output/paint.ts';
import { plain, relative, wrapped } from '../../../transports/cli/output/text.ts';
import { shortId } from '../../../transports/cli/output/values.ts';
import { isApproval } from '../artefact.ts';
import { artefactLines } from './board-screen.ts';

const PAYLOAD_LINES = 8;

/** One artefact's story: what it is, where it comes from, what happened to it, and what was made from it. */
export function storyLines(story: JsonObject, view: View): string[] {
  const artefact = (story.artefact ?? {}) as JsonObject;
  const versions = rows(story.versions);
  return [
    ...head(artefact, versions, Number(story.reworks), view),
    ...payloadLines(artefact, view),
    ...part('Comes from', sourceLines(rows(story.sources), view), view),
    ...part('Versions', versions.length > 1 ? versionLines(versions, artefact, view) : [], view),
    ...part(
      'What happened',
      rows(story.history).map((step) => stepLine(step, view)),
      view,
    ),
    ...part('Made from it', artefactLines(rows(story.made_from_it), view), view),
  ];
}

function rows(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}

function part(title: string, lines: readonly string[], view: View): string[] {
  return lines.length === 0 ? [] : ['', oneLine([{ text: title, style: 'bold' }], view), ...lines];
}

function head(artefact: JsonObject, versions: readonly JsonObject[], reworks: number, view: View): string[] {
  const {
    id,
    type,
    version,
    structural_type,
    produced_by_agent,
    produced_by_role,
    created_at,
    summary,
    late,
  } = artefact;
  const newest = Number(versions.at(-1)?.version ?? version);
  const which = newest > 1 ? `, version ${version} of ${newest}` : '';
  const back = reworks > 0 ? `, sent back ${reworks === 1 ? 'once' : `${reworks} times`}` : '';
  const kind = structural_type === 'Standard' ? '' : ` (${plain(structural_type ?? '')})`;
  const role = produced_by_role === produced_by_agent ? '' : ` (${plain(produced_by_role ?? '')})`;
  const lines = [
    oneLine([{ text: plain(type ?? ''), style: 'bold' }, `${kind}${which}${back}`], view),
    oneLine([{ text: plain(id ?? ''), style: 'dim' }], view),
    oneLine(
      [`by ${plain(produced_by_agent ?? '')}${role}, ${relative(created_at, view.now_ms) ?? ''}`],
      view,
    ),
  ];
  if (late === true)
    lines.push(
      oneLine([{ text: 'It came too late: it is kept and changes nothing.', style: 'yellow' }], view),
    );
  if (typeof summary === 'string') lines.push(oneLine([plain(summary)], view));
  return lines;
}

/** The beginning of the payload, and the command that shows all of it. */
function payloadLines({ id, payload }: JsonObject, view: View): string[] {
  const room = Math.max(20, view.columns - 4);
  const all = String(payload ?? '')
    .slice(0, 20_000)
    .split(/\r?\n/)
    .flatMap((line) => wrapped(plain(line), room, 'cut'));
  const lines = all.slice(0, PAYLOAD_LINES).map((line) => `  ${view.paint('│', 'dim')} ${line}`.trimEnd());
  if (all.length > PAYLOAD_LINES)
    lines.push(
      oneLine([{ text: `… all of it: cox artefact get ${plain(id ?? '')}`, style: 'dim' }], view, 2),
    );
  return ['', ...lines];
}

function sourceLines(sources: readonly JsonObject[], view: View): string[] {
  const table = sources.map(
    ({ depth, id, type, version, produced_by_agent, created_at, summary }): Cell[] => [
      shortId(plain(id ?? '')),
      `${'  '.repeat(Math.max(0, Number(depth) - 1))}${plain(type ?? '')}${Number(version) > 1 ? ` v${version}` : ''}`,
      plain(produced_by_agent ?? ''),
      { text: relative(created_at, view.now_ms) ?? '', style: 'dim' },
      plain(summary ?? ''),
    ],
  );
  return layOut(table, [{}, { min: 8, max: 32 }, { min: 6, max: 20 }, { side: 'left' }, { min: 12 }], view);
}

function versionLines(versions: readonly JsonObject[], artefact: JsonObject, view: View): string[] {
  const table = versions.map(({ id, version, produced_by_agent, created_at, summary, claims }): Cell[] => {
    const [claim] = rows(claims);
    const [words, style] = standing(claim);
    return [
      { text: `${id === artefact.id ? '>' : ' '} ${version}`, style: 'bold' },
      shortId(plain(id ?? '')),
      plain(produced_by_agent ?? ''),
      { text: relative(created_at, view.now_ms) ?? '', style: 'dim' },
      { text: words, style },
      plain(summary ?? ''),
    ];
  });
  return layOut(table, [{}, {}, { min: 6, max: 20 }, { side: 'left' }, {}, { min: 12 }], view);
}

function standing(claim: JsonObject | undefined): readonly [string, Style | undefined] {
  if (claim === undefined) return ['', undefined];
  if (claim.status === 'complete') return ['done', 'green'];
  if (claim.status !== 'terminated') return [plain(claim.status ?? ''), 'cyan'];
  return claim.termination_reason === 'review_rejected' ? ['sent back', 'yellow'] : ['terminated', 'red'];
}

const joined = (value: Json | undefined) => (Array.isArray(value) ? value.map(plain).join(', ') : '');
const said = (value: Json | undefined) =>
  typeof value === 'string' && value !== '' ? `: ${plain(value)}` : '';

const STEPS: Readonly<Record<string, (step: JsonObject) => readonly [string, Style?]>> = {
  published: ({ agent_id, version, artefact_id, summary }) => [
    `version ${version}, ${shortId(plain(artefact_id ?? ''))}, by ${plain(agent_id ?? '')}${said(summary)}`,
    'bold',
  ],
  standing_bids: ({ bids }) => [
    `bids, as configured: ${Object.entries((bids ?? {}) as JsonObject)
      .map(([agent, bid]) => `${plain(agent)} ${plain(bid ?? '')}`)
      .join(', ')}`,
  ],
  bid: ({ agent_id, bid, invalid }) => [
    `${plain(agent_id ?? '')} bids ${plain(bid ?? '')}${invalid === undefined ? '' : ` (it said ${plain(invalid)})`}`,
  ],
  silent: ({ agent_id }) => [`nothing from ${plain(agent_id ?? '')} in time: no bid`, 'yellow'],
  granted: ({ phase, agents }) => [`${plain(phase ?? '')}: ${joined(agents)}`, 'cyan'],
  sent_back: ({ agents }) => [`back to ${joined(agents)}, with the reviews`, 'yellow'],
  started: ({ agent_id, attempt }) => [
    `${plain(agent_id ?? '')} begins${Number(attempt) > 1 ? `, attempt ${attempt}` : ''}`,
  ],
  delivered: delivered,
  failed: ({ agent_id, type, summary }) => [
    `${plain(agent_id ?? '')} fails, ${plain(type ?? '')}${said(summary)}`,
    'red',
  ],
  late: ({ agent_id, type, artefact_id }) => [
    `${plain(agent_id ?? '')} delivers ${plain(type ?? '')} ${shortId(plain(artefact_id ?? ''))} too late: kept, changes nothing`,
    'yellow',
  ],
  ended: ({ status, reason }) => {
    if (status === 'complete') return ['done', 'green'];
    return reason === 'review_rejected' ? ['rejected', 'yellow'] : [`given up${said(reason)}`, 'red'];
  },
  person_asked: ({ approval_id, subject }) => [
    `a person is asked (cox approve ${plain(approval_id ?? '')})${said(subject)}`,
    'yellow',
  ],
  person_decided: ({ decided_by, verdict, reason }) => [
    `${plain(decided_by ?? '')}: ${verdict === 'approved' ? 'one more round' : 'no more rounds'}${said(reason)}`,
    verdict === 'approved' ? 'green' : 'red',
  ],
};

function delivered({
  agent_id,
  verdict,
  type,
  artefact_id,
  summary,
  feedback,
}: JsonObject): readonly [string, Style?] {
  const who = plain(agent_id ?? '');
  if (verdict === 'failed') return [`${who} has failed, ${plain(type ?? '')}${said(summary)}`, 'red'];
  if (typeof feedback === 'string')
    return isApproval(feedback)
      ? [`${who} approves`, 'green']
      : [`${who} wants more${said(feedback)}`, 'yellow'];
  return [`${who} delivers ${plain(type ?? '')} ${shortId(plain(artefact_id ?? ''))}${said(summary)}`];
}

function stepLine(step: JsonObject, view: View): string {
  const [text, style] = STEPS[String(step.what)]?.(step) ?? [plain(step.what ?? '')];
  const [day = '', time = ''] = localTime(Date.parse(String(step.at))).split(' ');
  const when = localTime(view.now_ms).startsWith(day) ? time : `${day} ${time}`;
  return oneLine(
    [
      { text: `${when}  `, style: 'dim' },
      { text, style },
    ],
    view,
    2,
  );
}
