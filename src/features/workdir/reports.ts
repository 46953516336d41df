import { isoTime } from '../../kernel/clock.ts';
import { markdownText } from '../../kernel/markdown.ts';
import { shorten } from '../../kernel/shorten.ts';
import { type HandOver, handOversIn, isFound, type Occurrence, occurrencesIn } from './occurrences.ts';
import { compare, type TaskFile, type TreeProblem } from './task-file.ts';
import { lastSigns, type WorkdirFinding } from './workdir-findings.ts';

const TEXT_CHARS_MAX = 300;

/** To the second, as in the logs. */
function stampOf(at_ms: number): string {
  return `${isoTime(at_ms).slice(0, 19).replace('T', ' ')} UTC`;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return markdownText(shorten(line, TEXT_CHARS_MAX));
}

function logLine({ at_ms, text }: Occurrence): string {
  return `**${stampOf(at_ms)}** - ${oneLine(text)}`;
}

function eventLine({ at_ms, type, task, agent, follow_up, text }: Occurrence): string {
  return JSON.stringify({ at: isoTime(at_ms), type, task, agent, follow_up, text });
}

/** These happen once at a given time. A later change of the task's agent does not make a second occurrence of it. */
const ONCE =
  /^(?:\*\*[^*]+\*\* - (?:Assigned|Started|Completed) \S+|\{"at":"[^"]+","type":"(?:assigned|started|completed)","task":"[^"]+")/;

function sameness(line: string): string {
  return ONCE.exec(line)?.[0] ?? line;
}

function known(text: string | undefined): Set<string> {
  return new Set((text ?? '').split(/\r?\n/).map(sameness));
}

/**
 * The occurrences that the JSON log does not contain yet. What is older than its first line was cut off on
 * purpose, and is not reported again. What is still wrong is reported anyway, however old it is.
 */
export function freshIn(occurrences: readonly Occurrence[], events: string | undefined): Occurrence[] {
  const lines = known(events);
  const [first = ''] = /"at":"([^"]+)"/.exec(events ?? '')?.slice(1) ?? [];
  return occurrences.filter(
    (each) => (isFound(each) || isoTime(each.at_ms) >= first) && !lines.has(sameness(eventLine(each))),
  );
}

export function withEvents(text: string | undefined, fresh: readonly Occurrence[]): string | undefined {
  if (fresh.length === 0) return text;
  return `${ended(text ?? '')}${fresh.map((each) => `${eventLine(each)}\n`).join('')}`;
}

export function withLog(text: string | undefined, occurrences: readonly Occurrence[]): string | undefined {
  const lines = known(text);
  const [first = ''] = /^\*\*([^*]+ UTC)\*\*/m.exec(text ?? '')?.slice(1) ?? [];
  const missing = occurrences.filter(
    (each) => (isFound(each) || stampOf(each.at_ms) >= first) && !lines.has(sameness(logLine(each))),
  );
  if (missing.length === 0) return text;
  const head = text === undefined || text.trim() === '' ? '# Workflow Log\n' : ended(text);
  return `${head}${missing.map((each) => `\n${logLine(each)}\n`).join('')}`;
}

export function withHandOvers(text: string | undefined, files: readonly TaskFile[]): string | undefined {
  const named = new Set((text ?? '').split(/[^\w.:+@-]+/));
  const missing = handOversIn(files).filter(({ to }) => !named.has(to.task.id));
  if (missing.length === 0) return text;
  const head = text === undefined || text.trim() === '' ? '# Hand-offs\n' : ended(text);
  return `${head}${missing.map(handOverText).join('')}`;
}

function handOverText({ at_ms, from, to }: HandOver): string {
  const lines = [
    `## ${stampOf(at_ms)} - ${from.task.agent} → ${to.task.agent}`,
    '',
    `- Done: ${from.task.id}`,
    `- Follow-up: ${to.task.id}`,
    `- Title: ${oneLine(to.task.title ?? '')}`,
    `- Artefacts: ${to.task.artefacts.map(oneLine).join(', ') || 'none'}`,
  ];
  const summary = from.task.result?.summary;
  if (summary !== undefined) lines.push(`- Summary: ${oneLine(summary)}`);
  return `\n${lines.join('\n')}\n`;
}

/** Makes sure that appended text starts on a new line. */
function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

export interface StatusFacts {
  readonly files: readonly TaskFile[];
  readonly agents: readonly string[];
  readonly findings: readonly WorkdirFinding[];
  readonly problems: readonly TreeProblem[];
}

/** The same files give the same text: it depends on no clock and no random order. */
export function agentStatus({ files, agents, findings, problems }: StatusFacts): string {
  const newest_ms = occurrencesIn(files, findings).at(-1)?.at_ms ?? 0;
  const updated = newest_ms === 0 ? 'never' : stampOf(newest_ms);
  const lines = ['# Agent Status', '', `_Last change: ${updated}. Written by \`cox coordinate\`._`, ''];
  const count = (shelf: TaskFile['shelf']) => files.filter((file) => file.shelf === shelf).length;
  lines.push(
    `Inbox ${count('inbox')}, assigned ${count('assigned')}, done ${count('done')}, in the fridge ${count('fridge')}.`,
  );
  const signs = lastSigns(files);
  for (const agent of [...agents].sort(compare)) lines.push(...agentLines(agent, files, signs.get(agent)));
  const attention = [
    ...findings.map(({ text, id, kind }) => (kind === 'waiting' ? `${id} ${text}` : text)),
    ...problems.map(({ file, line, field, reason }) => `${file}:${line}: ${field}: ${reason}`),
  ];
  if (attention.length > 0)
    lines.push('', '## Needs attention', '', ...attention.map((text) => `- ${oneLine(text)}`));
  return `${lines.join('\n')}\n`;
}

function agentLines(agent: string, files: readonly TaskFile[], sign_ms: number | undefined): string[] {
  const own = files
    .filter(({ shelf, folder }) => shelf === 'assigned' && folder === agent)
    .sort((a, b) => compare(a.task.id, b.task.id));
  const having = (status: string) => own.filter(({ task }) => task.status === status);
  const [working, failed] = [having('in_progress'), having('error')];
  const done = files.filter(({ shelf, task }) => shelf === 'done' && task.agent === agent);
  const word =
    working.length > 0 ? 'Working' : failed.length > 0 ? 'In error' : own.length > 0 ? 'Has work' : 'Idle';
  const lines = [
    '',
    `## ${agent}`,
    '',
    `- Status: ${word}`,
    `- Tasks: ${having('assigned').length} assigned, ${working.length} in progress, ${failed.length} in error, ${done.length} done`,
    `- Last activity: ${sign_ms === undefined ? 'none yet' : stampOf(sign_ms)}`,
  ];
  for (const { task } of [...working, ...failed])
    lines.push(
      `- ${task.status === 'error' ? 'In error' : 'In progress'}: ${task.id}${task.title === undefined ? '' : `, ${oneLine(task.title)}`}`,
    );
  return lines;
}
