/** The figures as a table, as JSON, and as RESULTS.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { type Bound, type Row, type Verdict, verdictOf } from './bench.ts';

const RESULTS = new URL('RESULTS.md', import.meta.url);
const HEADER = ['goal', 'what', 'ours', 'peer or baseline', 'ratio (spread)', 'floor', 'goal', 'reached?'];
const INTRODUCTION = `# Results

Written by \`npm run bench\`; a run replaces the sections of the goals it measured. Only ratios mean anything: both
sides took turns in the same run, a ratio is taken in each round, and the median of the rounds is given with the
lowest and the highest. Absolute figures belong to the machine named in the section.
`;

const WORDS: Record<Verdict, string> = {
  goal: 'goal reached',
  floor: 'floor reached',
  missed: 'MISSED',
  'not measured': 'NOT MEASURED',
  beside: '(beside)',
};

function figure(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toPrecision(3);
}

function limit(bound: Bound | undefined, which: 'floor' | 'goal'): string {
  if (bound === undefined) return '';
  return `${bound.lower_is_better ? '≤' : '≥'} ${bound[which]}`;
}

function cells(row: Row): string[] {
  const ratio = row.ratio;
  return [
    row.goal,
    row.what,
    row.ours === undefined ? '–' : `${figure(row.ours)} ${row.unit}`,
    row.peer === undefined ? row.peer_name : `${figure(row.peer)} ${row.unit} (${row.peer_name})`,
    ratio === undefined
      ? '–'
      : `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`,
    limit(row.bound, 'floor'),
    limit(row.bound, 'goal'),
    WORDS[verdictOf(row)],
  ];
}

export interface Facts {
  command: string;
  servers: string[];
  failed: string[];
}

export function table(rows: readonly Row[], facts: Facts): string {
  const lines = [HEADER, ...rows.map(cells)];
  const widths = HEADER.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const text = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  text.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '));
  const notes = rows.filter((row) => row.note !== '').map((row) => `${row.goal} ${row.what}: ${row.note}`);
  notes.push(...facts.failed.map((goal) => `${goal} FAILED, see above`));
  return [...text, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

function peerVersions(): string[] {
  const manifest: unknown = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  if (typeof manifest !== 'object' || manifest === null || !('dependencies' in manifest)) return [];
  return Object.entries(manifest.dependencies as Record<string, string>).map((entry) => entry.join(' '));
}

function factLines(facts: Facts): string {
  const cores = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  const machine = `${cores.length} cores (${cores[0]?.model ?? 'unknown'}), ${memory}, ${type()} ${release().split('-')[0]}`;
  const software = [`Node ${process.versions.node}`, `SQLite ${process.versions.sqlite}`, ...facts.servers];
  return [
    `- run: ${new Date().toISOString().slice(0, 10)}, \`${facts.command}\``,
    `- machine: ${machine}`,
    `- software: ${[...software, ...peerVersions()].join(', ')}`,
  ].join('\n');
}

function sectionOf(goal: string, rows: readonly Row[], facts: Facts): string {
  const line = (cell: readonly string[]): string => `| ${cell.join(' | ')} |`;
  const body = rows.map((row) => line(cells(row).slice(1)));
  const head = [line(HEADER.slice(1)), line(HEADER.slice(1).map(() => '---'))];
  const notes = rows.filter((row) => row.note !== '').map((row) => `- ${row.what}: ${row.note}`);
  const parts = [`## ${goal}`, '', factLines(facts), ...notes, '', ...head, ...body];
  return `${parts.join('\n')}\n`;
}

function keptSections(): Map<string, string> {
  const sections = new Map<string, string>();
  let text = '';
  try {
    text = readFileSync(RESULTS, 'utf8');
  } catch {
    return sections; // the first run writes the first file
  }
  for (const part of text.split(/^(?=## )/m)) {
    const name = /^## (\S+)/.exec(part)?.[1];
    if (name !== undefined) sections.set(name, `${part.trimEnd()}\n`);
  }
  return sections;
}

export function writeResults(rows: readonly Row[], facts: Facts): void {
  if (rows.length === 0) return;
  const sections = keptSections();
  for (const goal of new Set(rows.map((row) => row.goal))) {
    const ofGoal = rows.filter((row) => row.goal === goal);
    sections.set(goal, sectionOf(goal, ofGoal, facts));
  }
  const sorted = [...sections].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
  writeFileSync(RESULTS, [INTRODUCTION, ...sorted.map(([, text]) => text)].join('\n'));
}

export function json(rows: readonly Row[], facts: Facts): string {
  const withVerdicts = rows.map((row) => ({ ...row, verdict: verdictOf(row) }));
  return JSON.stringify({ ...facts, node: process.versions.node, rows: withVerdicts }, undefined, 2);
}
